"""Recordings and the live view."""

import json
import threading
import time
import urllib.request

import numpy as np
import pytest

import tribo


def test_recording_shows_and_saves_itself(tmp_path, crate):
    sim = tribo.Simulator(crate)
    with sim.record(fps=50) as recording:
        sim.step(500)
    assert recording.frames == 51  # one second and the start
    sim.step(100)
    assert recording.frames == 51
    shown = recording._repr_html_()
    assert shown.startswith("<iframe") and len(shown) > 100_000
    recording.save(tmp_path / "run.html")
    assert "<html" in (tmp_path / "run.html").read_text(encoding="utf-8")[:2000].lower()
    with pytest.raises(ValueError, match="path"):
        recording.save(tmp_path / "run.h5")


def test_recording_changes_no_bits(tmp_path, crate):
    plain, recorded = tribo.Simulator(crate), tribo.Simulator(crate)
    for sim in (plain, recorded):
        sim.set_state(v=[1.0, 0.5, 0, 0, 0, 3.0])
    plain.step(300)
    with tribo.record(recorded, file=tmp_path / "run.csv") as recording:
        recorded.step(300)
    assert plain.state_hash == recorded.state_hash
    lines = (tmp_path / "run.csv").read_text().splitlines()
    assert recording.frames == 301 and len(lines) == 302
    assert np.isclose(float(lines[-1].split(",")[0]), recorded.time)


def test_a_recording_that_is_dropped_is_over(crate):
    sim = tribo.Simulator(crate)
    sim.record()
    sim.step(10)


def test_live_view_serves_steps_and_stops(crate):
    sim = tribo.Simulator(crate)
    with tribo.view(sim, speed=0.0) as view:
        assert urllib.request.urlopen(view.url, timeout=10).read(200)
        for _ in range(50):
            assert view.wait()
            view.step()
        assert sim.step_count == 50 and view.viewers == 0
        threading.Timer(0.2, view.stop).start()
        view.run()
        assert not view.wait()
    with pytest.raises(RuntimeError, match="closed"):
        view.url
    view.close()
    assert repr(view) == "tribo.LiveView(closed)"


def test_a_view_may_be_closed_while_another_thread_waits(crate):
    for paused in (True, False):
        view = tribo.view(tribo.Simulator(crate), paused=paused, speed=0.0)
        thread = threading.Thread(target=view.run)
        thread.start()
        time.sleep(0.2)
        view.close()
        thread.join(timeout=20)
        assert not thread.is_alive()


def command(view, **what):
    request = view.url.replace("/?", "/command?")
    return json.load(urllib.request.urlopen(request, json.dumps(what).encode(), timeout=10))


def test_a_reset_by_a_viewer_begins_the_scene_anew():
    """The speed of the slope scene is of the whole run so far: after a reset, of the new one."""
    sim, fresh = (tribo.Simulator(tribo.scene("slope", angle=25, mu=0.3)) for _ in range(2))
    with tribo.view(sim, speed=0.0) as view:
        for _ in range(400):
            assert view.wait()
            view.step()
        answers = []
        asking = threading.Thread(target=lambda: answers.append([command(view, do=what)["ok"] for what in ("pause", "reset", "play")]))
        asking.start()
        while sim.step_count >= 400:  # until the reset is there
            assert view.wait()
            if sim.step_count > 0:
                view.step()
        while sim.step_count < 200:
            assert view.wait()
            view.step()
        asking.join()
    assert answers == [[True, True, True]]
    fresh.step(200)
    assert sim.state_hash == fresh.state_hash and sim.observables() == fresh.observables()
