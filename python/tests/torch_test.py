"""Graphs of torch, on modules so small that every size is derived by hand."""

import contextlib
import json
from typing import Any

import pytest
import stowagepy

torch = pytest.importorskip("torch", reason="NO TORCH: nothing of from_torch and estimate is tested")
nn = torch.nn


class Described:
    """A graph with its tensors and ops by name."""

    def __init__(self, graph: stowagepy.Graph) -> None:
        self.graph = graph
        content = json.loads(graph.to_json())
        self.all_tensors: list[dict[str, Any]] = content["tensors"]
        self.all_ops: list[dict[str, Any]] = content["ops"]
        self.tensors = {each["name"]: each for each in self.all_tensors}
        self.ops = {each["name"]: each for each in self.all_ops}

    def flagged(self, flag: str) -> list[str]:
        return [each["name"] for each in self.all_tensors if flag in each.get("flags", [])]

    def kinds(self) -> list[str]:
        return [each["kind"] for each in self.all_ops if not each.get("no_task")]

    def op(self, kind: str) -> dict[str, Any]:
        (found,) = [each for each in self.all_ops if each["kind"] == kind]
        return found

    def view(self, name: str) -> tuple[str, int, int]:
        """Whose bytes, from where, how many."""
        tensor = self.tensors[name]
        return self.all_tensors[tensor["view_of"]["tensor"]]["name"], tensor["view_of"].get("offset", 0), tensor["size"]


def described(source: Any, **options: Any) -> Described:
    return Described(stowagepy.from_torch(source, alignment=1, **options))


def exported(module: Any, *inputs: Any) -> Any:
    return torch.export.export(module, inputs)


def planned(graph: Described, **options: Any) -> stowagepy.Plan:
    plan = stowagepy.plan(graph.graph, **options)
    assert plan.verify() == []
    return plan


class Function(nn.Module):  # type: ignore[misc]
    """A module around a function, which torch.export wants."""

    def __init__(self, function: Any) -> None:
        super().__init__()
        self.function = function

    def forward(self, *inputs: Any) -> Any:
        return self.function(*inputs)


def function(code: Any, *inputs: Any) -> Any:
    return exported(Function(code), *inputs)


def test_a_linear_layer() -> None:
    graph = described(exported(nn.Linear(8, 4), torch.zeros(2, 8)))
    assert graph.flagged("constant") == ["weight", "bias"]
    assert graph.flagged("input") == ["input"]
    assert [graph.tensors[each]["size"] for each in ("weight", "bias", "input")] == [128, 16, 64]
    assert graph.kinds() == ["linear"]
    plan = planned(graph)
    assert (plan.peak, plan.weights) == (64 + 32, 128 + 16)


def test_decomposed_it_is_a_product_with_its_arithmetic() -> None:
    graph = described(exported(nn.Linear(8, 4), torch.zeros(2, 8)).run_decompositions())
    product = graph.op("addmm")
    assert product["flops"] == 2 * 2 * 8 * 4
    assert product["cost"] == 1
    assert graph.view("permute") == ("weight", 0, 128)
    assert graph.ops["permute"]["no_task"]
    assert planned(graph).peak == 64 + 32


def test_views_have_the_bytes_that_they_cover() -> None:
    def code(x: Any) -> Any:
        h = x * 2
        flat = h.view(24)[8:16]
        columns = h[:, 1:3]
        turned = h.t()
        return flat.sum(), columns.sum(), turned.sum()

    graph = described(function(code, torch.zeros(4, 6)), in_place=False)
    views = {graph.view(each["name"]) for each in graph.all_tensors if "view_of" in each}
    assert ("mul", 32, 32) in views
    assert ("mul", 4, (3 * 6 + 2) * 4) in views  # four rows, of which the last ends early
    assert ("mul", 0, 96) in views
    assert {each["kind"] for each in graph.all_ops if each.get("no_task")} >= {"view", "slice", "t"}
    assert planned(graph).peak == 96 + 96


def test_views_survive_a_file(tmp_path: Any) -> None:
    """What is read from a file has no storages in common any more."""
    program = function(lambda x: (x * 2).view(24)[8:16].unsqueeze(0).reshape(4, 2).exp(), torch.zeros(4, 6))
    torch.export.save(program, tmp_path / "program.pt2")
    loaded = described(torch.export.load(tmp_path / "program.pt2"))
    before = described(program)
    assert [each.get("view_of") for each in loaded.all_tensors] == [each.get("view_of") for each in before.all_tensors]
    assert len([each for each in before.all_tensors if "view_of" in each]) == 4


def test_a_reshape_that_must_copy_has_bytes_of_its_own() -> None:
    graph = described(function(lambda x: (x * 2).t().reshape(24) + 1, torch.zeros(4, 6)))
    assert sum(each["size"] for each in graph.all_tensors if "view_of" not in each) == 4 * 96


def test_element_wise_ops_may_overwrite_their_input() -> None:
    program = function(lambda x: torch.relu(torch.relu(x * 2)), torch.zeros(16))
    graph = described(program)
    assert [each["in_place"] for each in graph.all_ops] == [[[0, 0]]] * 3
    assert planned(graph).peak == 64
    assert planned(described(program, in_place=False)).peak == 128


def test_an_input_of_another_shape_or_layout_is_not_overwritten() -> None:
    def code(x: Any, row: Any) -> Any:
        h = x * 2
        return (h + row) + h.t()

    graph = described(function(code, torch.zeros(4, 4), torch.zeros(4)))
    assert graph.ops["add"]["in_place"] == [[0, 0]]
    assert graph.ops["add_1"]["in_place"] == [[0, 0]]
    planned(graph)


def test_several_outputs_are_those_of_one_op() -> None:
    def code(x: Any) -> Any:
        values, places = torch.topk(x, 2)
        left, right = torch.split(x * 2, [3, 5])
        return values * 2, left.exp(), right.exp()

    graph = described(function(code, torch.zeros(8)))
    top = graph.op("topk")
    assert [graph.all_tensors[each]["size"] for each in top["outputs"]] == [2 * 4, 2 * 8]
    assert "getitem" not in graph.kinds()
    assert graph.view("split_with_sizes.1") == ("mul", 12, 20) or graph.view("split.1") == ("mul", 12, 20)
    planned(graph)


def test_what_the_program_writes_to_is_a_variable() -> None:
    class Counter(nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("count", torch.zeros(4))

        def forward(self, x: Any) -> Any:
            self.count.add_(1)
            return x + self.count

    program = exported(Counter(), torch.zeros(4))
    for each in (program, program.run_decompositions()):
        graph = described(each)
        assert graph.flagged("variable") == ["count"]
        assert graph.flagged("constant") == []
        plan = planned(graph)
        assert plan.weights == 16
        write = [op for op in graph.all_ops if op["kind"] in ("add_", "copy_")][-1]
        assert write["recompute"] is False
        assert graph.view(graph.all_tensors[write["outputs"][0]]["name"])[0] == "count"


def test_batch_norm_keeps_its_statistics() -> None:
    program = exported(nn.BatchNorm1d(3).train(), torch.zeros(5, 3)).run_decompositions()
    graph = described(program)
    assert set(graph.flagged("variable")) == {"running_mean", "running_var", "num_batches_tracked"}
    assert set(graph.flagged("constant")) == {"weight", "bias"}
    assert graph.kinds().count("copy_") == 3
    planned(graph)


def test_an_input_that_is_written_to_is_an_output_too() -> None:
    def code(cache: Any, x: Any) -> Any:
        cache[1:3].copy_(x)
        return cache.sum()

    program = function(code, torch.zeros(4, 2), torch.zeros(2, 2))
    for each in (program, program.run_decompositions()):
        graph = described(each)
        assert "cache" in graph.flagged("input") or "inputs_0" in graph.flagged("input")
        assert set(graph.flagged("input")) & set(graph.flagged("output"))
        planned(graph)


def test_random_ops_are_not_repeated() -> None:
    graph = described(exported(nn.Dropout(0.5).train(), torch.zeros(8)).run_decompositions())
    assert any(op.get("recompute") is False for op in graph.all_ops)
    assert all("in_place" not in op for op in graph.all_ops if op.get("recompute") is False)
    planned(graph)


class Perceptron(nn.Module):  # type: ignore[misc]
    """Two layers and a loss. In floats: 8·16 + 16 and 16·4 + 4 parameters."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(8, 16)
        self.second = nn.Linear(16, 4)

    def forward(self, x: Any) -> Any:
        return self.second(torch.relu(self.first(x))).sum()


def test_a_joint_graph_of_aot_autograd() -> None:
    from torch._functorch.aot_autograd import aot_export_module

    class Tupled(Perceptron):
        def forward(self, x: Any) -> Any:
            return (super().forward(x),)

    module, signature = aot_export_module(Tupled(), (torch.zeros(2, 8),), trace_joint=True, output_loss_index=0)
    graph = described(module, signature=signature)
    assert graph.flagged("constant") == ["first.weight", "first.bias", "second.weight", "second.bias"]
    outputs = sorted(each["size"] for each in graph.all_tensors if "output" in each.get("flags", []))
    assert outputs == [4, 16, 64, 256, 512]  # the loss and four gradients
    plan = planned(graph)
    assert plan.weights == (8 * 16 + 16 + 16 * 4 + 4) * 4


def test_a_joint_graph_that_describes_its_inputs() -> None:
    autograd = pytest.importorskip("torch._functorch.aot_autograd")
    if not hasattr(autograd, "aot_export_joint_with_descriptors"):
        pytest.skip("this torch has no such graphs")
    with contextlib.ExitStack() as stack:
        joint = autograd.aot_export_joint_with_descriptors(stack, Perceptron(), (torch.zeros(2, 8),))
        graph = described(joint.graph_module)
    assert graph.flagged("constant") == ["first.weight", "first.bias", "second.weight", "second.bias"]
    assert graph.flagged("input") == ["primals_5", "tangents_1"]
    assert len(graph.flagged("output")) == 5
    planned(graph)


def test_what_dynamo_gives_to_a_backend() -> None:
    graphs: list[Described] = []

    def backend(module: Any, inputs: Any) -> Any:
        graphs.append(described(module))
        return module

    torch.compile(Perceptron(), backend=backend)(torch.zeros(2, 8))
    torch._dynamo.reset()  # it would keep the backend, and so the graphs, until after the end
    (graph,) = graphs
    assert len(graph.flagged("constant")) == 4
    assert planned(graph).weights == (8 * 16 + 16 + 16 * 4 + 4) * 4


def test_names_of_layers_and_lines() -> None:
    graph = described(exported(Perceptron(), torch.zeros(2, 8)))
    assert [op.get("scope") for op in graph.all_ops if op["kind"] == "linear"] == ["first", "second"]
    assert all("torch_test.py:" in op["source"] or "linear.py:" in op["source"] for op in graph.all_ops)


def test_tied_weights_are_one_tensor() -> None:
    class Tied(nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.embedding = nn.Embedding(10, 4)
            self.head = nn.Linear(4, 10, bias=False)
            self.head.weight = self.embedding.weight

        def forward(self, x: Any) -> Any:
            return self.head(self.embedding(x))

    graph = described(exported(Tied(), torch.zeros(3, dtype=torch.int64)))
    assert planned(graph).weights == 160


def test_a_region_without_gradients_is_part_of_the_graph() -> None:
    def code(x: Any) -> Any:
        with torch.no_grad():
            scale = x.abs().max()
        return x / scale

    graph = described(function(code, torch.zeros(8, requires_grad=True)))
    assert graph.kinds() == ["abs", "max", "div"]
    planned(graph)


def test_plan_takes_a_program() -> None:
    program = exported(nn.Linear(8, 4), torch.zeros(2, 8))
    plan = stowagepy.plan(program)
    assert plan.peak == 1024  # two tensors of 512 bytes, which is torch's own alignment
    assert plan.verify() == []
    with pytest.raises(stowagepy.InvalidError, match="dims"):
        stowagepy.plan(program, dims={"batch": 4})


def test_what_cannot_be_read_is_refused() -> None:
    class Branch(nn.Module):  # type: ignore[misc]
        def forward(self, x: Any) -> Any:
            return torch.cond(x.sum() > 0, lambda x: x + 1, lambda x: x - 1, (x,))

    with pytest.raises(stowagepy.UnsupportedError, match="cond"):
        stowagepy.from_torch(exported(Branch(), torch.zeros(4)))
    with pytest.raises(stowagepy.InvalidError, match="no fake tensor|no shape"):
        stowagepy.from_torch(torch.fx.symbolic_trace(nn.Linear(8, 4)))
    with pytest.raises(stowagepy.InvalidError, match="neither"):
        stowagepy.from_torch(nn.Linear(8, 4))
    with pytest.raises(stowagepy.InvalidError, match="no input 'w'"):
        stowagepy.from_torch(torch.fx.symbolic_trace(nn.Linear(8, 4)), constants=["w"])


def test_an_estimate_by_hand() -> None:
    """In bytes: x 64, loss 4; gradients of 512, 64, 256 and 16. The last op sums the gradient of first's output (128)."""
    step = stowagepy.estimate(Perceptron(), torch.zeros(2, 8), alignment=1)
    assert (step.parameters, step.gradients, step.optimizer, step.optimizer_step) == (848, 848, 1696, 848)
    assert (step.inputs, step.gradients_at_peak, step.activations) == (64, 848, 4 + 128)
    assert step.plan.verify() == []
    assert step.plan.proven
    assert step.plan.peak == 64 + 848 + 4 + 128
    assert step.total == 848 + 1696 + (64 + 848 + 848)
    shares = step.by_module()
    assert (shares["first"].parameters, shares["second"].parameters) == (576, 272)
    assert sum(share.activations for share in shares.values()) == step.activations
    assert (step.peak_phase, step.peak_layer) == ("backward", "first")
    assert "in the optimizer's step" in str(step)


def test_an_estimate_needs_no_memory_for_the_model() -> None:
    here = stowagepy.estimate(Perceptron(), torch.zeros(2, 8))
    with torch.device("meta"):
        model, x = Perceptron(), torch.zeros(2, 8)
    there = stowagepy.estimate(model, x, device="cpu")
    assert there.total == here.total
    assert there.plan.peak == here.plan.peak


def test_optimizers() -> None:
    plain, fused = (stowagepy.estimate(Perceptron(), torch.zeros(2, 8), optimizer=each) for each in ("sgd", "adamw-fused"))
    assert plain.optimizer == 0
    assert fused.total == fused.static + fused.plan.peak
    with pytest.raises(stowagepy.UnknownNameError, match="adamw"):
        stowagepy.estimate(Perceptron(), torch.zeros(2, 8), optimizer="magic")


def test_a_model_in_place_and_with_statistics() -> None:
    model = nn.Sequential(nn.Linear(8, 8), nn.ReLU(inplace=True), nn.BatchNorm1d(8), nn.Dropout(0.1), nn.Linear(8, 1))
    step = stowagepy.estimate(model.train(), torch.zeros(4, 8))
    assert step.plan.verify() == []
    assert step.buffers == 3 * 512
    assert set(step.by_module(1)) >= {"0", "2", "4"}


def test_checkpointing_lowers_the_estimate() -> None:
    from torch.utils.checkpoint import checkpoint

    class Deep(nn.Module):  # type: ignore[misc]
        def __init__(self, again: bool) -> None:
            super().__init__()
            self.blocks = nn.ModuleList(nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 16)) for _ in range(4))
            self.again = again

        def forward(self, x: Any) -> Any:
            for block in self.blocks:
                x = checkpoint(block, x, use_reentrant=False) if self.again else block(x)
            return x.sum()

    sizes = [stowagepy.estimate(Deep(again), torch.zeros(256, 16)).activations for again in (False, True)]
    assert sizes[1] < 0.6 * sizes[0]


def test_values_that_decide_sizes_are_refused() -> None:
    class Counting(nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.layer = nn.Linear(4, 4)

        def forward(self, x: Any) -> Any:
            return self.layer(x)[: int(x.sum().item())].sum()

    with pytest.raises(stowagepy.UnsupportedError, match="values"):
        stowagepy.estimate(Counting(), torch.zeros(2, 4))


def test_a_gpu_that_is_not_there_cannot_be_traced_for() -> None:
    if torch.cuda.is_available():
        pytest.skip("there is a GPU")
    with pytest.raises(stowagepy.UnsupportedError, match="GPU"):
        stowagepy.estimate(Perceptron(), torch.zeros(2, 8), device="cuda")


class Block(nn.Module):  # type: ignore[misc]
    def __init__(self, width: int = 64) -> None:
        super().__init__()
        self.norm, self.qkv, self.out = nn.LayerNorm(width), nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.LayerNorm(width), nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x: Any) -> Any:
        batch, length, width = x.shape
        q, k, v = self.qkv(self.norm(x)).view(batch, length, 3, 4, width // 4).permute(2, 0, 3, 1, 4)
        y = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(y.transpose(1, 2).reshape(x.shape))
        return x + self.mlp(x)


class Scored(nn.Module):  # type: ignore[misc]
    """A model and its loss."""

    def __init__(self, *layers: Any) -> None:
        super().__init__()
        self.layers = nn.Sequential(*layers)

    def forward(self, x: Any, classes: Any) -> Any:
        return nn.functional.cross_entropy(self.layers(x).flatten(0, -2), classes.flatten())


def transformer() -> tuple[Any, ...]:
    tokens = torch.zeros(4, 128, dtype=torch.int64)
    return Scored(nn.Embedding(1000, 64), Block(), Block(), nn.Linear(64, 1000)), tokens, tokens


def convolutions() -> tuple[Any, ...]:
    layers = (nn.Conv2d(3, 16, 3, 1, 1), nn.BatchNorm2d(16), nn.ReLU(inplace=True), nn.MaxPool2d(2))
    more = (nn.Conv2d(16, 32, 3, 1, 1), nn.BatchNorm2d(32), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, 10))
    return Scored(*layers, *more), torch.zeros(8, 3, 64, 64), torch.zeros(8, dtype=torch.int64)


def perceptron() -> tuple[Any, ...]:
    layers = (nn.Linear(256, 512), nn.ReLU(), nn.Linear(512, 512), nn.GELU(), nn.Dropout(0.1), nn.Linear(512, 8))
    return Scored(*layers), torch.zeros(512, 256), torch.zeros(512, dtype=torch.int64)


def allocated(model: Any, inputs: tuple[Any, ...]) -> int:
    """The most bytes at once that forward and backward allocate on the CPU, as torch's profiler sees it."""
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], profile_memory=True) as profile:
        model(*inputs).backward()
    events = [each for each in profile.profiler.kineto_results.events() if each.name() == "[memory]"]
    live = most = 0
    for event in sorted(events, key=lambda each: each.start_ns()):
        live += event.nbytes()
        most = max(most, live)
    return most


@pytest.mark.parametrize("build", [transformer, convolutions, perceptron])
def test_what_eager_mode_allocates(build: Any) -> None:
    model, *inputs = build()
    step = stowagepy.estimate(model, *inputs, alignment=64)
    assert step.plan.verify() == []
    found = allocated(model, tuple(inputs))
    print(f"{build.__name__}: planned {step.plan.peak - step.inputs}, allocated {found}")
    assert step.plan.peak - step.inputs == pytest.approx(found, rel=0.01)


def test_symbolic_sizes_count_as_in_the_example(tmp_path: Any) -> None:
    def code(x: Any) -> Any:
        return (x * 2).reshape(-1, 4)[1:].exp()

    inputs = (torch.zeros(6, 8),)
    batch = torch.export.Dim("batch", min=2)
    program = torch.export.export(Function(code), inputs, dynamic_shapes=(({0: batch},),))
    torch.export.save(program, tmp_path / "program.pt2")
    for each in (program, torch.export.load(tmp_path / "program.pt2")):
        graph = described(each)
        assert [tensor["size"] for tensor in graph.all_tensors if "view_of" not in tensor] == [192, 192, 11 * 16]
        assert [graph.view(tensor["name"])[1:] for tensor in graph.all_tensors if "view_of" in tensor] == [(0, 192), (16, 176)]
        planned(graph)
