"""The notebooks run, in a short form, every cell of them; what they display can be displayed; and they are kept without outputs."""

import json
import os
import pathlib
import subprocess
import sys

import pytest
import tribo

NOTEBOOKS = sorted((pathlib.Path(__file__).parents[1] / "notebooks").glob("*.ipynb"))
NEEDS = {"3-a-robot": ["Simulator"], "1-first-contact": ["Simulator"], "4-a-batch": ["Batch", "Simulator"]}
PACKAGES = {"5-bringing-your-mujoco-program": ["mujoco"]}

# Runs the cells one after the other; the value of a last expression is shown as a notebook would show it.
RUNNER = """
import ast, json, sys
names = {"__name__": "__main__"}
for number, cell in enumerate(json.load(open(sys.argv[1]))["cells"]):
    if cell["cell_type"] != "code":
        continue
    tree = ast.parse("".join(cell["source"]), f"cell {number}")
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, f"cell {number}", "exec"), names)
    if last is not None:
        value = eval(compile(ast.Expression(last.value), f"cell {number}", "eval"), names)
        shown = value._repr_html_() if hasattr(value, "_repr_html_") else repr(value)
        assert isinstance(shown, str)
print("ran to the end")
"""


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_runs(path, tmp_path):
    pytest.importorskip("matplotlib")
    for package in PACKAGES.get(path.stem, []):
        pytest.importorskip(package)
    for name in NEEDS.get(path.stem, []):
        if not hasattr(tribo, name):
            pytest.skip(f"no tribo.{name} in this build")
    package = pathlib.Path(tribo.__file__).parents[1]
    environment = dict(os.environ, TRIBO_SHORT="1", MPLBACKEND="Agg", PYTHONPATH=str(package))
    command = [sys.executable, "-W", "ignore::UserWarning", "-c", RUNNER, str(path)]
    done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.endswith("ran to the end\n")


def test_there_are_five():
    assert len(NOTEBOOKS) == 5


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_kept_without_outputs(path):
    for cell in json.loads(path.read_text())["cells"]:
        if cell["cell_type"] == "code":
            assert cell["outputs"] == [] and cell["execution_count"] is None
