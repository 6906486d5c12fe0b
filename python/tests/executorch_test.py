"""ExecuTorch with Stowage's planner: its own checks, its runtime, and the sizes of its own planner beside ours."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest
import stowagepy
from stowagepy.executorch import Bank

torch = pytest.importorskip("torch", reason="NO TORCH: nothing of ExecuTorch is tested")
pytest.importorskip("executorch.exir", reason="NO EXECUTORCH: its planner is not tested")

from executorch.exir import ExecutorchBackendConfig, to_edge  # noqa: E402
from executorch.exir.memory_planning import MemoryPlanningAlgorithmSuite, Verifier, greedy  # noqa: E402
from executorch.exir.passes import MemoryPlanningPass  # noqa: E402
from executorch.exir.tensor import TensorSpec  # noqa: E402

nn = torch.nn


class Convolutions(nn.Module):  # type: ignore[misc]
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(3, 16, 3, 2, 1), nn.ReLU(), nn.Conv2d(16, 16, 3, 1, 1, groups=16), nn.ReLU(), nn.Conv2d(16, 32, 1)
        )
        self.head = nn.Linear(32, 10)

    def forward(self, x: Any) -> Any:
        return self.head(self.layers(x).mean((2, 3)))


class Residual(nn.Module):  # type: ignore[misc]
    def __init__(self) -> None:
        super().__init__()
        self.entry = nn.Conv2d(3, 8, 3, 1, 1)
        self.wide, self.narrow = nn.Conv2d(8, 24, 3, 1, 1), nn.Conv2d(24, 8, 3, 1, 1)

    def forward(self, x: Any) -> Any:
        x = self.entry(x)
        for _ in range(3):
            x = x + self.narrow(torch.relu(self.wide(x)))
        return nn.functional.max_pool2d(x, 2)


class Attention(nn.Module):  # type: ignore[misc]
    def __init__(self) -> None:
        super().__init__()
        self.q, self.k, self.v, self.out = (nn.Linear(32, 32) for _ in range(4))
        self.norm = nn.LayerNorm(32)

    def forward(self, x: Any) -> Any:
        h = self.norm(x)
        weights = torch.softmax(self.q(h) @ self.k(h).transpose(1, 2), -1)
        return x + self.out(weights @ self.v(h))


class Branches(nn.Module):  # type: ignore[misc]
    """Paths of several widths that are joined, as in Inception."""

    def __init__(self) -> None:
        super().__init__()
        self.paths = nn.ModuleList(nn.Conv2d(6, width, size, 1, size // 2) for width, size in ((4, 1), (9, 3), (5, 5)))
        self.out = nn.Conv2d(18, 6, 1)

    def forward(self, x: Any) -> Any:
        for _ in range(2):
            x = self.out(torch.cat([torch.relu(path(x)) for path in self.paths], 1))
        return x


class Cache(nn.Module):  # type: ignore[misc]
    """Keeps a buffer that it writes to."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("state", torch.zeros(4, 16))
        self.layer = nn.Linear(16, 16)

    def forward(self, x: Any) -> Any:
        self.state.mul_(0.5).add_(self.layer(x))
        return torch.tanh(self.state) + x


class Choice(nn.Module):  # type: ignore[misc]
    """A branch, whose bodies have tensors of their own."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(8, 64)

    def forward(self, x: Any) -> Any:
        h = torch.relu(x)
        y = torch.cond(x.sum() > 0, lambda x: (x.repeat(1, 8).exp() + 1).sum(1, keepdim=True), lambda x: x[:, :1] * 2, (h,))
        return self.layer(h + y)


MODELS: dict[str, tuple[Callable[[], Any], tuple[Any, ...]]] = {
    "convolutions": (Convolutions, (torch.randn(1, 3, 32, 32),)),
    "residual": (Residual, (torch.randn(1, 3, 24, 24),)),
    "attention": (Attention, (torch.randn(2, 12, 32),)),
    "branches": (Branches, (torch.randn(1, 6, 20, 20),)),
    "cache": (Cache, (torch.randn(4, 16),)),
    "choice": (Choice, (torch.randn(4, 8),)),
}


def compiled(name: str, algorithm: Any, **options: Any) -> Any:
    torch.manual_seed(1)
    build, inputs = MODELS[name]
    edge = to_edge(torch.export.export(build().eval().requires_grad_(False), inputs))
    planning = MemoryPlanningPass(memory_planning_algo=algorithm, **options)
    return edge.to_executorch(ExecutorchBackendConfig(memory_planning_pass=planning))


def ran(program: Any, inputs: Sequence[Any]) -> list[Any]:
    """What the runtime computes, twice in a row."""
    from executorch.extension.pybindings.portable_lib import _load_for_executorch_from_buffer

    loaded = _load_for_executorch_from_buffer(program.buffer)
    return [loaded.forward(tuple(inputs)) for _ in range(2)]


def ran_by_theirs(program: Any, inputs: Sequence[Any]) -> list[Any]:
    """The same, of a program that is not planned here: if that does not run, nothing can be compared."""
    try:
        return ran(program, inputs)
    except RuntimeError as error:
        pytest.skip(f"NO RUNTIME: executorch's does not run its own program with torch {torch.__version__}: {str(error)[:60]}")


def buffers(program: Any) -> list[int]:
    return list(program.executorch_program.execution_plan[0].non_const_buffer_sizes)


def check(program: Any) -> None:
    """ExecuTorch's own verifier, which it runs only for its own planner."""
    exported = program.exported_program()
    verifier = Verifier(exported.graph_module, True, True, True, exported.graph_signature)
    verifier.verify_storage_reuse()
    verifier.verify_graph_input_output()


EXAMPLES = {
    "deep_autoencoder": ("mlperf_tiny.deep_autoencoder", "DeepAutoEncoderModel"),
    "ds_cnn": ("mlperf_tiny.ds_cnn", "DSCNNKWSModel"),
    "resnet8": ("mlperf_tiny.resnet8", "ResNet8Model"),
    "sdpa": ("toy_model", "SdpaModule"),
    "conv1d": ("toy_model", "Conv1dModule"),
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_example_models_of_executorch(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    factory = pytest.importorskip("executorch.examples.models.model_factory", reason="NO EXAMPLES in this executorch")
    model, inputs, *_ = factory.EagerModelFactory.create_model(*EXAMPLES[name])
    monkeypatch.setitem(MODELS, name, (lambda: model, inputs))
    compare(name)


@pytest.mark.parametrize("name", MODELS)
def test_the_same_outputs_in_no_more_memory(name: str) -> None:
    compare(name)


def compare(name: str) -> None:
    """With its planner and with ours."""
    theirs = compiled(name, MemoryPlanningAlgorithmSuite(algo_list=[greedy]))
    ours = compiled(name, stowagepy.executorch.algorithm)
    check(ours)
    sizes = buffers(theirs), buffers(ours)
    print(f"{name}: greedy {sizes[0][1:]}, stowage {sizes[1][1:]}")
    assert len(sizes[0]) == len(sizes[1])
    assert sum(sizes[1]) <= sum(sizes[0])
    inputs = MODELS[name][1]
    for expected, found in zip(ran_by_theirs(theirs, inputs), ran(ours, inputs)):
        assert all(torch.equal(one, other) for one, other in zip(expected, found))


def test_two_banks_keep_to_their_sizes_and_compute_the_same() -> None:
    whole = sum(buffers(compiled("residual", stowagepy.executorch.algorithm)))
    fast = whole // 2
    program = compiled("residual", stowagepy.executorch.banked([Bank("sram", fast, 1), Bank("dram", "1MiB", 2)]))
    check(program)
    sizes = buffers(program)
    assert len(sizes) == 3
    assert 0 < sizes[1] <= fast
    assert 0 < sizes[2] <= 1 << 20
    inputs = MODELS["residual"][1]
    for expected, found in zip(ran_by_theirs(compiled("residual", None), inputs), ran(program, inputs)):
        assert all(torch.equal(one, other) for one, other in zip(expected, found))


@pytest.mark.parametrize("name", MODELS)
def test_no_more_traffic_with_the_slow_bank_than_by_banked_greedy(name: str) -> None:
    """The bytes that ops move to and from the slow bank, when the fast one cannot hold all."""
    banked = pytest.importorskip("executorch.exir.banked_memory_planning", reason="NO BANKS in this executorch")
    whole = sum(buffers(compiled(name, stowagepy.executorch.algorithm)))
    fast = banked.Bank("fast", whole * 5 // 8 // 16 * 16, 1)
    memories = banked.TargetMemoryMap([fast, banked.Bank("slow", 1 << 22, 2)])
    suite = MemoryPlanningAlgorithmSuite(algo_list=[banked.BankedGreedy(memories)])
    moved = [traffic(compiled(name, each), 2) for each in (suite, stowagepy.executorch.banked(memories))]
    print(f"{name}: bytes to and from the slow bank: banked_greedy {moved[0]}, stowage {moved[1]}")
    assert moved[1] <= moved[0]


def traffic(program: Any, mem_id: int) -> int:
    """Of all ops: the bytes of their tensors in a bank."""
    moved = 0
    for node in program.exported_program().graph_module.graph.nodes:
        met = {}
        for each in (node, *node.all_input_nodes):
            for spec in torch.utils._pytree.tree_leaves(each.meta.get("spec")):
                if isinstance(spec, TensorSpec) and spec.mem_id == mem_id and not spec.const:
                    met[id(spec)] = spec.allocated_memory
        moved += sum(met.values())
    return moved


def spec_of(size: int, first: int, last: int) -> Any:
    spec = TensorSpec(dtype=torch.uint8, shape=[size])
    spec.lifetime = [first, last]
    return spec


def empty_module() -> Any:
    return torch.fx.GraphModule(nn.Module(), torch.fx.Graph())


def test_lifetimes_have_both_ends() -> None:
    """A tensor that is read in step 2 and one that is written in step 2 share nothing."""
    specs = [spec_of(64, 0, 2), spec_of(64, 2, 3), spec_of(64, 3, 4)]
    assert stowagepy.executorch.algorithm(16, specs, empty_module()) == [0, 128]
    assert specs[0].mem_offset != specs[1].mem_offset
    assert specs[0].mem_offset == specs[2].mem_offset


def test_a_tensor_inside_another() -> None:
    base, child, grandchild, other = spec_of(64, 0, 1), spec_of(32, 3, 3), spec_of(16, 4, 4), spec_of(64, 4, 5)
    child.storage_base, child.storage_base_offset = base, 16
    grandchild.storage_base, grandchild.storage_base_offset = child, 16
    assert stowagepy.executorch.algorithm(16, [grandchild, child, base, other], empty_module()) == [0, 128]
    assert child.mem_offset == base.mem_offset + 16
    assert grandchild.mem_offset == base.mem_offset + 32
    assert base.mem_obj_id == child.mem_obj_id == grandchild.mem_obj_id
    assert base.mem_obj_id != other.mem_obj_id
    outside = spec_of(16, 0, 0)
    outside.storage_base = spec_of(64, 0, 0)
    with pytest.raises(stowagepy.UnsupportedError, match="storage_base"):
        stowagepy.executorch.algorithm(16, [outside], empty_module())


def test_buffers_of_a_custom_pass_are_kept() -> None:
    specs = [spec_of(64, 0, 1), spec_of(32, 0, 1), spec_of(32, 2, 3)]
    specs[1].mem_id = specs[2].mem_id = 3
    assert stowagepy.executorch.algorithm(16, specs, empty_module(), None, 8) == [0, 72, 0, 40]
    assert [spec.mem_id for spec in specs] == [1, 3, 3]


def test_alignment_is_that_of_the_graph_or_the_bank() -> None:
    specs = [spec_of(10, 0, 1), spec_of(10, 0, 1)]
    assert stowagepy.executorch.algorithm(32, specs, empty_module()) == [0, 64]
    assert stowagepy.executorch.banked([Bank("a", 4096, 2, 128)])(32, [spec_of(10, 0, 1)], empty_module()) == [0, 0, 128]
    with pytest.raises(stowagepy.InvalidError, match="multiple"):
        stowagepy.executorch.banked([Bank("a", 4096, 1, 8)])(16, [spec_of(10, 0, 1)], empty_module())


def test_banks_that_are_too_small_are_an_error() -> None:
    with pytest.raises(stowagepy.InvalidError, match="no bank has room"):
        stowagepy.executorch.banked([Bank("a", 64, 1), Bank("b", 64, 2)])(16, [spec_of(65, 0, 1)], empty_module())
    pinned = spec_of(65, 0, 1)
    pinned.mem_id = 1
    with pytest.raises(stowagepy.InvalidError, match="bank a"):
        stowagepy.executorch.banked([Bank("a", 64, 1)])(16, [pinned], empty_module())
    with pytest.raises(stowagepy.InvalidError, match="mem_id of its own"):
        stowagepy.executorch.banked([Bank("a", 64, 1), Bank("b", 64, 1)])


def test_no_tensors() -> None:
    assert stowagepy.executorch.algorithm(16, [], empty_module()) == [0, 0]


def test_results_of_control_flow_stay_in_the_memory_of_its_modules() -> None:
    """The runtime moves the value, not the bytes: they are needed until the result is read."""
    graph = torch.fx.Graph()
    x = graph.placeholder("x")
    body = graph.get_attr("body")
    choice = graph.call_function(torch.ops.higher_order.cond, (x, body, body, (x,)))
    other = graph.call_function(torch.relu, (x,))
    graph.call_function(torch.add, (choice, other))
    root = nn.Module()
    root.body = empty_module()
    root.body.meta["non_const_buffer_sizes"] = [0, 64, 32]
    module = torch.fx.GraphModule(root, graph)
    module.input_mem_buffer_sizes = [0, 64, 32]
    specs = [spec_of(16, 0, 3), spec_of(32, 2, 4), spec_of(48, 3, 4), spec_of(64, 4, 5), spec_of(64, 5, 6)]
    choice.meta["spec"] = (specs[1],)
    sizes = stowagepy.executorch.algorithm(16, specs, module)
    assert all(spec.mem_offset >= 64 for spec in specs[:4])  # the result, specs[1], is read in step 4
    assert sizes == [0, 64 + 32 + 48 + 64, 32]  # specs[4] takes bytes of the modules, or of others


def test_banks_are_of_the_cpu() -> None:
    from executorch.exir.schema import DeviceType

    spec = spec_of(16, 0, 1)
    spec.device = DeviceType.CUDA
    with pytest.raises(stowagepy.UnsupportedError, match="CUDA"):
        stowagepy.executorch.banked([Bank("a", 64, 1)])(16, [spec], empty_module())
    with pytest.raises(stowagepy.InvalidError, match="at least one"):
        stowagepy.executorch.banked([])
