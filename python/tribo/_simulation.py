"""Worlds from files and scenes, recordings and the live view."""

from __future__ import annotations

import os
import pathlib
import shutil
import tempfile
import threading
import weakref
import webbrowser
from typing import Any, Mapping

from . import _core


def load(
    source: str | os.PathLike[str],
    *,
    strict: bool = False,
    allow_missing: bool = False,
    packages: Mapping[str, str | os.PathLike[str]] | None = None,
    fixed_base: bool = True,
    visuals: bool = False,
    visual_geometry: bool = False,
    folder: str | os.PathLike[str] | None = None,
) -> _core.World:
    """A robot or scene from an MJCF or URDF file, or from such a text.

    source: a path (.xml, .mjcf, .urdf), or the XML itself, a string that begins with "<".
    strict: what is not supported is an error instead of a warning; allow_missing: MJCF, what would be missing from the physics
    altogether is left out with a warning. packages: URDF, {"name": folder} of package://name/...; fixed_base: URDF, the
    root is welded to the world. visuals: read what is only drawn as well; visual_geometry: URDF, use <visual> where a link
    has no <collision>. folder: what paths of meshes in an XML string are relative to.

    InvalidInput names file, line and element. world.warnings has what the file asks for and tribo does not do.

    Example::

        world = tribo.load("humanoid.xml")
        print(world, world.warnings)
    """
    options: dict[str, Any] = {
        "strict": strict,
        "allow_missing": allow_missing,
        "packages": [(name, pathlib.Path(path)) for name, path in (packages or {}).items()],
        "fixed_base": fixed_base,
        "visuals": visuals,
        "visual_geometry": visual_geometry,
    }
    if not isinstance(source, (str, os.PathLike)):
        raise TypeError(f"source: expected a path or XML, not {type(source).__name__}")
    if not (isinstance(source, str) and source.lstrip()[:1] == "<"):
        return _core.load(os.fspath(source), **options)
    suffix = ".urdf" if "<robot" in source[:2000] or "<robot" in source else ".xml"
    handle, name = tempfile.mkstemp(suffix=suffix, prefix="string-", dir=folder)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(source)
        return _core.load(name, **options, name="unnamed")
    finally:
        os.unlink(name)


def scene(name: str, *, dt: float | None = None, **parameters: float) -> _core.World:
    """A built-in scene, with the start and the settings that it wants; tribo.scenes() lists them and their parameters.

    dt: time step, s; None: the scene's own. Simulator.observables() of its simulators tells what one would measure.

    Example::

        sim = tribo.Simulator(tribo.scene("slope", angle=15, mu=1))
    """
    values = {key.replace("_", "-") if key not in _parameters(name) else key: float(value)
              for key, value in parameters.items()}  # fmt: skip
    return _core.scene(name, values, 0.0 if dt is None else float(dt))


def _parameters(name: str) -> set[str]:
    return next((set(parameters) for known, _, parameters in _core.scenes() if known == name), set())


def _remove_folder(folder: str, process: int) -> None:
    """Unless this is a child of the process that made it."""
    if os.getpid() == process:
        shutil.rmtree(folder, ignore_errors=True)


class Recording:
    """The motion of a simulator while the recording is open: a page for the browser, or numbers.

    Made by tribo.record(sim); shows itself in a notebook. Example::

        with tribo.record(sim) as recording:
            sim.step(1000)
        recording.save("run.html")
    """

    def __init__(
        self,
        sim: _core.Simulator,
        fps: float = 60.0,
        file: str | os.PathLike[str] | None = None,
        name: str = "",
    ) -> None:
        if not isinstance(sim, _core.Simulator):
            raise TypeError(f"sim: expected a tribo.Simulator, not {type(sim).__name__}")
        if file is None:
            folder = tempfile.mkdtemp(prefix="tribo-")
            weakref.finalize(self, _remove_folder, folder, os.getpid())
            file = os.path.join(folder, "recording.html")
        self._file = pathlib.Path(file)
        self._recording = _core.RecordingFile(sim, self._file, fps, name)

    @property
    def file(self) -> pathlib.Path:
        """Where it is written; complete after finish()."""
        return self._file

    @property
    def frames(self) -> int:
        """Frames so far, the first included."""
        return self._recording.frames

    def finish(self) -> None:
        """Ends the recording; steps afterwards are not part of it."""
        self._recording.finish()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Ends the recording and writes it to a file with the same extension: .html unless another was asked for."""
        target = pathlib.Path(path)
        if target.suffix != self._file.suffix:
            raise _core.InvalidInput(f"path: this recording is a {self._file.suffix} file, not {target.suffix or 'without extension'}")
        self.finish()
        if target.resolve() != self._file.resolve():
            shutil.copyfile(self._file, target)

    def __enter__(self) -> "Recording":
        return self

    def __exit__(self, *exception: object) -> None:
        self.finish()

    def __repr__(self) -> str:
        return f"tribo.Recording({self.frames} frames, {self._file})"

    def _repr_html_(self, height: int = 480) -> str:
        import html

        if self._file.suffix != ".html":
            return f"<p>{html.escape(repr(self))}</p>"
        self.finish()
        page = html.escape(self._file.read_text(encoding="utf-8"), quote=True)
        return f'<iframe srcdoc="{page}" width="100%" height="{height}" style="border:0" allowfullscreen></iframe>'


def record(
    sim: _core.Simulator, fps: float = 60.0, file: str | os.PathLike[str] | None = None, name: str = ""
) -> Recording:
    """Records the steps of a simulator from now on, until the end of the `with` block or Recording.finish().

    fps: frames per second of simulated time, 0: every step. file: where to write; .html a page for the browser, .h5 or .csv
    the numbers of every step (docs/simulator.md); None: a temporary page. name: of the run, in place of the world's.
    """
    return Recording(sim, fps, file, name)


class LiveView:
    """A running simulation in the browser, served on this machine alone unless another address is given.

    Made by tribo.view(sim). Example::

        with tribo.view(sim, open=True) as view:
            while view.wait():          # paces, pauses, applies what the viewers ask for
                sim.control[:] = ...
                view.step()             # in place of sim.step()
    """

    def __init__(
        self,
        sim: _core.Simulator,
        port: int = 0,
        open: bool = False,
        *,
        speed: float = 1.0,
        frames_per_second: float = 60.0,
        paused: bool = False,
        address: str = "127.0.0.1",
        folder: str | os.PathLike[str] = "",
        name: str = "",
    ) -> None:
        if not isinstance(sim, _core.Simulator):
            raise TypeError(f"sim: expected a tribo.Simulator, not {type(sim).__name__}")
        self._view = _core.ViewServer(sim, port, speed, frames_per_second, paused, address, pathlib.Path(folder), name)
        if open:
            webbrowser.open(self.url)

    @property
    def url(self) -> str:
        """With a random token, without which nothing is answered."""
        return self._view.url

    @property
    def viewers(self) -> int:
        """How many browsers are connected."""
        return self._view.viewers

    def wait(self) -> bool:
        """Applies what viewers asked for; True when the next step is due, False after stop(). Ctrl-C: KeyboardInterrupt, after
        which it can be called again."""
        return self._view.wait(threading.current_thread() is threading.main_thread())

    def step(self) -> _core.StepReport:
        """Simulator.step() with the pushes and controls of viewers."""
        return self._view.step()

    def run(self) -> None:
        """Steps until stop(), close() or Ctrl-C; after Ctrl-C it can be called again."""
        try:
            while self.wait():
                self.step()
        except KeyboardInterrupt:
            pass
        except RuntimeError:
            if self._view.is_open:  # closed by another thread: that is the end
                raise

    def stop(self) -> None:
        """Ends wait(); from any thread."""
        self._view.stop()

    def close(self) -> None:
        """Ends the server; a thread that waits or steps is told to stop. A closed view may be closed again."""
        self._view.close()

    def __enter__(self) -> "LiveView":
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"tribo.LiveView({self._view.url if self._view.is_open else 'closed'})"


def view(sim: _core.Simulator, port: int = 0, open: bool = False, **settings: Any) -> LiveView:
    """A live view of a simulator; see LiveView. port 0: any that is free; open: open the page in a browser."""
    return LiveView(sim, port, open, **settings)
