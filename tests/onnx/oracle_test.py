"""What the importer makes of models that PyPI's onnx writes, against what onnxruntime computes and onnx infers.

Usage: oracle_test.py PATH/TO/stowage [unittest's arguments]

scripts/onnx_test.sh installs the packages and runs this.
"""

import json
import pathlib
import sys

import numpy
import onnx
import onnx.inliner
import onnx.numpy_helper
import onnxruntime
from onnx import TensorProto, helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "cli"))
from support import CliTest, main  # noqa: E402

F, I64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL


def value(name, shape, dtype=F):
    return helper.make_tensor_value_info(name, dtype, shape)


def model_of(nodes, inputs, outputs, constants=(), functions=(), opset=21, **more):
    graph = helper.make_graph(nodes, "net", inputs, outputs, [onnx.numpy_helper.from_array(array, name) for name, array in constants], **more)
    imports = [helper.make_opsetid("", opset), helper.make_opsetid("my", 1)]
    return helper.make_model(graph, opset_imports=imports, ir_version=10, functions=list(functions))


def feeds_of(model, dims=None):
    """Numbers for every input."""
    draw = numpy.random.default_rng(1)
    feeds = {}
    for each in model.graph.input:
        shape = [d.dim_value or (dims or {})[d.dim_param] for d in each.type.tensor_type.shape.dim]
        dtype = helper.tensor_dtype_to_np_dtype(each.type.tensor_type.elem_type)
        feeds[each.name] = numpy.asarray(draw.random(shape) * 4 + 1).astype(dtype)
    return feeds


def computed(model, feeds):
    """Every value of the main graph, by onnxruntime."""
    whole = onnx.ModelProto()
    whole.CopyFrom(model)
    for function in list(whole.functions):
        whole = onnx.inliner.inline_local_functions(whole)
        break
    known = {each.name for each in whole.graph.output}
    for node in whole.graph.node:
        whole.graph.output.extend(onnx.ValueInfoProto(name=name) for name in node.output if name and name not in known)
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(whole.SerializeToString(), options, providers=["CPUExecutionProvider"])
    names = [each.name for each in session.get_outputs()]
    return dict(zip(names, session.run(names, feeds))) | feeds


def rounded(size):
    return -(-size // 64) * 64


class ImporterTest(CliTest):
    def imported(self, model, *options):
        onnx.checker.check_model(model)
        name = self.write("model.onnx", model.SerializeToString())
        self.expect(0, "plan", name, "-o", "plan.json", "--time-limit", "10m", *options)
        self.expect(0, "verify", name, "plan.json", *options)
        self.expect(0, "convert", name, "graph.json", *options)
        return json.loads(self.read("graph.json"))

    def expect_sizes(self, graph, arrays):
        """Those of the main graph's values are what was computed, and all of these are there."""
        sizes = {tensor["name"]: tensor["size"] for tensor in graph["tensors"]}
        self.assertEqual({name: sizes.get(name) for name in arrays}, {name: array.nbytes for name, array in arrays.items()})

    def check(self, model, *options, dims=None):
        model = onnx.shape_inference.infer_shapes(model, strict_mode=True, data_prop=True)
        graph = self.imported(model, *options)
        self.expect_sizes(graph, computed(model, feeds_of(model, dims)))
        return graph


class ControlFlow(ImporterTest):
    def test_if(self):
        then_branch = helper.make_graph([helper.make_node("Neg", ["a"], ["t"])], "then", [], [value("t", [8, 32])])
        else_branch = helper.make_graph([helper.make_node("Exp", ["a"], ["u"]), helper.make_node("Mul", ["u", "w"], ["v"])], "else", [],
                                        [value("v", [8, 32])], value_info=[value("u", [8, 32])])
        nodes = [helper.make_node("Relu", ["x"], ["a"]), helper.make_node("If", ["c"], ["y"], then_branch=then_branch, else_branch=else_branch)]
        model = model_of(nodes, [value("x", [8, 32]), value("c", [], BOOL)], [value("y", [8, 32])], [("w", numpy.ones((8, 32), numpy.float32))])
        graph = self.check(model)
        branch = graph["ops"][-1]
        self.assertEqual((branch["kind"], branch["control"], len(branch["bodies"])), ("If", "branch", 2))

    def loop_body(self, carried, scanned):
        nodes = [helper.make_node("Add", ["v", "step"], [carried]), helper.make_node("ReduceSum", [carried], [scanned], keepdims=1),
                 helper.make_node("Identity", ["go"], ["go_on"])]
        return helper.make_graph(nodes, "body", [value("i", [], I64), value("go", [], BOOL), value("v", [16, 16])],
                                 [value("go_on", [], BOOL), value(carried, [16, 16]), value(scanned, [1, 1])])

    def test_loop(self):
        constants = [("n", numpy.array(5, numpy.int64)), ("yes", numpy.array(True)), ("step", numpy.ones((16, 16), numpy.float32))]
        nodes = [helper.make_node("Loop", ["n", "yes", "x"], ["last", "sums"], body=self.loop_body("w", "s"))]
        model = model_of(nodes, [value("x", [16, 16])], [value("last", [16, 16]), value("sums", [5, 1, 1])], constants)
        graph = self.check(model)
        loop = graph["ops"][-1]
        self.assertEqual((loop["kind"], loop["control"], len(loop["bodies"][0]["carried"])), ("Loop", "loop", 2))
        inside = {tensor["name"]: tensor["size"] for tensor in loop["bodies"][0]["tensors"]}
        self.assertEqual((inside["w"], inside["s"], inside["step"]), (1024, 4, 1024))

    def test_scan(self):
        body = helper.make_graph([helper.make_node("Add", ["h", "e"], ["h2"]), helper.make_node("Relu", ["h2"], ["o"])], "body",
                                 [value("h", [24]), value("e", [24])], [value("h2", [24]), value("o", [24])])
        nodes = [helper.make_node("Scan", ["h0", "xs"], ["h9", "os"], body=body, num_scan_inputs=1)]
        self.check(model_of(nodes, [value("h0", [24]), value("xs", [9, 24])], [value("h9", [24]), value("os", [9, 24])]))

    def test_a_branch_inside_a_loop_reads_from_all_around(self):
        then_branch = helper.make_graph([helper.make_node("Mul", ["v", "k"], ["t"])], "then", [], [value("t", [64])])
        else_branch = helper.make_graph([helper.make_node("Add", ["v", "x"], ["u"])], "else", [], [value("u", [64])])
        nodes = [helper.make_node("If", ["go"], ["w"], then_branch=then_branch, else_branch=else_branch), helper.make_node("Identity", ["go"], ["go_on"])]
        body = helper.make_graph(nodes, "body", [value("i", [], I64), value("go", [], BOOL), value("v", [64])],
                                 [value("go_on", [], BOOL), value("w", [64])], value_info=[value("w", [64])])
        constants = [("k", numpy.ones(64, numpy.float32)), ("yes", numpy.array(True))]
        nodes = [helper.make_node("Loop", ["n", "yes", "x"], ["y"], body=body)]
        self.check(model_of(nodes, [value("n", [], I64), value("x", [64])], [value("y", [64])], constants))


TRACE = """File "/home/me/train.py", line 15, in forward
    def forward(self, x): return self.m(x)
  File "/venv/lib/python3.12/site-packages/models/bert.py", line 408, in forward
    x = {code}
  File "/venv/lib/python3.12/site-packages/torch/nn/modules/linear.py", line 125, in forward
    return F.linear(input, self.weight, self.bias)"""


def from_torch(node, module, code):
    """The metadata that PyTorch's exporter writes: the modules around the node, each with its whole path, and the lines."""
    parts = module.split(".")
    modules = ["", *(".".join(parts[: n + 1]) for n in range(len(parts))), node.op_type.lower()]
    metadata = {
        "namespace": "/".join(f"{each}: net.Module" for each in modules),
        "pkg.torch.onnx.class_hierarchy": repr(["net.Module"] * len(modules)),
        "pkg.torch.onnx.fx_node": "%relu : [num_users=1] = call_function[target=torch.ops.aten.relu.default](args = (%x,), kwargs = {})",
        "pkg.torch.onnx.name_scopes": repr(modules),
        "pkg.torch.onnx.stack_trace": TRACE.format(code=code),
    }
    node.metadata_props.extend(onnx.StringStringEntryProto(key=key, value=text) for key, text in metadata.items())
    return node


class Provenance(ImporterTest):
    def test_layers_and_lines_of_pytorchs_exporter(self):
        nodes = [from_torch(helper.make_node("MatMul", ["x", "w"], ["linear"]), "encoder.layer.0.dense", "self.dense(x)"),
                 from_torch(helper.make_node("Relu", ["linear"], ["relu"]), "encoder.layer.0", "relu(x)"),
                 helper.make_node("MatMul", ["relu", "w"], ["y"])]
        model = model_of(nodes, [value("x", [8, 16])], [value("y", [8, 16])], [("w", numpy.ones((16, 16), numpy.float32))])
        graph = self.check(model)
        self.assertEqual([op.get("scope") for op in graph["ops"]], ["encoder.layer.0.dense", "encoder.layer.0", None])
        self.assertEqual([op.get("source") for op in graph["ops"]],
                         ["models/bert.py:408: x = self.dense(x)", "models/bert.py:408: x = relu(x)", None])
        found = json.loads(self.expect(0, "explain", "model.onnx", "--json").out)
        peak = found["arenas"][0]["peaks"][0]
        self.assertIn("encoder.layer.0.dense", [share["word"] for share in peak["by_scope"]])
        self.assertIn("By layer:\n", self.expect(0, "explain", "model.onnx").out)

    def test_what_a_call_or_a_body_does_not_say_is_that_of_its_node(self):
        twice = helper.make_function("my", "Twice", ["a"], ["b"], [helper.make_node("Add", ["a", "a"], ["b"])], [helper.make_opsetid("", 21)])
        body = helper.make_graph([from_torch(helper.make_node("Neg", ["h"], ["t"]), "head.neg", "-x")], "then", [], [value("t", [8])])
        other = helper.make_graph([helper.make_node("Exp", ["h"], ["u"])], "else", [], [value("u", [8])])
        call = from_torch(helper.make_node("Twice", ["x"], ["h"], domain="my"), "encoder", "twice(x)")
        branch = from_torch(helper.make_node("If", ["c"], ["y"], then_branch=body, else_branch=other), "head", "cond(x)")
        model = model_of([call, branch], [value("x", [8]), value("c", [], BOOL)], [value("y", [8])], functions=[twice], value_info=[value("h", [8])])
        graph = self.imported(model)
        self.assertEqual([op["scope"] for op in graph["ops"]], ["encoder", "head"])
        self.assertEqual([body["ops"][0]["scope"] for body in graph["ops"][1]["bodies"]], ["head.neg", "head"])
        self.assertEqual([body["ops"][0]["source"] for body in graph["ops"][1]["bodies"]], ["models/bert.py:408: x = -x", "models/bert.py:408: x = cond(x)"])


class Values(ImporterTest):
    def test_functions_are_inlined(self):
        scale = helper.make_function("my", "Scale", ["a"], ["b"], [helper.make_node("Constant", [], ["k"], value=onnx.numpy_helper.from_array(numpy.full((1,), 2, numpy.float32))),
                                                                   helper.make_node("Mul", ["a", "k"], ["b"])], [helper.make_opsetid("", 21)])
        norm = helper.make_node("LayerNormalization", ["t", "g"], ["n"])
        norm.attribute.append(onnx.AttributeProto(name="axis", type=onnx.AttributeProto.INT, ref_attr_name="axis"))
        block = helper.make_function("my", "Block", ["a", "g"], ["b"],
                                     [helper.make_node("Scale", ["a"], ["t"], domain="my"), norm, helper.make_node("Scale", ["n"], ["b"], domain="my")],
                                     [helper.make_opsetid("", 21), helper.make_opsetid("my", 1)], attributes=["axis"])
        nodes = [helper.make_node("Block", ["x", "g"], ["h"], domain="my", axis=-1), helper.make_node("Block", ["h", "g"], ["y"], domain="my", axis=-1)]
        model = model_of(nodes, [value("x", [4, 48])], [value("y", [4, 48])], [("g", numpy.ones(48, numpy.float32))], [scale, block])
        inlined = onnx.shape_inference.infer_shapes(onnx.inliner.inline_local_functions(model), strict_mode=True)
        # Ours and theirs, each planned: the same ops with the same sizes, whatever they are called.
        describe = lambda graph: [(op["kind"], [graph["tensors"][t]["size"] for t in op["outputs"]]) for op in graph["ops"]]
        theirs = self.imported(inlined)
        typed = onnx.ModelProto()
        typed.CopyFrom(model)
        for function in typed.functions:
            function.value_info.extend(value(name, [4, 48]) for node in function.node for name in node.output if node.op_type != "Constant")
        typed.graph.value_info.append(value("h", [4, 48]))
        ours = self.imported(typed)
        self.assertEqual(describe(ours), describe(theirs))
        self.assertEqual([kind for kind, _ in describe(ours)], ["Mul", "LayerNormalization", "Mul"] * 2)

    def test_constant_nodes_are_constants(self):
        table = numpy.arange(512, dtype=numpy.float32).reshape(16, 32)
        nodes = [helper.make_node("Constant", [], ["c"], value=onnx.numpy_helper.from_array(table)), helper.make_node("MatMul", ["x", "c"], ["y"])]
        graph = self.check(model_of(nodes, [value("x", [4, 16])], [value("y", [4, 32])]))
        self.assertEqual([op["kind"] for op in graph["ops"]], ["MatMul"])
        self.assertEqual(next(tensor["flags"] for tensor in graph["tensors"] if tensor["name"] == "c"), ["constant"])

    def test_symbolic_dims_take_the_value_that_was_given(self):
        nodes = [helper.make_node("MatMul", ["x", "w"], ["a"]), helper.make_node("Relu", ["a"], ["y"])]
        model = model_of(nodes, [value("x", ["batch", 8])], [value("y", ["batch", 24])], [("w", numpy.ones((8, 24), numpy.float32))])
        for batch in (1, 3, 128):
            self.check(model, "--dim", f"batch={batch}", dims={"batch": batch})

    def test_omitted_inputs_are_omitted(self):
        nodes = [helper.make_node("Clip", ["x", "", "high"], ["a"]), helper.make_node("Resize", ["a", "", "scales"], ["y"], mode="nearest")]
        constants = [("high", numpy.array(2, numpy.float32)), ("scales", numpy.array([1, 1, 2, 2], numpy.float32))]
        graph = self.check(model_of(nodes, [value("x", [1, 3, 8, 8])], [value("y", [1, 3, 16, 16])], constants))
        self.assertEqual([op["inputs"][1] for op in graph["ops"]], [-1, -1])

    def test_every_type_has_the_bytes_that_onnx_stores(self):
        for dtype in TensorProto.DataType.values():
            if dtype in (TensorProto.UNDEFINED, TensorProto.STRING):
                continue
            name = TensorProto.DataType.Name(dtype)
            with self.subTest(name):
                try:
                    numpy_dtype = helper.tensor_dtype_to_np_dtype(dtype)
                    stored = len(onnx.numpy_helper.from_array(numpy.zeros((3, 7), numpy_dtype)).raw_data)
                except (KeyError, TypeError, ValueError, NotImplementedError):
                    self.skipTest(f"this onnx cannot store {name}")
                model = model_of([helper.make_node("Cast", ["x"], ["y"], to=dtype)], [value("x", [3, 7])], [value("y", [3, 7], dtype)])
                path = self.write("model.onnx", model.SerializeToString())
                self.expect(0, "convert", path, "graph.json")
                sizes = {tensor["name"]: tensor["size"] for tensor in json.loads(self.read("graph.json"))["tensors"]}
                self.assertEqual(sizes["y"], stored)


VIEWS = {  # name: (node, shape of the input, constants); what is a view when its offset is aligned
    "reshape": (dict(op_type="Reshape", inputs=["a", "s"]), [4, 32], [("s", numpy.array([8, -1]))]),
    "flatten": (dict(op_type="Flatten", inputs=["a"]), [4, 4, 8], []),
    "squeeze": (dict(op_type="Squeeze", inputs=["a"]), [1, 4, 1, 16], []),
    "unsqueeze": (dict(op_type="Unsqueeze", inputs=["a", "s"]), [4, 16], [("s", numpy.array([0, 3]))]),
    "identity": (dict(op_type="Identity", inputs=["a"]), [64], []),
    "dropout": (dict(op_type="Dropout", inputs=["a"]), [64], []),
    "cast": (dict(op_type="Cast", inputs=["a"], to=F), [64], []),
    "transpose of ones": (dict(op_type="Transpose", inputs=["a"], perm=[2, 0, 1, 3]), [1, 8, 1, 8], []),
    "slice of rows": (dict(op_type="Slice", inputs=["a", "s", "e", "d"]), [1, 8, 16], [("s", numpy.array([-5])), ("e", numpy.array([6])), ("d", numpy.array([1]))]),
    "slice of a row, stepped": (dict(op_type="Slice", inputs=["a", "s", "e", "d", "t"]), [8, 16], [("s", numpy.array([6])), ("e", numpy.array([7])), ("d", numpy.array([0])), ("t", numpy.array([5]))]),
    "split": (dict(op_type="Split", inputs=["a"], outputs=["b", "b2"], num_outputs=2, axis=1), [1, 4, 16], []),
    "gather of a range": (dict(op_type="Gather", inputs=["a", "s"], axis=0), [8, 16], [("s", numpy.array([3, 4, -3]))]),
    "gather of one": (dict(op_type="Gather", inputs=["a", "s"], axis=0), [8, 16], [("s", numpy.array(-2))]),
    "expand of nothing": (dict(op_type="Expand", inputs=["a", "s"]), [64], [("s", numpy.array([1, 64]))]),
    "concat of one": (dict(op_type="Concat", inputs=["a"], axis=0), [64], []),
}
COPIES = {
    "transpose": (dict(op_type="Transpose", inputs=["a"], perm=[1, 0]), [8, 16], []),
    "slice of columns": (dict(op_type="Slice", inputs=["a", "s", "e", "d"]), [4, 32], [("s", numpy.array([16])), ("e", numpy.array([32])), ("d", numpy.array([1]))]),
    "slice, stepped": (dict(op_type="Slice", inputs=["a", "s", "e", "d", "t"]), [8, 16], [("s", numpy.array([0])), ("e", numpy.array([8])), ("d", numpy.array([0])), ("t", numpy.array([2]))]),
    "slice, backwards": (dict(op_type="Slice", inputs=["a", "s", "e", "d", "t"]), [8, 16], [("s", numpy.array([7])), ("e", numpy.array([-9])), ("d", numpy.array([0])), ("t", numpy.array([-1]))]),
    "gather out of order": (dict(op_type="Gather", inputs=["a", "s"], axis=0), [8, 16], [("s", numpy.array([4, 3]))]),
    "gather of columns": (dict(op_type="Gather", inputs=["a", "s"], axis=1), [8, 16], [("s", numpy.array([0]))]),
    "expand": (dict(op_type="Expand", inputs=["a", "s"]), [64], [("s", numpy.array([2, 64]))]),
    "cast": (dict(op_type="Cast", inputs=["a"], to=I64), [64], []),
}


class Views(ImporterTest):
    def viewed(self, case):
        """The graph of Exp -> the op -> something that reads it, something that reads all, and what onnxruntime computes."""
        description, shape, constants = case
        description = {"outputs": ["b"]} | description
        constants = [(name, array.astype(numpy.int64)) for name, array in constants]
        readers = [helper.make_node("Neg", [name], [f"y{i}"]) for i, name in enumerate(description["outputs"])]
        readers.append(helper.make_node("Neg", ["a"], ["z"]))  # so that parts keep nothing alive
        nodes = [helper.make_node("Exp", ["x"], ["a"]), helper.make_node(**description), *readers]
        outputs = [helper.make_empty_tensor_value_info(node.output[0]) for node in readers]
        model = onnx.shape_inference.infer_shapes(model_of(nodes, [value("x", shape)], outputs, constants), strict_mode=True, data_prop=True)
        return self.imported(model), computed(model, feeds_of(model))

    def test_a_view_has_the_bytes_of_its_base(self):
        for title, case in VIEWS.items():
            with self.subTest(title):
                graph, arrays = self.viewed(case)
                self.assertTrue(graph["ops"][1].get("no_task"))
                for output in graph["ops"][1]["outputs"]:
                    view = graph["tensors"][output]
                    base = arrays[graph["tensors"][view["view_of"]["tensor"]]["name"]].tobytes()
                    offset = view["view_of"].get("offset", 0)
                    self.assertEqual(base[offset:offset + view["size"]], arrays[view["name"]].tobytes())

    def test_what_moves_bytes_is_no_view(self):
        for title, case in COPIES.items():
            with self.subTest(title):
                graph, _ = self.viewed(case)
                self.assertFalse(graph["ops"][1].get("no_task", False))


UNARY = ("Abs Acos Acosh Asin Asinh Atan Atanh Ceil Celu Clip Cos Cosh Elu Erf Exp Floor Gelu HardSigmoid HardSwish Identity LeakyRelu Log Mish Neg "
         "Reciprocal Relu Round Selu Shrink Sigmoid Sign Sin Sinh Softplus Softsign Sqrt Tan Tanh ThresholdedRelu").split()
BINARY = "Add Sub Mul Div Pow Max Min Mean Sum PRelu".split()


class InPlace(ImporterTest):
    def paired(self, kind, count):
        """An op on float vectors that are dead behind it: its pairs, and what onnxruntime computes for inputs."""
        names = [f"x{i}" for i in range(count)]
        model = model_of([helper.make_node(kind, names, ["y"])], [value(name, [32]) for name in names], [value("y", [32])])
        pairs = self.imported(model, "--views", "off")["ops"][0].get("in_place", [])
        session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
        return pairs, lambda arrays: session.run(["y"], dict(zip(names, arrays)))[0]

    def test_an_element_depends_on_the_one_it_replaces_alone(self):
        draw = numpy.random.default_rng(2)
        for kind, count in [(kind, 1) for kind in UNARY] + [(kind, 2) for kind in BINARY]:
            with self.subTest(kind):
                pairs, run = self.paired(kind, count)
                self.assertIn([0, 0], pairs)
                arrays = [draw.random(32, numpy.float32) for _ in range(count)]
                before = run(arrays)
                for _, position in pairs:
                    changed = [array.copy() for array in arrays]
                    changed[position][5] += 3
                    differs = ~numpy.equal(run(changed), before) & ~(numpy.isnan(run(changed)) & numpy.isnan(before))
                    self.assertFalse(numpy.delete(differs, 5).any())

    def test_what_reads_all_of_its_input_has_no_pair(self):
        for kind in ("Softmax", "CumSum", "LpNormalization"):
            inputs, constants = (["x", "axis"], [("axis", numpy.array(0, numpy.int64))]) if kind == "CumSum" else (["x"], [])
            model = model_of([helper.make_node(kind, inputs, ["y"])], [value("x", [32])], [value("y", [32])], constants)
            self.assertNotIn("in_place", self.imported(model)["ops"][0])


if __name__ == "__main__":
    main(__doc__)
