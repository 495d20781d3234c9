"""Shards: the results of single tasks on disk, and what of them is hashed.

A shard is `NAME.json`, with its arrays in `NAME.npz` beside it. Both are written to a temporary file, flushed to the disk and
renamed, the arrays first: a shard is there as a whole or not at all, whenever the program is killed.
"""

from __future__ import annotations

import dataclasses
import enum
import hashlib
import json
import math
import os
import pathlib
import tempfile
import zipfile
from typing import Any

import numpy as np

ARRAY = "$array"  # key of an object in JSON that stands for an array in the npz file
ATTRIBUTE_DEPTH = 3  # levels of attributes read from an object that is no plain data


def plain(value: Any, depth: int = 0) -> Any:
    """`value` as dicts, lists, strings, numbers and numpy arrays.

    Dataclasses, named tuples and objects with public attributes (a certificate, a report) become dicts of what they
    say. TypeError for anything else: what cannot be written must not be lost silently.
    """
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, np.generic):
        return plain(value.item(), depth)
    if isinstance(value, np.ndarray):
        if value.dtype.hasobject:
            raise TypeError("arrays of Python objects cannot be kept in a shard")
        return np.ascontiguousarray(value).reshape(value.shape)
    if isinstance(value, dict):
        return {_key(k): plain(v, depth) for k, v in value.items()}
    if hasattr(value, "_asdict"):
        return plain(value._asdict(), depth)
    if isinstance(value, (list, tuple)):
        return [plain(v, depth) for v in value]
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: plain(getattr(value, f.name), depth) for f in dataclasses.fields(value)}
    if isinstance(value, enum.Enum):
        return value.name
    return _attributes(value, depth)


def _key(key: Any) -> str:
    if not isinstance(key, str):
        raise TypeError(f"the keys of a result must be strings, not {type(key).__name__} ({key!r})")
    if key == ARRAY:
        raise TypeError(f"the key {ARRAY!r} of a result is taken by the format of shards")
    return key


def _attributes(value: Any, depth: int) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if depth < ATTRIBUTE_DEPTH and not callable(value):
        for name in dir(value):
            if name.startswith("_"):
                continue
            attribute = getattr(value, name)
            if not callable(attribute):
                try:
                    found[name] = plain(attribute, depth + 1)
                except TypeError:
                    continue  # of an object, only what is data
    if not found:
        raise TypeError(
            f"a result of type {type(value).__name__} cannot be kept in a shard; return numbers, strings, numpy arrays, "
            "lists and dicts of them, certificates or reports"
        )
    return found


def digest(value: Any) -> str:
    """SHA-256 of plain data, the same on every machine: numbers by their bits, arrays by type, shape and bytes."""
    sha = hashlib.sha256()
    _feed(sha, value)
    return sha.hexdigest()


def _feed(sha: Any, value: Any) -> None:
    def put(tag: str, text: bytes = b"") -> None:
        sha.update(f"{tag}{len(text)}:".encode() + text)

    if isinstance(value, np.ndarray):
        little = value.astype(value.dtype.newbyteorder("<"), order="C", copy=False)
        put("a", f"{little.dtype.str}{little.shape}".encode())
        put("b", little.tobytes())
    elif isinstance(value, bool) or value is None:
        put("k", str(value).encode())
    elif isinstance(value, int):
        put("i", str(value).encode())
    elif isinstance(value, float):
        put("f", b"nan" if math.isnan(value) else value.hex().encode())
    elif isinstance(value, str):
        put("s", value.encode())
    elif isinstance(value, dict):
        put("d", str(len(value)).encode())
        for key in sorted(value):
            _feed(sha, key)
            _feed(sha, value[key])
    elif isinstance(value, (list, tuple)):
        put("l", str(len(value)).encode())
        for item in value:
            _feed(sha, item)
    else:
        raise TypeError(f"{type(value).__name__} is no plain data")


def _split(value: Any, arrays: list[np.ndarray]) -> Any:
    if isinstance(value, np.ndarray):
        arrays.append(value)
        return {ARRAY: len(arrays) - 1}
    if isinstance(value, dict):
        return {k: _split(v, arrays) for k, v in value.items()}
    if isinstance(value, list):
        return [_split(v, arrays) for v in value]
    return value


def _join(value: Any, arrays: Any) -> Any:
    if isinstance(value, dict):
        if set(value) == {ARRAY}:
            return arrays[f"a{value[ARRAY]}"]
        return {k: _join(v, arrays) for k, v in value.items()}
    if isinstance(value, list):
        return [_join(v, arrays) for v in value]
    return value


def write_atomically(path: pathlib.Path, write: Any) -> None:
    """`write(file)` into a temporary file beside `path`, which then takes its place."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".tmp-", suffix=path.suffix)
    try:
        with os.fdopen(handle, "wb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(name, path)
    except BaseException:
        pathlib.Path(name).unlink(missing_ok=True)
        raise


def write_json(path: pathlib.Path, value: Any) -> None:
    text = json.dumps(value, indent=1) + "\n"
    write_atomically(path, lambda file: file.write(text.encode()))


def write_shard(folder: pathlib.Path, name: str, record: dict[str, Any]) -> None:
    """`record`: plain data."""
    arrays: list[np.ndarray] = []
    body = _split(record, arrays)
    if arrays:
        named = {f"a{k}": array for k, array in enumerate(arrays)}
        write_atomically(folder / f"{name}.npz", lambda file: np.savez(file, allow_pickle=False, **named))
    write_json(folder / f"{name}.json", body)


def read_shard(folder: pathlib.Path, name: str) -> dict[str, Any] | None:
    """The record, or None where there is no such shard. ValueError with the file's name where it is damaged."""
    path = folder / f"{name}.json"
    try:
        text = path.read_bytes()
    except FileNotFoundError:
        return None
    try:
        body = json.loads(text)
        if not isinstance(body, dict):
            raise ValueError("it holds no object")
        arrays_path = folder / f"{name}.npz"
        if not arrays_path.exists():
            return _join(body, {})
        with np.load(arrays_path, allow_pickle=False) as arrays:
            return _join(body, arrays)
    except (ValueError, KeyError, OSError, zipfile.BadZipFile) as error:
        raise ValueError(f"{path} is damaged ({error}); delete it to have its task run again") from error


def remove_leftovers(folder: pathlib.Path) -> None:
    """Temporary files of a program that was killed."""
    for path in folder.glob(".tmp-*"):
        path.unlink(missing_ok=True)
