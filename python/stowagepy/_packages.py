"""Packages that only some functions need."""

from __future__ import annotations

import importlib
from typing import Any

from stowagepy._errors import MissingPackageError


def needed(module: str) -> Any:
    """pyarrow, or a part of it."""
    try:
        return importlib.import_module(module)
    except ImportError:
        raise MissingPackageError("tables of plan_many and Parquet need pyarrow: pip install stowagepy[fleet]") from None
