"""From the nodes of an FX graph to tensors and ops."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from stowagepy import _torch_cost as cost
from stowagepy import _torch_values as values
from stowagepy._errors import InvalidError, UnsupportedError
from stowagepy._graph_file import GraphFile

_CONTROL_FLOW = frozenset({"cond", "while_loop", "map_impl", "map", "scan", "associative_scan"})
_REGIONS = ("wrap", "tag_activation_checkpoint", "invoke_subgraph", "checkpoint")
_MODULE_ROOT = re.compile(r"^(L\['self'\]|L__self___|self)(\.|_|$)")
_FRAME = re.compile(r'File "([^"]+)", line (\d+)')


@dataclass(frozen=True)
class Bytes:
    """A value of the FX graph: `size` bytes of the tensor `root`, from `offset` on. `like` has its shape."""

    tensor: int
    root: int
    offset: int
    size: int
    like: Any


@dataclass
class Roles:
    """What the caller of an FX graph means by its inputs and outputs, by the names of their nodes."""

    weights: dict[str, str] = field(default_factory=dict)  # input: the name of its parameter, buffer or constant
    tied: dict[str, str] = field(default_factory=dict)  # input: an earlier one that is the same memory
    written_back: dict[str, str] = field(default_factory=dict)  # output: the input that it is the new value of
    silent: frozenset[int] = frozenset()  # outputs, by position, that the caller does not get


class GraphOfNodes:
    """Translates one FX graph; modules inside it are translated where they are called.

    Each value of the graph is a range of bytes of some root tensor. An output whose bytes an input has is a
    view; an op with nothing but views as outputs has no task. What an op writes to is a view that the op
    has as an output.
    """

    def __init__(self, file: GraphFile, roles: Roles, in_place: bool) -> None:
        self.file = file
        self.roles = roles
        self.in_place = in_place
        self._values: dict[Any, Any] = {}  # by node: Bytes, or what torch has in their place, nested as there
        self._storages: dict[int, tuple[int, int]] = {}  # the root of a storage, and where that begins in it
        self._written: set[int] = set()
        self._inputs: dict[str, Bytes] = {}
        self.results: Any = None  # what the graph returns, nested as there

    def translate(self, module: Any) -> None:
        self.results = self._run(module, None, "")
        self._finish_outputs(module, self.results)
        for root in self._written:
            self._finish_written(root)

    def _run(self, module: Any, arguments: list[Any] | None, prefix: str) -> Any:
        given = iter(arguments or [])
        for node in module.graph.nodes:
            if node.op == "placeholder":
                self._values[node] = self._placeholder(node) if arguments is None else next(given, None)
            elif node.op == "get_attr":
                self._values[node] = self._attribute(module, node, prefix)
            elif node.op == "output":
                return self._at(node.args[0])
            else:
                self._values[node] = self._call(module, node, prefix)
        return None

    # Inputs.

    def _placeholder(self, node: Any) -> Any:
        def place(like: Any) -> Bytes:
            weight = self.roles.weights.get(node.name)
            tied = self._inputs.get(self.roles.tied.get(node.name, ""))
            name = weight or node.name
            value = self._view(name, tied.root, tied.offset, like) if tied else self._fresh(name, like)
            if value.root == value.tensor:
                self.file.flag(value.tensor, "input" if weight is None else "constant")
            self._inputs[node.name] = value
            return value

        return _map_tensors(_value_of(node, required=False), place)

    def _attribute(self, module: Any, node: Any, prefix: str) -> Any:
        found = module
        for part in node.target.split("."):
            found = getattr(found, part)

        def place(like: Any) -> Bytes:
            known = self._storages.get(values.storage_key(like) or 0)
            value = self._fresh(node.target, like)
            if known is None:
                self.file.flag(value.tensor, "constant")
            return value

        return _map_tensors(found, place)

    # Calls.

    def _call(self, module: Any, node: Any, prefix: str) -> Any:
        if _is_getitem(node):
            source = self._values[node.args[0]]
            return source[node.args[1]] if isinstance(source, (list, tuple)) else _value_of(node, required=False)
        inner = _modules_called(module, node)
        kind = _kind_of(node)
        if kind in _CONTROL_FLOW or (node.op == "call_module" and not inner):
            raise UnsupportedError(
                f"op '{node.name}' calls {kind}: control flow and modules that are not traced are not read; "
                "torch.export.export or make_fx give a graph without them"
            )
        if inner and (node.op == "call_module" or kind.startswith(_REGIONS)):
            return self._call_inner(node, inner[0], prefix)
        val = _value_of(node, required=True)
        inputs = list(bytes_in([self._at(node.args), self._at(node.kwargs)]))
        returned = next(_tensors_in(val), None)
        if returned is None and (not inputs or kind.startswith(("sym_", "_assert", "_check"))):
            return val
        return self._op(node, prefix + node.name, kind, inputs, val)

    def _call_inner(self, node: Any, inner: Any, prefix: str) -> Any:
        """Translates a module where it is called, as if its ops stood there."""
        wanted = sum(each.op == "placeholder" for each in inner.graph.nodes)
        arguments = list(node.args)[len(node.args) - wanted :]
        if len(arguments) != wanted:
            raise UnsupportedError(f"op '{node.name}' calls a module with {wanted} inputs in a way that is not known")
        return self._run(inner, [self._at(each) for each in arguments], f"{prefix}{node.name}.")

    def _op(self, node: Any, name: str, kind: str, inputs: list[Bytes], val: Any) -> Any:
        written = list(bytes_in([self._at(each) for each in values.written_arguments(node.target, node.args, node.kwargs)]))
        places = self._places(node, val, inputs, written)
        rewritten = [
            self._view(f"{name}.{i}" if i else name, each.root, each.offset, each.like) for i, each in enumerate(written)
        ]
        outputs: list[Bytes] = list(rewritten)
        fresh = False
        count = sum(1 for _ in _tensors_in(val))

        def place(like: Any) -> Bytes:
            nonlocal fresh
            called = name if count == 1 else f"{name}.{len(outputs)}"
            where = places.pop(0)
            if where is None:
                fresh = True
                result = self._fresh(called, like)
            else:
                result = _same_place(rewritten, where, like) or self._view(called, where[0], where[1], like)
            if result not in rewritten:
                outputs.append(result)
            return result

        result = _map_tensors(val, place)
        self._written.update(each.root for each in written)
        self._add(node, name, kind, inputs, outputs, task=fresh or bool(written) or not outputs, val=val, written=bool(written))
        return result

    def _add(
        self, node: Any, name: str, kind: str, inputs: list[Bytes], outputs: list[Bytes], *, task: bool, val: Any, written: bool
    ) -> None:
        fields: dict[str, Any] = {"scope": layer_of(node), "source": _source_of(node)}
        if not task:
            fields["no_task"] = True
        else:
            traffic = sum({each.root: each.size for each in inputs}.values()) + sum(each.size for each in outputs)
            flops = cost.flops_of(node.target, _likes(self._at(node.args)), _likes(self._at(node.kwargs)), val)
            fields.update(cost=cost.cost_of(flops, traffic), flops=flops)
            if written or values.has_tag(node.target, "nondeterministic_seeded"):
                fields["recompute"] = False
            elif self.in_place and values.has_tag(node.target, "pointwise"):
                fields["in_place"] = _pairs(inputs, outputs)
        self.file.op(name, kind, [each.tensor for each in inputs], [each.tensor for each in outputs], **fields)

    def _places(self, node: Any, val: Any, inputs: list[Bytes], written: list[Bytes]) -> list[tuple[int, int] | None]:
        """For each tensor that the op returns: the root that it is bytes of and the offset, or None if it is new."""
        places = [self._place_by_storage(each) for each in _tensors_in(val)]
        if None not in places or not inputs:
            return places
        if not written and not values.may_view(node.target):
            return places
        if any(each.device != inputs[0].like.device for each in _tensors_in(val)):
            return places  # moved to another device: a copy
        found = self._places_on_meta(node, inputs, len(places))
        return [place or other for place, other in zip(places, found)]

    def _place_by_storage(self, like: Any) -> tuple[int, int] | None:
        known = self._storages.get(values.storage_key(like) or 0)
        if known is None:
            return None
        root, begin = known
        return root, max(0, values.start_of(like) - begin)

    def _places_on_meta(self, node: Any, inputs: list[Bytes], count: int) -> list[tuple[int, int] | None]:
        """Asks torch, by the same op on tensors without data."""
        import torch

        storages = {each.root: values.meta_storage(self.file.tensors[each.root]["size"]) for each in inputs}
        roots = {int(storage._cdata): root for root, storage in storages.items()}

        def stand_in(value: Any) -> Any:
            if isinstance(value, Bytes):
                return values.on_meta(value.like, value.offset, storages[value.root])
            if isinstance(value, torch.device):
                return torch.device("meta")
            return values.whole(value) if isinstance(value, torch.SymInt) else value

        try:
            with torch.no_grad():
                args, kwargs = (_map_leaves(self._at(each), stand_in) for each in (node.args, node.kwargs))
                returned = node.target(*args, **kwargs)
        except (RuntimeError, NotImplementedError, TypeError, ValueError):
            return [None] * count  # bytes of its own: never too few
        places = [(roots.get(values.storage_key(each) or 0), values.start_of(each)) for each in _tensors_in(returned)]
        found = [None if root is None else (root, start) for root, start in places]
        return found if len(found) == count else [None] * count

    # Tensors.

    def _fresh(self, name: str, like: Any) -> Bytes:
        """A tensor with bytes of its own; a view, if a tensor of the same storage is known."""
        known = self._place_by_storage(like)
        if known is not None:
            return self._view(name, known[0], known[1], like)
        size = values.extent_of(like)
        tensor = self.file.tensor(name, size, dtype=values.dtype_of(like), shape=values.shape_of(like))
        key = values.storage_key(like)
        if key is not None:
            self._storages[key] = (tensor, values.start_of(like))
        return Bytes(tensor, tensor, 0, size, like)

    def _view(self, name: str, root: int, offset: int, like: Any) -> Bytes:
        whole = self.file.tensors[root]["size"]
        offset = min(offset, whole)
        size = min(values.extent_of(like), whole - offset)
        tensor = self.file.tensor(name, size, dtype=values.dtype_of(like), shape=values.shape_of(like), view_of=(root, offset))
        return Bytes(tensor, root, offset, size, like)

    def _at(self, argument: Any) -> Any:
        """The values of the nodes in an argument."""
        if type(argument).__name__ == "Node" and hasattr(argument, "graph"):
            return self._values.get(argument)
        return _map_children(argument, self._at)

    # Outputs.

    def _finish_outputs(self, module: Any, results: Any) -> None:
        nodes = list(_flat(next(node for node in module.graph.nodes if node.op == "output").args[0]))
        for position, (node, value) in enumerate(zip(nodes, _flat(results))):
            if not isinstance(value, Bytes):
                continue
            name = getattr(node, "name", "")
            if position in self.roles.silent:
                target = self._inputs.get(self.roles.written_back.get(name, ""))
                if target is not None:
                    self._write_back(name, value, target)
            elif "constant" not in self.file.tensors[value.tensor].get("flags", []):
                self.file.flag(value.tensor, "output")

    def _write_back(self, name: str, value: Bytes, target: Bytes) -> None:
        """A functional graph returns the new value of what the program overwrites: the op that overwrites it."""
        if value.root == target.root:
            return
        last = max(
            (i for i, op in enumerate(self.file.ops) if self._touches(op, value.root) or self._touches(op, target.root)),
            default=-1,
        )
        result = self._view(f"{name}.kept", target.root, target.offset, target.like)
        self.file.op(
            f"copy_{name}",
            "copy_",
            [target.tensor, value.tensor],
            [result.tensor],
            at=last + 1,
            cost=cost.cost_of(0, 2 * value.size),
            recompute=False,
        )
        self._written.add(target.root)

    def _touches(self, op: dict[str, Any], root: int) -> bool:
        return any(self.file.root(tensor) == root for tensor in (*op["inputs"], *op["outputs"]))

    def _finish_written(self, root: int) -> None:
        """What the caller gave and the graph writes to is the caller's afterwards."""
        flags = self.file.tensors[root].get("flags", [])
        if "constant" in flags:
            self.file.unflag(root, "constant")
            self.file.flag(root, "variable")
        elif "input" in flags:
            self.file.flag(root, "output")


def layer_of(node: Any) -> str:
    """The path of the innermost module that the op belongs to."""
    stack = node.meta.get("nn_module_stack") or node.meta.get("fwd_nn_module_stack")
    if not stack:
        return ""
    last = list(stack.values())[-1]
    path = last[0] if isinstance(last, (tuple, list)) else last
    return _MODULE_ROOT.sub("", str(path))


def _source_of(node: Any) -> str:
    """The innermost line that is not torch's own, if there is one."""
    frames = _FRAME.findall(getattr(node, "stack_trace", None) or "")
    own = [frame for frame in frames if "/torch/" not in frame[0]] or frames
    return f"{own[-1][0]}:{own[-1][1]}" if own else ""


def _kind_of(node: Any) -> str:
    schema = values.schema_of(node.target)
    if schema is not None:
        return str(schema.name).removeprefix("aten::")
    target = node.target
    return target if isinstance(target, str) else str(getattr(target, "__name__", target))


def _is_getitem(node: Any) -> bool:
    return getattr(node.target, "__name__", "") == "getitem" and getattr(node.target, "__module__", "") == "_operator"


def _value_of(node: Any, *, required: bool) -> Any:
    """The fake tensors that a tracer left at a node."""
    for key in ("val", "example_value", "tensor_meta"):
        if key in node.meta:
            return _from_metadata(node.meta[key]) if key == "tensor_meta" else node.meta[key]
    if required and len(node.users) > 0:
        raise InvalidError(
            f"op '{node.name}' has no fake tensor (meta['val']): its sizes are not known. "
            "Trace with torch.export.export, or with make_fx under a FakeTensorMode"
        )
    return None


def _from_metadata(found: Any) -> Any:
    """What ShapeProp leaves: shapes and strides."""
    import torch

    if hasattr(found, "shape") and hasattr(found, "stride"):
        return torch.empty_strided(found.shape, found.stride, dtype=found.dtype, device="meta")
    return [_from_metadata(each) for each in found] if isinstance(found, (list, tuple)) else found


def _modules_called(module: Any, node: Any) -> list[Any]:
    """The graph modules among the arguments of a higher-order op."""
    found = [module.get_submodule(node.target)] if node.op == "call_module" else []
    for each in _flat((node.args, node.kwargs)):
        if getattr(each, "op", "") == "get_attr":
            value = module
            for part in each.target.split("."):
                value = getattr(value, part, None)
            found.append(value)
    return [each for each in found if hasattr(each, "graph") and hasattr(each, "named_parameters")]


def _pairs(inputs: list[Bytes], outputs: list[Bytes]) -> list[list[int]]:
    return [
        [i, j]
        for i, output in enumerate(outputs)
        for j, given in enumerate(inputs)
        if output.root == output.tensor and values.same_layout(output.like, given.like)
    ]


def _same_place(rewritten: list[Bytes], where: tuple[int, int], like: Any) -> Bytes | None:
    for each in rewritten:
        if (each.root, each.offset) == where and each.size == values.extent_of(like):
            return each
    return None


def _is_tensor(value: Any) -> bool:
    import torch

    return isinstance(value, torch.Tensor)


def _map_children(value: Any, change: Callable[[Any], Any]) -> Any:
    if isinstance(value, (list, tuple)):
        return [change(each) for each in value]
    if isinstance(value, dict):
        return {key: change(each) for key, each in value.items()}
    if isinstance(value, slice):
        return slice(change(value.start), change(value.stop), change(value.step))
    return value


def _map_leaves(value: Any, change: Callable[[Any], Any]) -> Any:
    if isinstance(value, (list, tuple, dict)):
        return _map_children(value, lambda each: _map_leaves(each, change))
    return change(value)


def _map_tensors(value: Any, change: Callable[[Any], Bytes]) -> Any:
    return _map_leaves(value, lambda each: change(each) if _is_tensor(each) else each)


def _flat(value: Any) -> Iterator[Any]:
    if isinstance(value, (list, tuple)):
        for each in value:
            yield from _flat(each)
    elif isinstance(value, dict):
        for each in value.values():
            yield from _flat(each)
    else:
        yield value


def bytes_in(value: Any) -> Iterator[Bytes]:
    return (each for each in _flat(value) if isinstance(each, Bytes))


def _tensors_in(value: Any) -> Iterator[Any]:
    return (each for each in _flat(value) if _is_tensor(each))


def _likes(value: Any) -> Any:
    return _map_leaves(value, lambda each: each.like if isinstance(each, Bytes) else each)
