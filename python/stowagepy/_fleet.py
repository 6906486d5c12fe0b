"""Many plans at once, as a table."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from stowagepy import _core
from stowagepy._core import Graph
from stowagepy._errors import Error
from stowagepy._executors import compute
from stowagepy._grid import Grid, Settings, entries_of, settings_of
from stowagepy._memo import Memo
from stowagepy._packages import needed
from stowagepy._progress import counted
from stowagepy._rows import COLUMNS, Result, Row, Task, failure, nothing
from stowagepy._version import __version__

if TYPE_CHECKING:
    import pyarrow

Input = str | os.PathLike[str] | Graph
"""A path, or a graph."""

_SIZES = ("peak", "bound", "weights", "total")


def plan_many(
    inputs: Iterable[Input],
    options_grid: Grid = None,
    executor: Any = None,
    *,
    memo: str | os.PathLike[str] | None = None,
    jobs: int | None = None,
    progress: bool | None = None,
) -> pyarrow.Table:
    """Plans every input with every entry of a grid of options; a row for each, inputs first.

        plan_many(["a.onnx", "b.onnx"], {"dims": {"batch": [1, 2, 4]}, "capacity": ["6MiB"]}, memo="fleet.memo")

    `options_grid` is a dict of lists (their product) or a list of dicts, of the options of `Options` and `load`. Unlike
    `plan`, there is no time limit unless one is given, so that the table is the same on every machine, with every executor.
    What is wrong with an input is in its rows, column `error`. `executor` is anything with `submit` (concurrent.futures, Dask's
    `client.get_executor()`) or `map` (Ray's `ray.util.multiprocessing.Pool`); without one `jobs` threads here, by default one
    for each processor. `memo` is a file that remembers the figures. Ctrl-C raises KeyboardInterrupt; the memo has what was done.
    """
    needed("pyarrow")  # before the work, not after it
    return table_of(plan_rows(inputs, options_grid, executor, memo=memo, jobs=jobs, progress=progress))


def table_of(rows: Sequence[Row]) -> pyarrow.Table:
    """The rows, with the types of their columns."""
    arrow = needed("pyarrow")
    return arrow.Table.from_pylist(list(rows), schema=_schema(arrow))


def plan_rows(
    inputs: Iterable[Input],
    options_grid: Grid = None,
    executor: Any = None,
    *,
    memo: str | os.PathLike[str] | None = None,
    jobs: int | None = None,
    progress: bool | None = None,
) -> list[Row]:
    """The rows of `plan_many`, without pyarrow."""
    sources = list(inputs)
    settings = [settings_of(entry) for entry in entries_of(options_grid)]
    rows = [_empty_row(source, each) for source in sources for each in settings]
    with Memo(memo, __version__) as known, counted(progress, "planning", len(rows)) as tick:

        def accept(results: list[Result]) -> None:
            for number, figures in results:
                rows[number] |= figures
                known.keep(rows[number]["hash"], settings[number % len(settings)], figures)
            tick(len(results))

        def tasks() -> Iterator[Task]:
            for at, source in enumerate(sources):
                yield from _tasks_of(source, settings, at * len(settings), rows, known, tick)

        compute(tasks(), len(rows), executor, jobs, accept)
    return rows


def _tasks_of(source: Input, settings: list[Settings], first: int, rows: list[Row], known: Memo, tick: Any) -> Iterator[Task]:
    """What must be planned; rows that are known, or cannot be, are completed."""
    name = _name_of(source)
    try:
        content = _content_of(source)
    except (Error, UnicodeError) as error:
        for number in range(first, first + len(settings)):
            rows[number] |= failure(str(error) if isinstance(error, Error) else f"{name}: its name is not UTF-8")
        tick(len(settings))
        return
    content_hash = _core.content_hash(content)
    for number, each in enumerate(settings, first):
        rows[number]["hash"] = content_hash
        figures = known.find(content_hash, each)
        if figures is None:
            yield Task(number, name, content, each)
        else:
            rows[number] |= figures
            tick(1)


def _content_of(source: Input) -> bytes:
    if isinstance(source, Graph):
        return source.to_json().encode()
    path = os.fspath(source)
    path.encode()  # UnicodeError: the library takes UTF-8 only
    return _core.read_file(path)


def _name_of(source: Input) -> str:
    if isinstance(source, Graph):
        return source.name or "graph"
    return os.fsencode(source).decode(errors="replace")


def _empty_row(source: Input, settings: Settings) -> Row:
    row: Row = {"input": _name_of(source), "hash": None, "dims": settings.dims, "options": settings.text} | nothing()
    return row


def _schema(arrow: Any) -> Any:
    kinds = dict.fromkeys(_SIZES, arrow.int64()) | {"proven": arrow.bool_(), "ms": arrow.float64()}
    return arrow.schema([(name, kinds.get(name, arrow.string())) for name in COLUMNS])
