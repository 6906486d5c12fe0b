"""Memory planning for ExecuTorch.

    MemoryPlanningPass(memory_planning_algo=stowagepy.executorch.algorithm)
    MemoryPlanningPass(memory_planning_algo=stowagepy.executorch.banked([Bank("sram", "256KiB", 1), Bank("dram", "8MiB", 2)]))

Written for executorch 1.5; nothing of it is imported here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from stowagepy._errors import InvalidError, UnsupportedError
from stowagepy._plan import Packing, pack
from stowagepy._sizes import Size, bytes_of

__all__ = ["Algorithm", "Bank", "algorithm", "banked"]

NODES = 20_000
"""How long a search for the smallest arena lasts, in nodes: the same on every machine."""

PROBE_NODES = 500
"""The same for each question whether something fits a bank."""


@dataclass(frozen=True)
class Bank:
    """A memory of the target: the planned buffer `mem_id`, of at most `size` bytes. ExecuTorch's own Bank serves too."""

    name: str
    size: Size
    mem_id: int
    alignment: int | None = None


@dataclass(eq=False)
class _Item:
    """Specs that share one piece of memory: one of their own, and those that lie inside it (`storage_base`)."""

    spec: Any
    inside: list[tuple[Any, int]] = field(default_factory=list)
    accesses: int = 0  # by ops, of any of them

    @property
    def traffic(self) -> int:
        """The bytes that ops move to and from it."""
        return int(self.spec.allocated_memory) * self.accesses

    def life(self) -> tuple[int, int]:
        """The steps during which it is needed, half-open."""
        lives = [each.lifetime for each in (self.spec, *(spec for spec, _ in self.inside))]
        return min(life[0] for life in lives), max(life[1] for life in lives) + 1


@dataclass(frozen=True)
class _Reserved:
    """What modules inside need at the start of each buffer, during the steps [first, end)."""

    first: int
    end: int
    sizes: list[int]


class Algorithm:
    """A planner as MemoryPlanningPass calls it. With banks, what has no `mem_id` yet goes to the first that has room."""

    def __init__(self, banks: Sequence[Any] = ()) -> None:
        self.__name__ = "stowage"
        self.banks = [Bank(each.name, bytes_of(each.size, each.name) or 0, each.mem_id, each.alignment) for each in banks]
        ids = [bank.mem_id for bank in self.banks]
        if len(set(ids)) != len(ids) or min(ids, default=1) < 1:
            raise InvalidError("each bank needs a mem_id of its own, from 1: buffer 0 is that of the constants")

    def __call__(
        self,
        alignment: int,
        specs: Iterable[Any],
        graph_module: Any,
        graph_signature: Any = None,
        extra_padding: int = 0,
    ) -> list[int]:
        """Sets mem_id, mem_offset and mem_obj_id of each spec; returns the size of each buffer, that of constants (0) first."""
        specs = list(specs)
        for spec in specs:
            spec.realign(alignment)
        items = _items(specs)
        if self.banks:
            _only_cpu(specs)
            _count_accesses(graph_module, items)
        reserved = _reserved(graph_module)
        work = _Work(alignment, extra_padding, reserved, {bank.mem_id: bank for bank in self.banks})
        chosen: dict[int, list[_Item]] = {bank.mem_id: [] for bank in self.banks}
        chosen.update({i: [] for each in reserved for i, size in enumerate(each.sizes) if size})
        free = []
        for item in items:
            if item.spec.mem_id is not None or not self.banks:
                chosen.setdefault(item.spec.mem_id or 1, []).append(item)
            else:
                free.append(item)
        for bank in self.banks:
            free = work.fill(bank, chosen[bank.mem_id], free)
        if free:
            sizes = ", ".join(str(each.spec.allocated_memory) for each in free[:5])
            raise InvalidError(f"no bank has room for {len(free)} tensors, of {sizes}{'…' if len(free) > 5 else ''} bytes")
        bufsizes = [0] * max(2, max(chosen, default=1) + 1)
        for mem_id, members in chosen.items():
            bufsizes[mem_id] = work.place(mem_id, members)
        return bufsizes


def algorithm(
    alignment: int,
    specs: Iterable[Any],
    graph_module: Any,
    graph_signature: Any = None,
    extra_padding: int = 0,
) -> list[int]:
    """For `MemoryPlanningPass(memory_planning_algo=stowagepy.executorch.algorithm)`: the smallest arenas."""
    return Algorithm()(alignment, specs, graph_module, graph_signature, extra_padding)


def banked(banks: Any) -> Algorithm:
    """A planner for several memories, the best first: a list of Bank, or ExecuTorch's TargetMemoryMap.

    Everything goes to the first bank if it fits there. Otherwise that gets what makes ops move the most bytes there, as
    far as several orders of choosing find it, and the rest goes to the next. A tensor with a `mem_id` stays in that bank.
    """
    listed = list(getattr(banks, "banks", banks))
    if not listed:
        raise InvalidError("at least one bank is needed")
    return Algorithm(listed)


@dataclass
class _Work:
    alignment: int
    extra_padding: int
    reserved: list[_Reserved]
    banks: dict[int, Bank]

    def align(self, mem_id: int, items: Sequence[_Item]) -> int:
        bank = self.banks.get(mem_id)
        alignment = (bank.alignment if bank else None) or self.alignment
        if alignment % self.alignment:
            raise InvalidError(f"bank {mem_id}: alignment {alignment} is not a multiple of the graph's, {self.alignment}")
        for item in items:
            item.spec.realign(alignment)
        return alignment

    def kept(self, mem_id: int) -> list[_Reserved]:
        return [each for each in self.reserved if _at(each.sizes, mem_id)]

    def pack(self, mem_id: int, items: Sequence[_Item], nodes: int, capacity: int | None = None) -> Packing:
        """Offsets of the items, after those of what is reserved."""
        alignment = self.align(mem_id, items)
        kept = self.kept(mem_id)
        lives = [(each.first, each.end) for each in kept] + [item.life() for item in items]
        return pack(
            [life[0] for life in lives],
            [life[1] for life in lives],
            [each.sizes[mem_id] for each in kept] + [item.spec.allocated_memory for item in items],
            [1] * len(kept) + [alignment] * len(items),
            [0] * len(kept) + [-1] * len(items),
            capacity=capacity,
            time_limit=None,
            node_budget=nodes,
            progress=False,
        )

    def fits(self, bank: Bank, items: Sequence[_Item]) -> bool:
        if not items:
            return True
        room = int(bank.size) - self.extra_padding
        if room < 0 or self.lower_bound(bank.mem_id, items) > room:
            return False
        return self.pack(bank.mem_id, items, PROBE_NODES, room).fits

    def lower_bound(self, mem_id: int, items: Sequence[_Item]) -> int:
        """The most bytes needed at one step."""
        self.align(mem_id, items)
        change: dict[int, int] = {}
        for item in items:
            first, end = item.life()
            change[first] = change.get(first, 0) + item.spec.allocated_memory
            change[end] = change.get(end, 0) - item.spec.allocated_memory
        most = total = 0
        for step in sorted(change):
            total += change[step]
            most = max(most, total)
        return most

    def fill(self, bank: Bank, members: list[_Item], free: list[_Item]) -> list[_Item]:
        """Adds to the members of a bank what fits; returns the rest."""
        if not self.fits(bank, members):
            raise InvalidError(f"bank {bank.name}: what has mem_id {bank.mem_id} already does not fit its {bank.size} bytes")
        if self.fits(bank, [*members, *free]):
            members += free
            return []
        best: list[_Item] = []
        for order in _ORDERS:
            chosen = self.choose(bank, members, sorted(free, key=order))
            if sum(item.traffic for item in chosen) > sum(item.traffic for item in best):
                best = chosen
        members += best
        kept = {id(item) for item in best}
        return [item for item in free if id(item) not in kept]

    def choose(self, bank: Bank, members: list[_Item], order: list[_Item]) -> list[_Item]:
        """As many of the first as fit together, found by halving; then each of the others that still fits."""
        low, high = 0, len(order)
        while low + 1 < high:
            middle = (low + high) // 2
            if self.fits(bank, [*members, *order[:middle]]):
                low = middle
            else:
                high = middle
        chosen = order[:low]
        for item in order[low:]:
            if self.fits(bank, [*members, *chosen, item]):
                chosen.append(item)
        return chosen

    def place(self, mem_id: int, items: list[_Item]) -> int:
        """Writes the places of the items; returns the size of the buffer."""
        kept = self.kept(mem_id)
        if not items and not kept:
            return 0
        bank = self.banks.get(mem_id)
        packing = self.pack(mem_id, items, NODES)
        if bank is not None and packing.peak + self.extra_padding > int(bank.size):
            packing = self.pack(mem_id, items, PROBE_NODES, int(bank.size) - self.extra_padding)
            if not packing.fits:
                raise InvalidError(f"bank {bank.name}: what modules of control flow need does not fit its {bank.size} bytes")
        offsets = packing.offsets[len(kept) :]
        for item, offset in zip(items, offsets):
            _write(item.spec, mem_id, int(offset))
            for spec, distance in item.inside:
                _write(spec, mem_id, int(offset) + distance)
        _number_objects([item.spec for item in items] + [spec for item in items for spec, _ in item.inside])
        return int(packing.peak) + self.extra_padding


def _steps(item: _Item) -> int:
    first, end = item.life()
    return end - first


# Which to prefer in a bank that cannot hold all. None is the best always, so that all are tried.
_ORDERS: tuple[Callable[[_Item], tuple[float, ...]], ...] = (
    lambda item: (-item.accesses / _steps(item), item.spec.allocated_memory),
    lambda item: (-item.accesses / _steps(item), -item.spec.allocated_memory),
    lambda item: (-item.spec.allocated_memory, _steps(item)),
    lambda item: (-item.traffic, _steps(item)),
)


def _only_cpu(specs: list[Any]) -> None:
    others = {spec.device.name for spec in specs if spec.device.name != "CPU"}
    if others:
        raise UnsupportedError(f"banks are memories of the CPU, but there are tensors on {', '.join(sorted(others))}")


def _count_accesses(graph_module: Any, items: list[_Item]) -> None:
    """How many ops take or return each tensor."""
    of = {id(spec): item for item in items for spec in (item.spec, *(spec for spec, _ in item.inside))}
    for item in items:
        item.accesses = 1
    for node in graph_module.graph.nodes:
        for item in {each for spec in _specs_at(node) if (each := of.get(id(spec))) is not None}:
            item.accesses += 1


def _specs_at(node: Any) -> Iterator[Any]:
    """Of a node and its arguments."""
    for each in (node, *node.all_input_nodes):
        yield from _leaves(each.meta.get("spec"))


def _leaves(specs: Any) -> Iterator[Any]:
    if isinstance(specs, (list, tuple)):
        for each in specs:
            yield from _leaves(each)
    elif hasattr(specs, "lifetime"):
        yield specs


def _write(spec: Any, mem_id: int, offset: int) -> None:
    spec.mem_id = mem_id
    spec.mem_offset = offset


def _number_objects(specs: list[Any]) -> None:
    """ExecuTorch wants specs that share bytes to have one mem_obj_id: numbers the ranges that are connected."""
    number, end = -1, 0
    for spec in sorted(specs, key=lambda each: int(each.mem_offset)):
        if spec.mem_offset >= end:
            number += 1
        spec.mem_obj_id = max(number, 0)
        end = max(end, spec.mem_offset + spec.allocated_memory)


def _items(specs: list[Any]) -> list[_Item]:
    items = {id(spec): _Item(spec) for spec in specs if spec.storage_base is None}
    for spec in specs:
        if spec.storage_base is None:
            continue
        base, distance, seen = spec, 0, set()
        while base.storage_base is not None:
            if id(base) in seen:
                raise InvalidError("storage_base goes in a circle")
            seen.add(id(base))
            distance += base.storage_base_offset
            base = base.storage_base
        if id(base) not in items:
            raise UnsupportedError("a tensor lies inside one that is not planned (storage_base)")
        if distance % spec.alignment or distance + spec.allocated_memory > base.allocated_memory:
            raise InvalidError(
                f"storage_base: {spec.allocated_memory} bytes at {distance} do not fit, aligned, into {base.allocated_memory}"
            )
        items[id(base)].inside.append((spec, distance))
    return list(items.values())


def _reserved(graph_module: Any) -> list[_Reserved]:
    """What modules of control flow need.

    Their results stay in their memory: the runtime moves the value, not the bytes. So it is kept until the results are
    read; for a loop, whose results may be in the memory of an earlier value, for the whole run.
    """
    whole = list(getattr(graph_module, "input_mem_buffer_sizes", None) or [])
    if not any(whole):
        return []
    found = []
    end = len(graph_module.graph.nodes)
    for step, node in enumerate(graph_module.graph.nodes):
        if node.op != "call_function":
            continue
        sizes: list[int] = []
        for inner in _modules_of(graph_module, node):
            own = inner.meta.get("non_const_buffer_sizes") or []
            sizes = [max(pair) for pair in zip(_extended(sizes, len(own)), _extended(own, len(sizes)))]
        if not any(sizes):
            continue
        if getattr(node.target, "__name__", "") in ("cond", "map_impl"):
            last = max((spec.lifetime[1] for spec in _leaves(node.meta.get("spec"))), default=step)
            found.append(_Reserved(step, max(step, last) + 1, sizes))
        else:
            found.append(_Reserved(0, end, sizes))
    if any(size > max((_at(each.sizes, i) for each in found), default=0) for i, size in enumerate(whole)):
        raise UnsupportedError("a module inside needs memory, but no op that calls it was found")
    return found


def _modules_of(graph_module: Any, node: Any) -> list[Any]:
    inner = [getattr(graph_module, str(each.target), None) for each in node.args if getattr(each, "op", "") == "get_attr"]
    return [each for each in inner if hasattr(each, "graph") and hasattr(each, "meta")]


def _extended(sizes: list[int], length: int) -> list[int]:
    return [*sizes, *[0] * (length - len(sizes))]


def _at(sizes: list[int], index: int) -> int:
    return sizes[index] if index < len(sizes) else 0
