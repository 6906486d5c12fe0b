"""Traces one training step, forward, loss and backward, on fake tensors: no data, no weights, no GPU."""

from __future__ import annotations

import bisect
import functools
import operator
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from stowagepy._errors import InvalidError, UnsupportedError
from stowagepy._torch_graph import Roles

Loss = Callable[[Any], Any]


@dataclass
class Step:
    """A traced step. Its outputs are the loss and the gradients, in the order of `trained`."""

    module: Any
    roles: Roles
    parameters: dict[str, Any]
    buffers: dict[str, Any]
    inputs: list[Any]
    trained: list[str]
    backward: frozenset[str] = frozenset()  # the nodes of the backward pass


def trace_step(model: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any], loss: Loss | None, device: Any) -> Step:
    """Runs the step on tensors without data. Fails where the model asks for values, as `.item()` does."""
    import torch
    from torch._subclasses.fake_tensor import FakeTensorMode
    from torch.fx.experimental.proxy_tensor import make_fx
    from torch.utils import _pytree as pytree

    if device is not None and torch.device(device).type == "cuda" and not torch.cuda.is_available():
        raise UnsupportedError("device: torch traces for a GPU only where there is one; without it the CPU's kernels stand for the GPU's")
    mode = FakeTensorMode(allow_non_fake_inputs=True)
    fake = _Fakes(mode, device)
    parameters = {name: fake(each) for name, each in model.named_parameters()}
    buffers = {name: fake(each) for name, each in model.named_buffers()}
    leaves, spec = pytree.tree_flatten((args, dict(kwargs)))
    leaves = [fake(each) if isinstance(each, torch.Tensor) else each for each in leaves]
    inputs = [each for each in leaves if isinstance(each, torch.Tensor)]
    trained = [name for name, each in parameters.items() if each.requires_grad]
    layers = _Layers(model)

    def step(*tensors: Any) -> Any:
        weights = dict(zip((*parameters, *buffers), tensors))
        given = iter(tensors[len(weights) :])
        own_args, own_kwargs = pytree.tree_unflatten(
            [next(given) if isinstance(each, torch.Tensor) else each for each in leaves], spec
        )
        with layers.followed():
            value = _scalar((loss or _default_loss)(torch.func.functional_call(model, weights, own_args, own_kwargs)))
            layers.watch(value)
            return value, torch.autograd.grad(value, [weights[name] for name in trained], allow_unused=True)

    try:
        with mode, torch.autograd.set_multithreading_enabled(False), torch.fx.traceback.preserve_node_meta():
            traced = make_fx(step)(*parameters.values(), *buffers.values(), *inputs)
    except torch._subclasses.fake_tensor.DataDependentOutputException as error:
        raise UnsupportedError(f"the model's memory depends on values, which are not known before it runs: {error}") from error
    names = [node.name for node in traced.graph.nodes if node.op == "placeholder"]
    weights = dict(zip(names, (*parameters, *buffers)))
    marked = frozenset(node.name for node in traced.graph.nodes if _in_backward(node))
    return Step(traced, Roles(weights), parameters, buffers, inputs, trained, marked)


def _default_loss(output: Any) -> Any:
    """The model's loss, if it returns one, otherwise the sum of what it returns."""
    import torch
    from torch.utils import _pytree as pytree

    given = getattr(output, "loss", None)
    if given is None and isinstance(output, dict):
        given = output.get("loss")
    if given is not None:
        return given
    floats = [each for each in pytree.tree_leaves(output) if isinstance(each, torch.Tensor) and each.requires_grad]
    if not floats:
        raise InvalidError("nothing that the model returns depends on a parameter: there is no gradient to compute")
    return functools.reduce(operator.add, [each if each.dim() == 0 else each.sum() for each in floats])


def _scalar(value: Any) -> Any:
    if getattr(value, "numel", lambda: 0)() != 1:
        raise InvalidError("the loss must be a tensor of one element")
    return value


@dataclass
class _Fakes:
    """Tensors without data, of the same shape; what is one tensor, or one storage, stays one."""

    mode: Any
    device: Any
    _known: dict[int, Any] = field(default_factory=dict)

    def __call__(self, tensor: Any) -> Any:
        import torch

        if id(tensor) not in self._known:
            device = self.device or tensor.device
            with self.mode:
                made = torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype, device=device)
            made.requires_grad_(tensor.requires_grad)
            self._known[id(tensor)] = made
        return self._known[id(tensor)]


class _Layers:
    """Notes at each traced op which module it belongs to.

    Forward, hooks say which module runs. Backward, the sequence number of an autograd node says when
    it was made, and so where.
    """

    def __init__(self, model: Any) -> None:
        self._model = model
        self._paths = {module: name for name, module in model.named_modules()}
        self._stack = [""]
        self._times: list[int] = []
        self._places: list[str] = []

    @contextmanager
    def followed(self) -> Iterator[None]:
        handles = []
        for module in self._paths:
            handles.append(module.register_forward_pre_hook(self._enter))
            handles.append(module.register_forward_hook(self._leave, always_call=True))
        try:
            yield
        finally:
            for handle in handles:
                handle.remove()

    def watch(self, value: Any) -> None:
        """Follows the backward pass that begins at `value`."""
        seen = set()
        waiting = [value.grad_fn]
        while waiting:
            node = waiting.pop()
            if node is None or node in seen:
                continue
            seen.add(node)
            waiting.extend(next_node for next_node, _ in node.next_functions)
            at = bisect.bisect_right(self._times, node._sequence_nr()) - 1
            path = self._places[at] if 0 <= at else ""
            node.register_prehook(lambda grads, path=path: self._show(path, "backward"))

    def _enter(self, module: Any, args: Any) -> None:
        self._stack.append(self._paths.get(module, self._stack[-1]))
        self._note()

    def _leave(self, module: Any, args: Any, output: Any) -> None:
        self._stack.pop()
        self._note()

    def _note(self) -> None:
        import torch

        self._times.append(torch.autograd._get_sequence_nr())
        self._places.append(self._stack[-1])
        self._show(self._stack[-1], "forward")

    def _show(self, path: str, phase: str) -> None:
        import torch

        torch.fx.traceback.get_current_meta()["nn_module_stack"] = {path: (path, phase)}


def _in_backward(node: Any) -> bool:
    stack = node.meta.get("nn_module_stack")
    return bool(stack) and next(iter(stack.values()))[1] == "backward"
