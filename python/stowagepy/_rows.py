"""Rows of a fleet's table: what a worker computes."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from stowagepy._core import Graph, Table
from stowagepy._errors import Error, InvalidError
from stowagepy._grid import Settings
from stowagepy._load import load
from stowagepy._plan import pack_table, plan_graph
from stowagepy._progress import Progress

COLUMNS = ("input", "hash", "dims", "options", "peak", "bound", "proven", "weights", "total", "status", "ms", "error")
_BREAK = re.compile(r"\n *")
FIGURES = ("peak", "bound", "proven", "weights", "total", "status", "ms", "error")

Row = dict[str, Any]
"""A value for each of COLUMNS, None where there is none."""


@dataclass(frozen=True)
class Task:
    """A row to compute. Plain data: it works on a machine that does not have the file."""

    row: int
    name: str  # of the input, in errors
    content: bytes
    settings: Settings


Result = tuple[int, Row]
"""The number of a row, and its FIGURES."""


def nothing() -> Row:
    return dict.fromkeys(FIGURES)


def failure(text: str) -> Row:
    """On one line."""
    return nothing() | {"error": _BREAK.sub(" ", text)}


class _Watch:
    """A progress that shows nothing, and ends a search when it is told to: other threads than the main one get no signals."""

    def __init__(self, stopped: Callable[[], bool]) -> None:
        self.stopped = stopped

    def __call__(self, arena: str, peak: int, bound: int) -> None:
        pass


def plan_chunk(tasks: Sequence[Task], stopped: Callable[[], bool] | None = None) -> list[Result]:
    """Plans some rows, one after another. What is wrong with an input is in its rows. Ctrl-C ends it with
    KeyboardInterrupt, because an interrupted plan is not the one that others would get."""
    results: list[Result] = []
    watch: Progress | bool = False if stopped is None else _Watch(stopped)
    last: tuple[Task, Graph | Table] | None = None
    for task in tasks:
        if stopped is not None and stopped():
            break
        try:
            # Rows that differ in how they plan share what they read.
            if last is None or last[0].content is not task.content or last[0].settings.loading != task.settings.loading:
                last = (task, load(task.content, name=task.name, **task.settings.loading))
            results.append((task.row, _figures(last[1], task, watch)))
        except Error as error:
            results.append((task.row, failure(str(error))))
        except MemoryError:
            results.append((task.row, failure(f"{task.name}: there is not enough memory for this")))
    return results


def _figures(content: Graph | Table, task: Task, watch: Progress | bool) -> Row:
    options = task.settings.options
    start = time.perf_counter()
    if isinstance(content, Table):
        plan, weights = _packed(content, task, watch), 0
        total = plan.peak
    else:
        plan = plan_graph(content, options, label=task.name, progress=watch)
        weights, total = plan.weights, plan.total
    ms = 1000 * (time.perf_counter() - start)
    if plan.interrupted:
        raise KeyboardInterrupt
    row = nothing() | {"bound": plan.bound, "status": plan.status, "ms": round(ms, 3)}
    if plan.fits:
        row |= {"peak": plan.peak, "proven": plan.proven, "weights": weights, "total": total}
    return row


def _packed(table: Table, task: Task, watch: Progress | bool) -> Any:
    """Options about tensors, such as in_place, have no effect on a table; those that promise something are refused."""
    options = task.settings.options
    for name in ("capacity_total", "region_limit", "no_reuse", "memory_priority"):
        if getattr(options, name):
            raise InvalidError(f"{task.name}: {name} is for graphs, not for tables", task.name)
    return pack_table(
        table,
        capacity=options.capacity,
        time_limit=options.time_limit,
        solver=options.solver,
        seed=options.seed,
        threads=options.threads,
        node_budget=options.node_budget,
        progress=watch,
    )
