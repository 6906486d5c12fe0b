"""From what torch.export, FX and AOTAutograd trace to a graph. Torch is imported only when something of it is given."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

from stowagepy import _core
from stowagepy._core import Graph
from stowagepy._errors import InvalidError
from stowagepy._graph_file import GraphFile
from stowagepy._torch_graph import GraphOfNodes, Roles


def is_torch(source: object) -> bool:
    """Whether from_torch reads it: an ExportedProgram or a GraphModule. Imports nothing."""
    torch = sys.modules.get("torch")
    if torch is None:
        return False
    exported = getattr(getattr(torch, "export", None), "ExportedProgram", ())
    return isinstance(source, (exported, torch.fx.GraphModule))


def from_torch(
    source: Any,
    *,
    signature: Any = None,
    constants: Iterable[str] = (),
    name: str | None = None,
    alignment: int = 512,
    in_place: bool = True,
) -> Graph:
    """The graph of an ExportedProgram or a GraphModule: `from_torch(torch.export.export(model, inputs))`.

    Sizes come from the fake tensors that the tracer left; nothing is computed, and no weights or GPU are needed.
    Parameters, buffers and constants are constants (variables, if the program writes to them), what the caller
    gives and gets inputs and outputs. Views are views. With `in_place`, element-wise ops may overwrite an
    input; without it every op has memory of its own, as in eager mode.

    For the joint graph of AOTAutograd give the `signature` that came with it; for another GraphModule with
    weights among its inputs, the names of their placeholders as `constants`. Unless `alignment` says otherwise, tensors
    are aligned to 512 bytes, as torch's CUDA allocator does.
    """
    if not is_torch(source):
        raise InvalidError(f"a {type(source).__name__} is neither an ExportedProgram nor a GraphModule")
    exported = hasattr(source, "graph_signature")
    module = source.graph_module if exported else source
    roles = _roles(module, signature or (source.graph_signature if exported else None), constants)
    if exported:
        roles.tied = _tied(source, roles)
    file = GraphFile(name or _name_of(module), alignment)
    GraphOfNodes(file, roles, in_place).translate(module)
    return _core.Graph.from_json(file.to_json())


def _name_of(module: Any) -> str:
    found = str(module._get_name())
    return "torch" if found == "GraphModule" else found


def _roles(module: Any, signature: Any, constants: Iterable[str]) -> Roles:
    placeholders = [node.name for node in module.graph.nodes if node.op == "placeholder"]
    weights = {each: each for each in constants}
    for each in weights:
        if each not in placeholders:
            raise InvalidError(f"constants: there is no input '{each}' among {', '.join(placeholders[:8])}…")
    weights.update(_described_weights(module))
    if signature is None:
        return Roles(weights)
    for mapping in ("inputs_to_parameters", "inputs_to_buffers", "inputs_to_lifted_tensor_constants"):
        weights.update(getattr(signature, mapping, None) or {})
    given = {target: node for node, target in weights.items()}
    written: dict[str, str] = {}
    for mapping in ("parameters_to_mutate", "buffers_to_mutate"):
        written.update({out: given[target] for out, target in (getattr(signature, mapping, None) or {}).items()})
    written.update(getattr(signature, "user_inputs_to_mutate", None) or {})
    return Roles(weights, {}, written, _silent_outputs(module, signature, written))


def _described_weights(module: Any) -> dict[str, str]:
    """What newer joint graphs and Dynamo's say of their inputs themselves."""
    import torch

    found = {}
    for node in module.graph.nodes:
        if node.op != "placeholder":
            continue
        described: Any = node.meta.get("desc")
        if type(described).__name__ in ("ParamAOTInput", "BufferAOTInput"):
            found[node.name] = str(described.target)
        elif isinstance(node.meta.get("example_value"), torch.nn.Parameter):
            found[node.name] = node.name
    return found


def _silent_outputs(module: Any, signature: Any, written: dict[str, str]) -> frozenset[int]:
    specs = getattr(signature, "output_specs", None)
    if specs is not None:
        return frozenset(i for i, spec in enumerate(specs) if spec.kind.name.endswith(("_MUTATION", "TOKEN")))
    return frozenset(range(len(written)))  # of a joint graph: they come first


def _tied(exported: Any, roles: Roles) -> dict[str, str]:
    """Inputs that are one tensor of the program's state under several names."""
    first: dict[tuple[int, int], str] = {}
    tied = {}
    for node, target in roles.weights.items():
        held = exported.state_dict.get(target)
        if held is None or held.numel() == 0 or held.device.type == "meta":
            continue
        key = (int(held.untyped_storage()._cdata), int(held.storage_offset()))
        if key in first:
            tied[node] = first[key]
        first.setdefault(key, node)
    return tied
