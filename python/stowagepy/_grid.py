"""Options of many plans: from what people write to settings that are checked and have one spelling."""

from __future__ import annotations

import itertools
import json
import operator
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from stowagepy import _core
from stowagepy._errors import InvalidError, UnknownNameError
from stowagepy._plan import Options
from stowagepy._sizes import bytes_of

Grid = Mapping[str, Any] | Iterable[Mapping[str, Any]] | None

_SIZES = ("alignment", "capacity", "capacity_total", "fuse_inputs_up_to", "region_limit")
_NUMBERS = ("limit", "node_budget", "seed", "threads")
_SWITCHES = ("fold", "in_place", "keep_inputs", "memory_priority", "no_reuse", "views")
_OPTIONS = tuple(field.name for field in fields(Options) if field.name != "keep_offsets")
_LOADING: dict[str, Any] = {"alignment": None, "dims": {}, "fold": None, "limit": 1, "shapes": {}, "views": True}
_USUAL = {name: getattr(Options(time_limit=None), name) for name in _OPTIONS} | _LOADING


@dataclass(frozen=True)
class Settings:
    """How to read and plan an input. Plain data, the same in every process."""

    loading: dict[str, Any]  # arguments of `load`
    options: Options
    dims: str  # as the columns of a table have it: canonical JSON
    text: str  # canonical JSON of all other options that are not the default


def canonical(value: object) -> str:
    """JSON with one spelling: sorted, without spaces."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True)


def entries_of(grid: Grid) -> list[dict[str, Any]]:
    """The product of a dict of lists, or the dicts of a list. `dims` may be a dict of lists in turn."""
    if grid is None:
        return [{}]
    if isinstance(grid, Mapping):
        choices = [_dims_in(value) if name == "dims" else _listed(value) for name, value in grid.items()]
        return [dict(zip(grid, chosen, strict=True)) for chosen in itertools.product(*choices)]
    return [dict(entry) for entry in grid]


def settings_of(entry: Mapping[str, Any]) -> Settings:
    """Raises UnknownNameError for a name, InvalidError for a value that no plan can have."""
    for name in entry:
        if name not in _USUAL:
            raise UnknownNameError(f"there is no option {name!r}: known are {', '.join(sorted(_USUAL))}")
    values = {name: _plain(name, value) for name, value in (_USUAL | dict(entry)).items()}
    options = Options(**{name: values[name] for name in _OPTIONS})
    options._core()  # refuses words that it does not know
    if options.solver not in _core.solvers():
        raise UnknownNameError(f"there is no solver {options.solver!r}: known are {', '.join(_core.solvers())}")
    unusual = {name: value for name, value in values.items() if name != "dims" and value != _USUAL[name]}
    loading = {name: values[name] for name in _LOADING} | {"in_place": options.in_place}
    return Settings(loading, options, canonical(values["dims"]), canonical(unusual))


def _plain(name: str, value: Any) -> Any:
    """The value as JSON has it: sizes in bytes, times in seconds, shapes as lists."""
    try:
        if name in _SIZES:
            return bytes_of(value, name)
        if name == "time_limit":
            return None if value is None else float(value)
        if name in _NUMBERS:
            return None if value is None else operator.index(value)
        if name in _SWITCHES:
            return None if value is None else bool(value)
        if name == "dims":
            return {str(dim): operator.index(size) for dim, size in value.items()}
        if name == "shapes":
            return {str(each): [operator.index(size) for size in shape] for each, shape in value.items()}
    except (AttributeError, TypeError, ValueError) as error:
        if isinstance(error, InvalidError):
            raise
        raise InvalidError(f"{name}: {value!r} makes no sense: {error}") from None
    return value


def _listed(value: Any) -> Sequence[Any]:
    """One value stands for a list of it."""
    if isinstance(value, (str, bytes, Mapping)) or not isinstance(value, Iterable):
        return [value]
    return list(value)


def _dims_in(value: Any) -> Sequence[Any]:
    return list(_dims_product(value)) if isinstance(value, Mapping) else _listed(value)


def _dims_product(dims: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for chosen in itertools.product(*(_listed(values) for values in dims.values())):
        yield dict(zip(dims, chosen, strict=True))
