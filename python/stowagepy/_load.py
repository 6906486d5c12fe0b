"""From whatever holds a model to a graph."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from stowagepy import _core
from stowagepy._core import Graph, Table
from stowagepy._errors import InvalidError, MissingFileError
from stowagepy._from_torch import from_torch, is_torch
from stowagepy._sizes import Size, bytes_of

Source = Any
"""A path, the bytes of a file, a Graph or a Table; of torch an ExportedProgram or a GraphModule."""


def read_file(path: str | os.PathLike[str]) -> bytes:
    """The content of a file, decompressed if it is gzip."""
    name = os.fspath(path)
    if name != "-" and not os.path.exists(name):
        raise MissingFileError(f"{name}: there is no such file", name)
    return _core.read_file(name)


def load(
    source: Source,
    *,
    name: str | None = None,
    dims: Mapping[str, int] | None = None,
    shapes: Mapping[str, Sequence[int]] | None = None,
    alignment: Size | None = None,
    views: bool = True,
    in_place: bool = True,
    fold: bool | None = None,
    limit: int = 1,
) -> Graph | Table:
    """Reads a graph file, an ONNX or TFLite model or a CSV table; the content decides which it is.

    `dims` gives symbolic dims their values, `shapes` shapes to inputs. `name` is what errors call `bytes`.
    """
    if isinstance(source, (Graph, Table)):
        return source
    if is_torch(source):
        return _load_torch(source, name, alignment, in_place, given=bool(dims or shapes or fold))
    if isinstance(source, (str, os.PathLike)):
        content, called = read_file(source), os.fspath(source)
    elif isinstance(source, (bytes, bytearray, memoryview)):
        content, called = bytes(source), name or "bytes"
    else:
        raise InvalidError(f"a {type(source).__name__} is neither a path, the bytes of a file nor a graph")
    return _core.import_bytes(
        content,
        name or called,
        alignment=bytes_of(alignment, "alignment"),
        views=views,
        in_place=in_place,
        fold=fold,
        dims=dict(dims or {}),
        shapes={key: list(shape) for key, shape in (shapes or {}).items()},
        limit=limit,
    )


def _load_torch(source: Source, name: str | None, alignment: Size | None, in_place: bool, *, given: bool) -> Graph:
    if given:
        raise InvalidError("dims, shapes and fold are for files: a traced program has its sizes")
    usual = bytes_of(alignment, "alignment")
    return from_torch(source, name=name, alignment=512 if usual is None else usual, in_place=in_place)


def label_of(source: Source, name: str | None) -> str:
    """What people call the source."""
    if name:
        return name
    if isinstance(source, (str, os.PathLike)):
        return os.path.basename(os.fspath(source))
    return getattr(source, "name", "") or type(source).__name__
