"""Sizes as people write them."""

from __future__ import annotations

from stowagepy import _core
from stowagepy._errors import InvalidError

Size = int | str


def bytes_of(size: Size | None, name: str = "size") -> int | None:
    """The bytes of 4096, "64KiB" or "1.5 MiB"; None stays None."""
    if size is None:
        return None
    value = _core.parse_bytes(size) if isinstance(size, str) else int(size)
    if value is None or value < 0:
        raise InvalidError(f"{name}: {size!r} is not a size, such as 4096, '64KiB' or '1.5 MiB'")
    return value
