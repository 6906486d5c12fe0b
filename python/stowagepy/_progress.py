"""What people see while a search takes long."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from stowagepy import _core

Progress = Callable[[str, int, int], object]
"""Called with the arena, its best size so far and its lower bound."""

_QUIET_SECONDS = 0.5


class _Bar:
    """A line of tqdm, from the moment on that the work takes long."""

    def __init__(self, tqdm: Any, title: str) -> None:
        self._tqdm = tqdm
        self._title = title
        self._start = time.monotonic()
        self._bar: Any = None

    def __call__(self, arena: str, peak: int, bound: int) -> None:
        if time.monotonic() - self._start < _QUIET_SECONDS:
            return
        if self._bar is None:
            self._bar = self._tqdm(desc=self._title, bar_format="{desc}: {postfix} [{elapsed}]")
        self._bar.set_postfix_str(f"{arena}: best {_core.to_human(peak)}, bound {_core.to_human(bound)}")

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()


@contextmanager
def shown(progress: Progress | bool | None, title: str) -> Iterator[Progress | None]:
    """The function to call: what was given; for None tqdm where it is installed and a person watches."""
    if callable(progress):
        yield progress
        return
    if progress is False or (progress is None and not sys.stderr.isatty()):
        yield None
        return
    try:
        from tqdm.auto import tqdm
    except ImportError:
        yield None
        return
    bar = _Bar(tqdm, title)
    try:
        yield bar
    finally:
        bar.close()


@contextmanager
def counted(progress: bool | None, title: str, total: int) -> Iterator[Callable[[int], object]]:
    """A function to call with how many more of `total` are done: a bar of tqdm, by the same rules."""
    wanted = progress or (progress is None and sys.stderr.isatty())
    try:
        from tqdm.auto import tqdm
    except ImportError:
        wanted = False
    if not wanted:
        yield lambda count: None
        return
    bar: Any = tqdm(desc=title, total=total, delay=_QUIET_SECONDS)
    try:
        yield bar.update
    finally:
        bar.close()
