"""The stubs belong to the module, and pyright has nothing to say about the package."""

import inspect
import json
import pathlib
import shutil
import subprocess
import sys

import pytest

import tribo
from tribo import _core

PACKAGE = pathlib.Path(tribo.__file__).parent


def test_package_is_typed():
    assert (PACKAGE / "py.typed").exists()
    stub = (PACKAGE / "_core.pyi").read_text(encoding="utf-8")
    for name in dir(_core):
        if not name.startswith("_"):
            assert f"class {name}" in stub or f"def {name}(" in stub, name


def test_everything_public_has_a_docstring():
    for name in tribo.__all__:
        thing = getattr(tribo, name)
        if name != "__version__":
            assert thing.__doc__, name


def test_every_member_has_a_docstring():
    """Of properties and methods of the public classes; nanobind puts the signature first."""
    bare = []
    for name in tribo.__all__:
        thing = getattr(tribo, name)
        if not inspect.isclass(thing) or issubclass(thing, BaseException):
            continue
        for member, value in vars(thing).items():
            if member.startswith("_") or not (isinstance(value, property) or callable(value)):
                continue
            text = inspect.getdoc(value) or ""
            if type(value).__name__.startswith("nb_"):
                text = text.partition("\n")[2].strip()
            if not text or text.startswith("(self"):
                bare.append(f"{name}.{member}")
    assert not bare


def test_pyright_is_silent():
    if not shutil.which("node") and not shutil.which("pyright"):
        pytest.skip("pyright needs node: not checked here")
    pytest.importorskip("pyright", reason="pip install pyright: not checked here")
    done = subprocess.run([sys.executable, "-m", "pyright", "--outputjson", "--pythonpath", sys.executable, str(PACKAGE)],
                          capture_output=True, text=True)  # fmt: skip
    try:
        found = json.loads(done.stdout)
    except ValueError:
        pytest.skip(f"pyright cannot run here: {(done.stderr or done.stdout).strip().splitlines()[-1:]}")
    problems = [d for d in found["generalDiagnostics"] if d["severity"] == "error"]
    assert not problems, "\n".join(f"{d['file']}:{d['range']['start']['line'] + 1}: {d['message']}" for d in problems)
    assert found["summary"]["filesAnalyzed"] > 3
