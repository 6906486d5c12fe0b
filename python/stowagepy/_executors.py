"""Spreads work over whatever runs functions: threads here, processes, Dask, Ray."""

from __future__ import annotations

import asyncio
import itertools
import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from stowagepy._errors import InvalidError
from stowagepy._rows import Result, Task, plan_chunk

Chunk = list[Task]
Accept = Callable[[list[Result]], None]

_AT_A_TIME = 256  # chunks that are out; the contents of others need not be in memory yet
_LARGEST = 16  # tasks of a chunk: so many that handing them over costs little beside planning them

# What a future raises when its worker died. That of asyncio is no Exception.
_LOST = (Exception, asyncio.CancelledError)


def compute(tasks: Iterable[Task], rows: int, executor: Any, jobs: int | None, accept: Accept) -> None:
    """Calls `accept`, on this thread, with the results of all tasks, of which there are at most `rows`.

    What a worker that died did not return is computed once more by the executor, task by task in case one of them
    was the cause, and what is missing then here.
    """
    chunks = _chunks(tasks, max(1, min(_LARGEST, rows // 64)))
    if executor is None:
        return _here(chunks, jobs, accept)
    lost = _there(chunks, executor, accept)
    lost = _there(([task] for chunk in lost for task in chunk), executor, accept)
    _here(lost, jobs, accept)


def _chunks(tasks: Iterable[Task], size: int) -> Iterator[Chunk]:
    rest = iter(tasks)
    while chunk := list(itertools.islice(rest, size)):
        yield chunk


def _there(chunks: Iterator[Chunk], executor: Any, accept: Accept) -> Iterator[Chunk]:
    """Returns the chunks without results."""
    if hasattr(executor, "submit"):
        return _by_submit(chunks, executor.submit, accept)
    function = getattr(executor, "imap", None) or getattr(executor, "map", None)
    if function is None:
        raise InvalidError(f"a {type(executor).__name__} is no executor: it has neither submit nor map")
    return iter(_by_map(list(chunks), function, accept))


def _by_submit(chunks: Iterator[Chunk], submit: Callable[..., Any], accept: Accept) -> Iterator[Chunk]:
    lost: list[Chunk] = []
    out: deque[tuple[Chunk, Any]] = deque()

    def collect() -> None:
        chunk, future = out[0]
        try:
            results = future.result()
        except _LOST:
            lost.append(chunk)
        else:
            accept(results)
        out.popleft()

    try:
        for chunk in chunks:
            try:
                out.append((chunk, submit(plan_chunk, chunk)))
            except Exception:  # it takes no more work: what is left is not even read for it
                chunks = itertools.chain([chunk], chunks)
                break
            if len(out) >= _AT_A_TIME:
                collect()
        while out:
            collect()
    except BaseException:
        _leave(out, accept)
        raise
    return itertools.chain(lost, chunks)


def _leave(out: Iterable[tuple[Chunk, Any]], accept: Accept) -> None:
    """Takes what is ready, and lets the rest go."""
    for _, future in out:
        try:
            if future.done():
                accept(future.result())
            else:
                future.cancel()
        except BaseException:  # the first cause is what counts
            continue


def _by_map(chunks: list[Chunk], function: Callable[..., Iterable[Any]], accept: Accept) -> list[Chunk]:
    if not chunks:
        return []
    lost: list[Chunk] = []
    try:
        results = iter(function(plan_chunk, chunks))
    except Exception:
        return chunks
    for at, chunk in enumerate(chunks):
        try:
            result = next(results)
        except StopIteration:  # it ended with the failure before
            return lost + chunks[at:]
        except Exception:
            lost.append(chunk)
            continue
        if isinstance(result, list):
            accept(result)
        else:  # Ray returns the failure of a worker
            lost.append(chunk)
    return lost


def _here(chunks: Iterator[Chunk], jobs: int | None, accept: Accept) -> None:
    """Threads of this process: planning releases the GIL."""
    first = next(chunks, None)
    if first is None:
        return
    stop = threading.Event()
    with ThreadPoolExecutor(jobs or os.cpu_count()) as threads:
        try:
            lost = _by_submit(
                itertools.chain([first], chunks),
                lambda function, chunk: threads.submit(function, chunk, stop.is_set),
                accept,
            )
        except BaseException:
            stop.set()
            threads.shutdown(wait=True, cancel_futures=True)
            raise
    for chunk in lost:  # not for want of a worker: let the cause be seen
        accept(plan_chunk(chunk))
