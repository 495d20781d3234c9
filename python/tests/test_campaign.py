"""tribo.campaign: shards through a sweep give the table of one `tribo campaign`."""

import csv
import os
import pathlib
import shutil
import subprocess

import pytest
import tribo

HERE = pathlib.Path(__file__).resolve()
CANDIDATES = [os.environ.get("TRIBO_TOOL"), *(HERE.parents[2] / "build").glob("*/bin/tribo"), shutil.which("tribo")]
TOOL = next((str(c) for c in CANDIDATES if c and os.access(c, os.X_OK)), None)
STABLE = ["family", "file", "solver", "tolerance", "class", "iterations", "contacts"]  # columns without a clock


@pytest.fixture(scope="module")
def collection(tmp_path_factory):
    if TOOL is None:
        pytest.skip("no command line tool in build/*/bin or the search path; TRIBO_TOOL names it")
    folder = tmp_path_factory.mktemp("collection")
    for k, bodies in enumerate([1, 2, 3, 4, 5]):
        tower = ["tower", "--bodies", str(bodies), "--mass-ratio", "10", "--no-solve"]
        subprocess.run([TOOL, "make", *tower, "-o", str(folder / f"t{k}.hdf5")], check=True, capture_output=True)
    return folder


def table(folder):
    with open(folder / "results.csv", newline="") as file:
        return sorted(tuple(row[c] for c in STABLE) for row in csv.DictReader(file))


@pytest.mark.parametrize("workers", [0, 2])
def test_shards_merge_to_the_campaign(collection, tmp_path, workers):
    whole = tmp_path / "whole"
    command = [TOOL, "campaign", str(collection), "--solvers", "nsgs,admm", "--tol", "1e-4,1e-8", "--out", str(whole)]
    subprocess.run(command, check=True, capture_output=True)
    settings = dict(solvers=["nsgs", "admm"], tolerances=[1e-4, 1e-8], shards=3, workers=workers, program=TOOL)
    result = tribo.campaign(collection, tmp_path / "parts", **settings)
    assert sum(t.value["rows"] for t in result) == 5 * 2 * 2
    assert table(tmp_path / "parts") == table(whole)
    assert (tmp_path / "parts" / "index.html").exists()
    journal = tmp_path / "parts" / "parts" / "1-of-3" / "results.csv"
    stamp = journal.stat().st_mtime_ns
    assert tribo.campaign(collection, tmp_path / "parts", **settings).hash == result.hash
    assert journal.stat().st_mtime_ns == stamp


def test_bad_input_names_the_argument(tmp_path):
    with pytest.raises(ValueError, match="program"):
        tribo.campaign(tmp_path, tmp_path / "o", program=str(tmp_path / "no-tool"))
    with pytest.raises(ValueError, match="collection"):
        tribo.campaign(tmp_path / "nowhere", tmp_path / "o", program="/bin/true")
    with pytest.raises(ValueError, match="shards"):
        tribo.campaign(tmp_path, tmp_path / "o", program="/bin/true", shards=0)
    with pytest.raises(TypeError, match="solvers must be a list"):  # not of the solvers "a", "u", "t" and "o"
        tribo.campaign(tmp_path, tmp_path / "o", program="/bin/true", solvers="auto")
    with pytest.raises(TypeError, match="tolerances must be a list"):
        tribo.campaign(tmp_path, tmp_path / "o", program="/bin/true", tolerances=1e-4)
    with pytest.raises(RuntimeError, match="shard 1/2 failed"):
        tribo.campaign(tmp_path, tmp_path / "o", program="/bin/false", shards=2, workers=0)
