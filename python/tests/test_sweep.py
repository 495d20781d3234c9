"""tribo.sweep: the same merge from whatever ran the tasks; killed and resumed; what goes wrong is recorded."""

import concurrent.futures as futures
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
import sweep_tasks
import tribo

GRID = {"mass": [1.0, 2.0, 4.0], "force": [0.5, 1.5, -2.0, 8.0]}
HERE = pathlib.Path(__file__).parent


def program_environment():
    """Of a program of its own that finds this tribo and the tests' functions."""
    package = pathlib.Path(tribo.__file__).parents[1]
    return dict(os.environ, PYTHONPATH=os.pathsep.join([str(HERE), str(package)]))


def finished(out):
    return [p for p in (out / "shards").glob("*.json") if not p.name.startswith(".tmp-")]


@pytest.fixture(scope="module")
def serial():
    return tribo.sweep(sweep_tasks.simulate, GRID, workers=0, seed=7)


def test_serial_is_the_function_itself(serial):
    assert len(serial) == 12 and not serial.failed
    for task, (mass, force) in zip(serial, [(m, f) for m in GRID["mass"] for f in GRID["force"]]):
        assert task.parameters == {"mass": mass, "force": force}
        expected = sweep_tasks.simulate(mass, force, task.seed)
        np.testing.assert_array_equal(task.value["state"], expected["state"])
        assert task.state_hash == expected["state_hash"]
        assert task.certificate == {"error": 1e-9 * force, "status": "converged"}
    assert len({task.seed for task in serial}) == 12


@pytest.mark.parametrize("workers", [1, 2])
def test_processes_give_the_same_hash(serial, workers):
    assert tribo.sweep(sweep_tasks.simulate, GRID, workers=workers, seed=7).hash == serial.hash


def test_threads_give_the_same_hash(serial):
    with futures.ThreadPoolExecutor(3) as threads:
        assert tribo.sweep(sweep_tasks.simulate, GRID, threads, seed=7).hash == serial.hash


def test_simulations_keep_hash_and_certificate(tmp_path):
    grid = {"angle": [10.0, 30.0], "mu": [0.3, 1.0]}
    here = tribo.sweep(sweep_tasks.slope, grid, workers=0, not_hashed=["seconds", "times"])
    there = tribo.sweep(sweep_tasks.slope, grid, workers=2, out=tmp_path, not_hashed=["seconds", "times"])
    assert here.hash == there.hash == tribo.merge_sweep(tmp_path, not_hashed=["seconds", "times"]).hash
    for task in there:
        sim = tribo.Simulator(tribo.scene("slope", **task.parameters))
        sim.step(50)
        assert task.state_hash == sim.state_hash
        np.testing.assert_array_equal(task.value["q"], sim.q)
        assert task.certificate["error"]["value"] <= 1e-8
        assert task.value["report"]["step"] == 50
    assert len(set(there.column("state_hash").tolist())) == 4


def test_the_hash_notices_seed_options_and_grid(serial):
    hashes = {
        serial.hash,
        tribo.sweep(sweep_tasks.simulate, GRID, workers=0, seed=8).hash,
        tribo.sweep(sweep_tasks.simulate, GRID, workers=0, seed=7, options={"steps": 51}).hash,
        tribo.sweep(sweep_tasks.simulate, GRID | {"mass": [1.0, 2.0, 4.5]}, workers=0, seed=7).hash,
    }
    assert len(hashes) == 4


def test_the_seed_of_a_point_does_not_depend_on_the_others(serial):
    alone = tribo.sweep(sweep_tasks.simulate, [{"mass": 4.0, "force": -2.0}], workers=0, seed=7)
    assert alone[0].seed == next(t.seed for t in serial if t.parameters == {"mass": 4.0, "force": -2.0})
    twice = tribo.sweep(sweep_tasks.simulate, [{"mass": 1.0, "force": 1.0}] * 2, workers=0)
    assert twice[0].seed != twice[1].seed


def test_shards_hold_what_was_computed(tmp_path, serial):
    first = tribo.sweep(sweep_tasks.simulate, GRID, out=tmp_path / "s", seed=7, workers=0)
    merged = tribo.merge_sweep(tmp_path / "s")
    assert first.hash == merged.hash == serial.hash
    np.testing.assert_array_equal(merged[5].value["state"], serial[5].value["state"])
    assert json.loads((tmp_path / "s" / "results.json").read_text())["hash"] == serial.hash


def test_only_what_is_missing_runs(tmp_path, serial):
    out, log = tmp_path / "s", tmp_path / "log"
    first = tribo.sweep(sweep_tasks.slow, {"k": [1, 2, 3, 4]}, out=out, options={"log": str(log)}, workers=0)
    shards = sorted((out / "shards").glob("*.json"))
    shards[1].unlink()
    (out / "shards" / ".tmp-halfway.json").write_text("{")
    again = tribo.sweep(sweep_tasks.slow, {"k": [1, 2, 3, 4]}, out=out, options={"log": str(log)}, workers=0)
    assert len(log.read_text().split()) == 5
    assert again.hash == first.hash
    assert not list((out / "shards").glob(".tmp-*"))
    wider = tribo.sweep(sweep_tasks.slow, {"k": [9, 1, 2, 3, 4]}, out=out, options={"log": str(log)}, workers=0)
    assert len(log.read_text().split()) == 6 and len(wider) == 5
    assert tribo.merge_sweep(out).hash == wider.hash


def test_killed_and_resumed(tmp_path):
    program = [sys.executable, str(HERE / "sweep_tasks.py")]
    out, log = tmp_path / "s", tmp_path / "log"
    driver = subprocess.Popen([*program, str(out), str(log)], env=program_environment(), stdout=subprocess.PIPE)
    deadline = time.monotonic() + 60
    while len(finished(out)) < 4:
        assert time.monotonic() < deadline and driver.poll() is None
        time.sleep(0.01)
    driver.send_signal(signal.SIGKILL)
    driver.communicate(timeout=30)  # until its workers, who share its output, are gone, too
    kept = len(finished(out))
    assert 4 <= kept < 20
    before = len(log.read_text().split())
    resumed = tribo.sweep(sweep_tasks.slow, {"k": list(range(20))}, out=out, options={"log": str(log)}, workers=2)
    assert len(log.read_text().split()) - before == 20 - kept
    shutil.rmtree(out)
    whole = tribo.sweep(sweep_tasks.slow, {"k": list(range(20))}, out=out, options={"log": str(log)}, workers=0)
    assert whole.hash == resumed.hash and len(whole) == 20


def test_ctrl_c_is_no_failure_of_a_task(tmp_path):
    out, log = tmp_path / "s", tmp_path / "log"
    program = [sys.executable, str(HERE / "sweep_tasks.py"), str(out), str(log)]
    driver = subprocess.Popen(program, env=program_environment(), start_new_session=True, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while len(finished(out)) < 4:
        assert time.monotonic() < deadline and driver.poll() is None
        time.sleep(0.01)
    os.killpg(driver.pid, signal.SIGINT)
    assert driver.wait(timeout=60) != 0
    assert 4 <= len(finished(out)) < 20
    resumed = tribo.sweep(sweep_tasks.slow, {"k": list(range(20))}, out=out, options={"log": str(log)}, workers=2)
    assert len(resumed) == 20 and not resumed.failed


def test_a_task_that_exits_is_recorded():
    result = tribo.sweep(sweep_tasks.sometimes_bad, {"k": [6, 7, 8]}, workers=0)
    assert [t.status for t in result] == ["done", "failed", "done"] and "SystemExit: 5" in result[1].error


def test_parts_merge_to_the_whole(tmp_path, serial):
    for k in (1, 2, 3):
        part = tribo.sweep(sweep_tasks.simulate, GRID, out=tmp_path / str(k), seed=7, part=(k, 3), workers=0)
        assert len(part) == 4 and part.missing == 8
    for order in ("123", "312"):
        assert tribo.merge_sweep(*(tmp_path / k for k in order)).hash == serial.hash
    assert tribo.merge_sweep(tmp_path / "1", tmp_path / "2").missing == 4
    tribo.sweep(sweep_tasks.simulate, GRID, out=tmp_path / "other", seed=8, part=(1, 3), workers=0)
    with pytest.raises(ValueError, match="seed differs"):
        tribo.merge_sweep(tmp_path / "1", tmp_path / "other")


@pytest.mark.parametrize("workers", [0, 2])
def test_a_failing_task_is_recorded(tmp_path, workers):
    result = tribo.sweep(sweep_tasks.sometimes_bad, {"k": range(6)}, out=tmp_path / "s", workers=workers)
    assert [t.status for t in result] == ["done"] * 3 + ["failed"] + ["done"] * 2
    assert result[3].error == "ValueError: k must not be 3" and "sweep_tasks.py" in result[3].traceback
    np.testing.assert_array_equal(result.column("value"), [0, 1, 4, np.nan, 16, 25])
    with pytest.raises(KeyError, match="'speed'; 1 of them failed, the first with ValueError: k must not be 3"):
        result.column("speed")
    assert tribo.merge_sweep(tmp_path / "s").hash == result.hash


def test_a_dying_process_is_recorded():
    result = tribo.sweep(sweep_tasks.sometimes_deadly, {"k": range(12)}, workers=2)
    assert [t.index for t in result.failed] == [5] and result[5].status == "crashed"
    assert [t.value["value"] for t in result if t.index != 5] == [k * k for k in range(12) if k != 5]


def test_failed_tasks_run_again_when_asked(tmp_path):
    out = tmp_path / "s"
    tribo.sweep(sweep_tasks.sometimes_bad, {"k": [3]}, out=out, workers=0)
    stamp = next((out / "shards").glob("*.json")).stat().st_mtime_ns
    tribo.sweep(sweep_tasks.sometimes_bad, {"k": [3]}, out=out, workers=0)
    assert next((out / "shards").glob("*.json")).stat().st_mtime_ns == stamp
    tribo.sweep(sweep_tasks.sometimes_bad, {"k": [3]}, out=out, workers=0, retry_failed=True)
    assert next((out / "shards").glob("*.json")).stat().st_mtime_ns > stamp


def test_an_unwritable_result_is_a_failed_task():
    result = tribo.sweep(sweep_tasks.unwritable, {"k": [1]}, workers=0)
    assert result[0].status == "failed" and "cannot be kept" in result[0].error


def test_progress_estimates_the_end():
    seen = []
    tribo.sweep(sweep_tasks.sometimes_bad, {"k": range(6)}, workers=0, progress=seen.append)
    assert [p.done for p in seen] == [1, 2, 3, 4, 5, 6] and seen[-1].failed == 1
    assert seen[-1].remaining == 0.0 and all(p.remaining >= 0.0 for p in seen)
    for p in seen:
        assert p.remaining == pytest.approx(p.elapsed / p.done * (6 - p.done))


def test_one_folder_one_sweep(tmp_path):
    tribo.sweep(sweep_tasks.sometimes_bad, {"k": [1]}, out=tmp_path, workers=0)
    with pytest.raises(ValueError, match="function.*sometimes_bad.*not.*simulate"):
        tribo.sweep(sweep_tasks.simulate, GRID, out=tmp_path, workers=0)
    with pytest.raises(ValueError, match="seed 0, not 1"):
        tribo.sweep(sweep_tasks.sometimes_bad, {"k": [1]}, out=tmp_path, workers=0, seed=1)

    def at_the_same_time(_):
        with pytest.raises(RuntimeError, match="another sweep"):
            tribo.sweep(sweep_tasks.sometimes_bad, {"k": [1]}, out=tmp_path, workers=0)

    tribo.sweep(sweep_tasks.sometimes_bad, {"k": [2]}, out=tmp_path, workers=0, progress=at_the_same_time)


def test_a_damaged_shard_is_named(tmp_path):
    tribo.sweep(sweep_tasks.simulate, GRID, out=tmp_path, workers=0)
    shard = next((tmp_path / "shards").glob("*.npz"))
    shard.write_bytes(shard.read_bytes()[:40])
    with pytest.raises(ValueError, match=shard.stem):
        tribo.sweep(sweep_tasks.simulate, GRID, out=tmp_path, workers=0)
    for content in (b"\xff\xfe", b"[]"):
        shard.with_suffix(".json").write_bytes(content)
        with pytest.raises(ValueError, match=shard.stem):
            tribo.sweep(sweep_tasks.simulate, GRID, out=tmp_path, workers=0)


@pytest.mark.parametrize(
    ("arguments", "error", "says"),
    [
        (dict(function=3, grid={}), TypeError, "function"),
        (dict(grid=3), TypeError, "grid"),
        (dict(grid={"k": 3}), TypeError, r"grid\['k'\]"),
        (dict(grid={"k": "abc"}), TypeError, r"grid\['k'\]"),
        (dict(grid=[1]), TypeError, r"grid\[0\]"),
        (dict(grid={"seed": [1]}), ValueError, "seed"),
        (dict(grid={"k": [object()]}), TypeError, r"grid\[0\]"),
        (dict(grid={"k": [1]}, options={"k": 1}), ValueError, "'k'"),
        (dict(grid={"k": [1]}, seed=0.5), TypeError, "seed"),
        (dict(grid={"k": [1]}, executor=3), TypeError, "executor"),
        (dict(grid={"k": [1]}, workers=-1), ValueError, "workers"),
        (dict(grid={"k": [1]}, part=(3, 2)), ValueError, "part"),
    ],
)
def test_bad_input_names_the_argument(arguments, error, says):
    with pytest.raises(error, match=says):
        tribo.sweep(**({"function": sweep_tasks.sometimes_bad} | arguments))


def test_functions_that_processes_cannot_find():
    with pytest.raises(ValueError, match="top level of a module"):
        tribo.sweep(lambda k: k, {"k": [1]})


# ---- clusters, where they are installed -------------------------------------------------------------------------


def test_dask_gives_the_same_hash(serial):
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster:
        with distributed.Client(cluster) as client:
            executor = client.get_executor(pure=False)
            assert tribo.sweep(sweep_tasks.simulate, GRID, executor, seed=7).hash == serial.hash
            bad = tribo.sweep(sweep_tasks.sometimes_bad, {"k": range(6)}, executor)
            assert [t.index for t in bad.failed] == [3]


def test_ray_gives_the_same_hash(serial):
    ray = pytest.importorskip("ray")
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False,
             runtime_env={"env_vars": {"PYTHONPATH": program_environment()["PYTHONPATH"]}})  # fmt: skip
    try:
        assert tribo.sweep(sweep_tasks.simulate, GRID, tribo.RayExecutor(), seed=7).hash == serial.hash
        one_cpu = tribo.RayExecutor(num_cpus=1, max_retries=0)
        bad = tribo.sweep(sweep_tasks.sometimes_deadly, {"k": range(8)}, one_cpu)
        assert [t.index for t in bad.failed] == [5] and bad[5].status == "crashed"
    finally:
        ray.shutdown()


def test_mpi_gives_the_same_hash(serial, tmp_path):
    pytest.importorskip("mpi4py.futures")
    launcher = next(filter(None, map(shutil.which, ("mpiexec", "mpirun"))), None) or str(
        pathlib.Path(sys.executable).parent / "mpiexec"
    )
    if not pathlib.Path(launcher).exists():
        pytest.skip("no mpiexec")
    program = tmp_path / "program.py"
    program.write_text(
        "import json, sys, tribo, sweep_tasks\n"
        "from mpi4py.futures import MPIPoolExecutor\n"
        "if __name__ == '__main__':\n"
        "    with MPIPoolExecutor() as executor:\n"
        "        print('hash', tribo.sweep(sweep_tasks.simulate, json.loads(sys.argv[1]), executor, seed=7).hash)\n"
    )
    environment = program_environment() | {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                                           "OMPI_MCA_rmaps_base_oversubscribe": "1", "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe"}  # fmt: skip
    command = [launcher, "-n", "3", sys.executable, "-m", "mpi4py.futures", str(program), json.dumps(GRID)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert f"hash {serial.hash}" in done.stdout
