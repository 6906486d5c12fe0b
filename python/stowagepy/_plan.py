"""Plans of graphs, and packing of arrays."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from stowagepy import _core
from stowagepy._core import Graph, Table
from stowagepy._errors import InvalidError
from stowagepy._load import Source, label_of, load, read_file
from stowagepy._progress import Progress, shown
from stowagepy._sizes import Size, bytes_of

_SIZES = ("region_limit", "fuse_inputs_up_to", "capacity", "capacity_total")


@dataclass(frozen=True)
class Options:
    """How to plan: the options of `stowage plan`, with the same defaults."""

    capacity: Size | None = None  # the largest acceptable peak, in each memory
    capacity_total: Size | None = None  # of peak and weights together
    time_limit: float | None = 1.0  # seconds; None: no limit
    solver: str = "auto"
    seed: int = 0
    threads: int = 1
    node_budget: int | None = None
    in_place: bool = True
    keep_inputs: bool = False
    no_reuse: bool = False
    zero_fill: str = "central"  # or "separate"
    base: str = "fixed"  # or "refreshable"
    batch_start: str = "free"  # or "same"
    padding: str = "own"  # or "none"
    region_limit: Size | None = None
    fuse_inputs_up_to: Size = 0
    memory_priority: bool = False
    extra_copies: bool = True  # copy members of groups that could lie there, where the plan is smaller for it
    keep_offsets: bool = False  # with `previous`: fail where something cannot stay

    def _core(self) -> _core.Options:
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        values.update({name: bytes_of(values[name], name) for name in _SIZES})
        return _core.Options(**values)


@dataclass(frozen=True)
class Finding:
    """An error in a plan, found by the verifier."""

    rule: str
    message: str


@dataclass(frozen=True)
class Arena:
    """A range of addresses of a plan."""

    name: str
    memory: str
    kind: str
    size: int
    bound: int
    proven: bool


class Explanation:
    """Why a graph needs as much memory as it does. `str()` is the text that `stowage explain` prints."""

    def __init__(self, text: str, data: str) -> None:
        self.text = text
        self.json = data

    def __str__(self) -> str:
        return self.text

    __repr__ = __str__

    @property
    def data(self) -> dict[str, Any]:
        """`stowage.explain/1`."""
        result: dict[str, Any] = json.loads(self.json)
        return result


class Plan:
    """Where every tensor of a graph lies. Immutable; can be pickled and compared."""

    def __init__(self, core: _core.Plan, options: Options, label: str = "") -> None:
        self._plan = core
        self.options = options
        self.label = label

    @property
    def graph(self) -> Graph:
        """The graph that is planned."""
        return self._plan.graph

    @property
    def peak(self) -> int:
        """The bytes of all arenas, except for weights and buffers of the caller."""
        return self._plan.peak

    @property
    def bound(self) -> int:
        """No plan of the graph, in its order of ops, has a smaller peak than this."""
        return self._plan.bound

    @property
    def proven(self) -> bool:
        """Whether the peak is proven to be the smallest possible."""
        return self._plan.proven

    @property
    def fits(self) -> bool:
        """Whether there is an answer: with a capacity, one that keeps to it."""
        return self._plan.fits

    @property
    def status(self) -> str:
        """"optimal", "feasible", "infeasible" (proven not to fit) or "timed_out"."""
        return self._plan.status

    @property
    def weights(self) -> int:
        return self._plan.weights

    @property
    def total(self) -> int:
        """Weights and peak."""
        return self._plan.total

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C ended the search, so that this is the best so far."""
        return self._plan.interrupted

    @property
    def shortage(self) -> str:
        """Why it does not fit the capacity, in words; empty if it does."""
        return self._plan.shortage

    @property
    def offsets(self) -> npt.NDArray[np.int64]:
        """By tensor: its offset in its arena; -1 for those without a place. A view, without a copy."""
        return self._plan.offsets

    @property
    def arena_of(self) -> npt.NDArray[np.int64]:
        """By tensor: the number of its arena, or -1. A view, without a copy."""
        return self._plan.arena_of

    @property
    def arenas(self) -> list[Arena]:
        return [
            Arena(each["name"], each["memory"], each["kind"], each["size"], each["lower_bound"], each["proven_optimal"])
            for each in self.summary["arenas"]
        ]

    @property
    def summary(self) -> dict[str, Any]:
        """`stowage.summary/1`, what `stowage plan --json` prints."""
        result: dict[str, Any] = json.loads(self._plan.summary_json)
        return result

    def verify(self) -> list[Finding]:
        """What is wrong with the plan, as the independent verifier sees it: nothing, unless it was read from a file."""
        findings = json.loads(self._plan.findings_json())["findings"]
        return [Finding(each["rule"], each["message"]) for each in findings]

    def explain(self, capacity: Size | None = None, time_limit: float | None = 20.0) -> Explanation:
        """Why the graph needs this much, and what would lower it. Plans again several times."""
        options = replace(self.options, capacity=None, capacity_total=None, keep_offsets=False)
        wanted = capacity if capacity is not None else self.options.capacity
        text, data = _core.explain_graph(self.graph, options._core(), bytes_of(wanted, "capacity"), time_limit)
        return Explanation(text, data)

    def html(self, explain_time: float = 5.0) -> str:
        """A page that shows the plan in a browser, in one file; with 0 without an explanation."""
        return self._plan.html(self.label or self.graph.name, explain_time)

    def _repr_html_(self) -> str:
        page = self.html(explain_time=1.0).replace("&", "&amp;").replace('"', "&quot;")
        return f'<iframe srcdoc="{page}" style="width:100%;height:720px;border:0"></iframe>'

    def to_json(self) -> str:
        """The plan file, `stowage.plan/1`."""
        return self._plan.to_json()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the plan file."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.to_json())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Plan) and self._plan.same_placement(other._plan)

    def __hash__(self) -> int:
        return hash((self.peak, self.offsets.tobytes()))

    def __repr__(self) -> str:
        if not self.fits:
            return f"<Plan of {self.graph.name!r}: {self.status}>"
        proven = "smallest possible (proven)" if self.proven else f"bound {_core.to_human(self.bound)}"
        return f"<Plan of {self.graph.name!r}: peak {_core.to_human(self.peak)}, {proven}>"

    def __getstate__(self) -> dict[str, Any]:
        if not self.fits:
            raise InvalidError("a plan without an answer cannot be pickled")
        return {"graph": self.graph, "plan": self.to_json(), "options": self.options, "label": self.label}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.options = state["options"]
        self.label = state["label"]
        self._plan = _core.read_plan(state["graph"], state["plan"], "a pickle", self.options._core())


class Packing:
    """Offsets for items, with the same attributes as a Plan."""

    def __init__(self, core: _core.Packing, table: Table | None = None) -> None:
        self._packing = core
        self._table = table

    @property
    def offsets(self) -> npt.NDArray[np.int64]:
        """By item; -1 everywhere if there is no answer. A view, without a copy."""
        return self._packing.offsets

    @property
    def peak(self) -> int:
        return self._packing.peak

    @property
    def bound(self) -> int:
        """No answer has a smaller peak than this."""
        return self._packing.bound

    @property
    def proven(self) -> bool:
        """Whether the peak is proven to be the smallest possible."""
        return self._packing.proven

    @property
    def status(self) -> str:
        return self._packing.status

    @property
    def fits(self) -> bool:
        return self.status in ("optimal", "feasible")

    @property
    def interrupted(self) -> bool:
        return self._packing.interrupted

    def to_csv(self) -> str:
        """The table that was planned, with its offset column set."""
        if self._table is None:
            raise InvalidError("arrays were packed, not a table: offsets has the answer")
        return _core.table_with_offsets(self._table, self._packing)

    def __repr__(self) -> str:
        proven = "smallest possible (proven)" if self.proven else f"bound {_core.to_human(self.bound)}"
        return f"<Packing of {len(self.offsets)} items: peak {_core.to_human(self.peak)}, {proven}>"


def plan_graph(
    graph: Graph,
    options: Options,
    *,
    label: str = "",
    previous: Plan | None = None,
    progress: Progress | bool | None = None,
) -> Plan:
    """Plans a graph that is read already."""
    with shown(progress, label or graph.name) as show:
        core = _core.plan_graph(graph, options._core(), previous._plan if previous else None, show)
    return Plan(core, options, label)


def plan(
    source: Source,
    *,
    name: str | None = None,
    dims: Mapping[str, int] | None = None,
    shapes: Mapping[str, Sequence[int]] | None = None,
    alignment: Size | None = None,
    views: bool = True,
    fold: bool | None = None,
    limit: int = 1,
    previous: Plan | None = None,
    progress: Progress | bool | None = None,
    **options: Any,
) -> Plan:
    """Plans a model's memory: `plan("model.onnx", capacity="6MiB", dims={"batch": 4})`.

    `source` is a path, the bytes of a file, a Graph, or of torch an ExportedProgram or a GraphModule. `options` are those
    of Options. Long work releases the GIL, shows progress where tqdm is installed and a person watches, and
    stops on Ctrl-C with the best plan so far (`Plan.interrupted`).
    """
    chosen = Options(**options)
    graph = load(
        source,
        name=name,
        dims=dims,
        shapes=shapes,
        alignment=alignment,
        views=views,
        in_place=chosen.in_place,
        fold=fold,
        limit=limit,
    )
    if isinstance(graph, Table):
        raise InvalidError("a table has items, no ops: pack_table plans it", label_of(source, name))
    return plan_graph(graph, chosen, label=label_of(source, name), previous=previous, progress=progress)


def load_plan(path: str | os.PathLike[str], graph: Graph, **options: Any) -> Plan:
    """Reads a plan file of `graph`, with the options that it was made with; `Plan.verify` checks it."""
    chosen = Options(**options)
    text = read_file(path).decode("utf-8", errors="replace")
    return Plan(_core.read_plan(graph, text, os.fspath(path), chosen._core()), chosen, os.path.basename(os.fspath(path)))


def _numbers(values: npt.ArrayLike) -> npt.NDArray[np.int64]:
    array = np.asarray(values)
    if array.size and not np.issubdtype(array.dtype, np.integer):
        raise InvalidError(f"expected whole numbers, not {array.dtype}")
    return np.ascontiguousarray(array, dtype=np.int64)


def pack(
    lower: npt.ArrayLike,
    upper: npt.ArrayLike,
    sizes: npt.ArrayLike,
    alignments: npt.ArrayLike | None = None,
    fixed: npt.ArrayLike | None = None,
    *,
    joins: Sequence[tuple[int, int] | tuple[int, int, int]] = (),
    apart: Sequence[tuple[int, int]] = (),
    capacity: Size | None = None,
    time_limit: float | None = 1.0,
    solver: str = "auto",
    seed: int = 0,
    threads: int = 1,
    node_budget: int | None = None,
    progress: Progress | bool | None = None,
) -> Packing:
    """Finds offsets for items: item i takes `sizes[i]` bytes in the steps [lower[i], upper[i]).

    `fixed` has the offset that an item must have, or -1. `joins` are pairs that may lie at one place (the
    second `distance` bytes after the first) or must lie apart; `apart` are pairs that never share bytes.
    """
    with shown(progress, "packing") as show:
        core = _core.pack(
            _numbers(lower),
            _numbers(upper),
            _numbers(sizes),
            None if alignments is None else _numbers(alignments),
            None if fixed is None else _numbers(fixed),
            [(join[0], join[1], join[2] if len(join) > 2 else 0) for join in joins],
            list(apart),
            bytes_of(capacity, "capacity"),
            solver,
            time_limit,
            threads,
            seed,
            node_budget,
            show,
        )
    return Packing(core)


def pack_table(
    source: Source,
    *,
    capacity: Size | None = None,
    time_limit: float | None = 1.0,
    solver: str = "auto",
    seed: int = 0,
    threads: int = 1,
    node_budget: int | None = None,
    progress: Progress | bool | None = None,
) -> Packing:
    """The same for a CSV table (MiniMalloc's format)."""
    table = load(source)
    if not isinstance(table, Table):
        raise InvalidError("a graph, not a table: plan() plans it", label_of(source, None))
    with shown(progress, label_of(source, None)) as show:
        core = _core.pack_table(
            table, bytes_of(capacity, "capacity"), solver, time_limit, threads, seed, node_budget, show
        )
    return Packing(core, table)
