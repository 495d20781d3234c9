"""Rows of bench/results/python.csv, what the Python package costs: every script that measures a part of it replaces the rows of that
part and leaves the others. Standard library only."""

import csv
import pathlib

COLUMNS = ["part", "measure", "value", "unit", "aim", "of"]
FILE = pathlib.Path(__file__).resolve().parents[1] / "results" / "python.csv"


class Rows:
    def __init__(self, part, keep):
        """keep: write them into the file; otherwise they are only printed."""
        self._part, self._keep, self._rows = part, keep, []

    def add(self, measure, value, unit="", aim="", of=""):
        text = f"{value:.4g}" if isinstance(value, float) else str(value)
        self._rows.append([self._part, measure, text, unit, aim, of])
        print(f"{measure}: {text} {unit}".rstrip(), f"(aim {aim})" if aim != "" else "", flush=True)

    def write(self):
        if not self._keep:
            return
        kept = []
        if FILE.exists():
            with FILE.open(newline="") as file:
                kept = [row for row in list(csv.reader(file))[1:] if row[0] != self._part]
        with FILE.open("w", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(COLUMNS)
            writer.writerows(sorted(kept + self._rows, key=lambda row: row[0]))
