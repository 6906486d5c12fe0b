"""The memory of one training step, before anything runs."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from stowagepy import _core
from stowagepy._errors import InvalidError, UnknownNameError
from stowagepy._graph_file import GraphFile
from stowagepy._plan import Options, Plan, plan_graph
from stowagepy._sizes import Size, bytes_of
from stowagepy._torch_graph import GraphOfNodes, bytes_in
from stowagepy._torch_step import Step, trace_step

# By optimizer: how often it keeps the bytes of the parameters, and how often it needs them more while it runs.
# Those of torch.optim in their default implementation on a GPU, which works on all parameters at once.
_OPTIMIZERS: dict[str, tuple[int, int]] = {
    "none": (0, 0),
    "sgd": (0, 0),
    "sgd-momentum": (1, 0),
    "adam": (2, 1),
    "adamw": (2, 1),
    "adamw-fused": (2, 0),
    "adamw-amsgrad": (3, 1),
    "adagrad": (1, 2),
    "rmsprop": (1, 1),
}


@dataclass(frozen=True)
class Share:
    """The bytes that belong to one module."""

    parameters: int = 0
    buffers: int = 0
    gradients: int = 0
    optimizer: int = 0
    activations: int = 0  # of what is live at the peak

    @property
    def total(self) -> int:
        return self.parameters + self.buffers + self.gradients + self.optimizer + self.activations

    def __add__(self, other: Share) -> Share:
        return Share(*(getattr(self, each) + getattr(other, each) for each in self.__dataclass_fields__))


@dataclass(frozen=True)
class Estimate:
    """What one training step needs, in bytes. Each tensor counts with its padding to the alignment."""

    model: str
    plan: Plan = field(repr=False)
    parameters: int
    buffers: int
    gradients: int  # all of them; how many there are at the peak is in `gradients_at_peak`
    optimizer: int  # what it keeps between steps
    optimizer_step: int  # what it needs besides while it runs
    workspace: int  # of libraries, as given
    inputs: int
    activations: int  # at the peak of forward and backward
    gradients_at_peak: int
    peak_op: str
    peak_layer: str
    peak_phase: str  # "forward" or "backward"
    shares: dict[str, Share] = field(repr=False)

    @property
    def static(self) -> int:
        """What is there all the time."""
        return self.parameters + self.buffers + self.optimizer + self.workspace

    @property
    def total(self) -> int:
        """The most at once: in forward and backward, or in the optimizer's step."""
        return self.static + max(self.plan.peak, self.inputs + self.gradients + self.optimizer_step)

    def by_module(self, depth: int | None = None) -> dict[str, Share]:
        """Where each byte belongs, by the module's path; with `depth`, modules inside are added to theirs."""
        found: dict[str, Share] = {}
        for path, share in self.shares.items():
            key = path if depth is None else ".".join(path.split(".")[:depth])
            found[key] = found.get(key, Share()) + share
        return found

    def __str__(self) -> str:
        human = _core.to_human
        in_step = self.total > self.static + self.plan.peak
        at_op = f"{self.peak_phase}, at '{self.peak_op}' of '{self.peak_layer or self.model}'"
        where = "in the optimizer's step" if in_step else at_op
        lines = [f"one training step of {self.model}: {human(self.total)}, {where}"]
        rows = (
            ("parameters", self.parameters, ""),
            ("buffers", self.buffers, ""),
            ("gradients", self.gradients, f"{human(self.gradients_at_peak)} of them at the peak of the backward pass"),
            ("optimizer", self.optimizer, f"and {human(self.optimizer_step)} more while it runs"),
            ("activations", self.activations, "at that peak"),
            ("inputs", self.inputs, ""),
            ("workspace", self.workspace, "of libraries, as given"),
        )
        lines += [f"  {name:<12}{human(size):>12}   {note}".rstrip() for name, size, note in rows if size]
        lines.append("by module")
        shares = sorted(self.by_module(2).items(), key=lambda item: -item[1].total)
        lines += [f"  {human(share.total):>12}   {path or self.model}" for path, share in shares[:12]]
        return "\n".join(lines)


def estimate(
    model: Any,
    *inputs: Any,
    kwargs: Mapping[str, Any] | None = None,
    loss: Callable[[Any], Any] | None = None,
    optimizer: str = "adamw",
    device: Any = None,
    workspace: Size = 0,
    in_place: bool = False,
    alignment: int = 512,
    **options: Any,
) -> Estimate:
    """The memory of one training step of `model(*inputs, **kwargs)`, before anything runs.

    Nothing is computed: the model may be on torch's meta device. `loss` turns what the model returns into a
    tensor of one element; by default that is the model's own loss, or the sum of what it returns.
    `optimizer` is one of those in the table of docs/python.md. With `device`, everything is treated as if it were there;
    which kernel torch chooses may depend on it. `workspace` is what libraries keep for themselves, such
    as cuBLAS. `in_place` lets element-wise ops overwrite their inputs, which eager mode does not do. `options` are those of
    `plan`.
    """
    if optimizer not in _OPTIMIZERS:
        raise UnknownNameError(f"optimizer: {optimizer!r} is none of {', '.join(_OPTIMIZERS)}")
    step = trace_step(model, inputs, kwargs or {}, loss, device)
    file = GraphFile(type(model).__name__, alignment)
    nodes = GraphOfNodes(file, step.roles, in_place)
    nodes.translate(step.module)
    plan = plan_graph(_core.Graph.from_json(file.to_json()), Options(**{"keep_inputs": True, **options}), label=file.name)
    if not plan.fits:
        raise InvalidError(f"the step does not fit: {plan.shortage or plan.status}")
    peak = _Peak(file, {each.root for each in bytes_in(nodes.results[1])})
    return _add_up(step, peak, plan, _OPTIMIZERS[optimizer], bytes_of(workspace, "workspace") or 0)


def _add_up(step: Step, peak: _Peak, plan: Plan, optimizer: tuple[int, int], workspace: int) -> Estimate:
    kept, extra = optimizer
    shares: dict[str, Share] = {}

    def size_of(tensor: Any) -> int:
        return peak.padded(tensor.numel() * tensor.itemsize)

    def add(path: str, share: Share) -> None:
        shares[path] = shares.get(path, Share()) + share

    trained = set(step.trained)
    for name, tensor in step.parameters.items():
        size = size_of(tensor)
        own = size if name in trained else 0
        add(_owner(name), Share(parameters=size, gradients=own, optimizer=kept * own))
    for name, tensor in step.buffers.items():
        add(_owner(name), Share(buffers=size_of(tensor)))
    whole = sum(shares.values(), Share())
    for path, size in peak.activations.items():
        add(path, Share(activations=size))
    return Estimate(
        model=peak.file.name,
        plan=plan,
        parameters=whole.parameters,
        buffers=whole.buffers,
        gradients=whole.gradients,
        optimizer=whole.optimizer,
        optimizer_step=extra * whole.gradients,
        workspace=workspace,
        inputs=sum(size_of(each) for each in step.inputs),
        activations=sum(peak.activations.values()),
        gradients_at_peak=peak.gradients,
        peak_op=peak.op,
        peak_layer=peak.layer,
        peak_phase="backward" if peak.op in step.backward else "forward",
        shares=shares,
    )


def _owner(name: str) -> str:
    return name.rpartition(".")[0]


@dataclass
class _Life:
    """When the bytes of a root are needed, half-open, and the layer of the op that wrote them first."""

    first: int
    end: int
    layer: str


class _Peak:
    """What is live when most is live, in the order of the graph."""

    def __init__(self, file: GraphFile, gradient_roots: set[int]) -> None:
        self.file = file
        lives = self._lives()
        at = self._fullest(lives)
        self.op = str(file.ops[at]["name"])
        self.layer = str(file.ops[at].get("scope", ""))
        self.gradients = 0
        self.activations: dict[str, int] = {}
        for tensor, life in lives.items():
            if not life.first <= at < life.end or self._has_flag(tensor, "input"):
                continue
            size = self._size(tensor)
            if tensor in gradient_roots:
                self.gradients += size
            else:
                self.activations[life.layer] = self.activations.get(life.layer, 0) + size

    def padded(self, size: int) -> int:
        return -(-size // self.file.alignment) * self.file.alignment

    def _size(self, tensor: int) -> int:
        return self.padded(int(self.file.tensors[tensor]["size"]))

    def _has_flag(self, tensor: int, *flags: str) -> bool:
        return not set(flags).isdisjoint(self.file.tensors[tensor].get("flags", []))

    def _lives(self) -> dict[int, _Life]:
        lives: dict[int, _Life] = {}
        end = len(self.file.ops)
        for at, op in enumerate(self.file.ops):
            for tensor in () if op.get("no_task") else (*op["inputs"], *op["outputs"]):
                root = self.file.root(tensor)
                if not self._has_flag(root, "constant", "variable"):
                    lives.setdefault(root, _Life(at, at, op.get("scope", ""))).end = at + 1
        for tensor in range(len(self.file.tensors)):
            root = self.file.root(tensor)
            if self._has_flag(tensor, "output") and root in lives:
                lives[root].end = end
            if self._has_flag(tensor, "input"):
                lives[tensor] = _Life(0, end, "")
        return lives

    def _fullest(self, lives: dict[int, _Life]) -> int:
        change = [0] * (len(self.file.ops) + 1)
        for root, life in lives.items():
            change[life.first] += self._size(root)
            change[life.end] -= self._size(root)
        live = list(itertools.accumulate(change))
        return live.index(max(live))
