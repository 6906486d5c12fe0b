"""Model files on the command line, with models written byte by byte: options, formats, and files that are damaged or malicious.

Usage: onnx_test.py PATH/TO/stowage [unittest's arguments]

What models mean is the matter of tests/onnx, which writes them with PyPI's onnx.
"""

import gzip
import json
import random

from onnx_bytes import INT64, field, graph_attribute, model, node, tensor, value, varint
from support import CliTest, main

def chain(dims):
    """x -> Exp -> a -> Reshape -> b -> Relu -> y."""
    values = [field(number, value(name, dims)) for number, name in ((11, "x"), (13, "a"), (13, "b"), (12, "y"))]
    return model(*values, tensor("s", [1], INT64), node("Exp", ["x"], ["a"]), node("Reshape", ["a", "s"], ["b"]), node("Relu", ["b"], ["y"]))


def tied():
    """x × transpose(w) → y, where another op reads w itself; and x + (c + c), where nothing else reads c."""
    values = [field(11, value("x", [4, 64])), field(11, value("i", [1], INT64)), *(field(13, value(name, dims)) for name, dims in (("wt", [64, 32]), ("g", [1, 64]), ("cc", [64]), ("a", [1, 64]))),
              field(12, value("y", [4, 32])), field(12, value("z", [4, 64]))]
    return model(*values, tensor("w", [32, 64]), tensor("c", [64]), node("Transpose", ["w"], ["wt"]), node("MatMul", ["x", "wt"], ["y"]),
                 node("Gather", ["w", "i"], ["g"]), node("Add", ["c", "c"], ["cc"]), node("Mul", ["g", "cc"], ["a"]), node("Add", ["x", "a"], ["z"]))


class Folding(CliTest):
    W, C, X = 32 * 64 * 4, 64 * 4, 4 * 64 * 4

    def test_what_is_computed_from_weights_alone_is_a_weight(self):
        name = self.write("net.onnx", tied())
        on, off = self.summary(name, "-o", "plan.json"), self.summary(name, "--fold", "off", "-o", "off.json")
        self.assertEqual((on["weights_bytes"], on["folded_bytes"]), (2 * self.W + self.C, self.W + self.C))
        self.assertEqual((off["weights_bytes"], off["folded_bytes"]), (self.W + self.C, 0))
        for summary in (on, off):
            self.assertEqual(summary["total_bytes"], summary["weights_bytes"] + summary["peak_bytes"])
        self.assertGreaterEqual(off["peak_bytes"], self.W + self.X)
        self.assertLess(on["peak_bytes"], self.W)
        self.expect(0, "verify", name, "plan.json")
        self.expect(0, "verify", name, "off.json", "--fold", "off")
        self.assertRegex(self.expect(0, "plan", name).out, rf"\n  weights +{2 * self.W + self.C}   .*\n  folded +{self.W + self.C}   of the weights ")
        self.assertRegex(self.expect(0, "explain", name).out, rf"\n  folded +{self.W + self.C}   ")

    def test_a_weight_that_only_folding_reads_takes_no_memory(self):
        name = self.write("net.onnx", tied())
        self.expect(0, "convert", name, "graph.json")
        flags = {tensor["name"]: tensor.get("flags", []) for tensor in json.loads(self.read("graph.json"))["tensors"]}
        self.assertEqual({each: flags[each] for each in ("w", "wt", "c", "cc")},
                         {"w": ["constant"], "wt": ["constant"], "c": ["constant", "external"], "cc": ["constant"]})

    def test_a_converted_graph_has_the_same_figures_and_can_be_folded_later(self):
        name = self.write("net.onnx", tied())
        self.expect(0, "convert", name, "folded.json")
        self.expect(0, "convert", name, "graph.json", "--fold", "off")
        bytes_of = lambda *arguments: {key: figure for key, figure in self.summary(*arguments).items() if key.endswith("_bytes")}
        self.assertEqual(bytes_of("folded.json"), bytes_of(name))
        self.assertEqual(bytes_of("graph.json"), bytes_of(name, "--fold", "off"))
        self.assertEqual(bytes_of("graph.json", "--fold", "on"), bytes_of(name))

    def test_random_numbers_messages_and_quantised_weights_are_not_folded(self):
        for kind, inputs, outputs, more in (("RandomNormalLike", ["w"], ["r"], b""), ("DequantizeLinear", ["q", "s"], ["r"], b""),
                                            ("Recv", ["q", "q"], ["signal", "r"], field(7, "com.microsoft"))):
            with self.subTest(kind=kind):
                made = model(field(11, value("x", [8])), field(13, value("r", [8])), field(12, value("y", [8])), tensor("w", [8]), tensor("q", [8], 3),
                             tensor("s", []), node(kind, inputs, outputs, more), node("Add", ["x", "r"], ["y"]))
                self.assertEqual(self.summary(self.write("net.onnx", made))["folded_bytes"], 0)


class Models(CliTest):
    def test_a_model_is_planned_and_verified(self):
        name = self.write("net.onnx", chain([256]))
        summary = self.summary(name, "-o", "plan.json")
        self.assertEqual((summary["name"], summary["ops"], summary["peak_bytes"], summary["proven_optimal"]), ("net", 3, 1024, True))
        self.expect(0, "verify", name, "plan.json")
        self.expect(0, "compare", name)

    def test_packed_and_piped_it_is_the_same(self):
        plain = self.expect(0, "plan", self.write("net.onnx", chain([256])), "-o", "-").out
        self.assertEqual(self.expect(0, "plan", self.write("net.onnx.gz", gzip.compress(chain([256]))), "-o", "-").out, plain)
        self.assertEqual(self.expect(0, "plan", "-", "-o", "-", stdin=chain([256])).out, plain)

    def test_views_and_pairs_can_be_switched_off(self):
        name = self.write("net.onnx", chain([256]))
        graphs = {}
        for views in ("on", "off"):
            for pairs in ("on", "off"):
                self.expect(0, "convert", name, "graph.json", "--views", views, "--in-place", pairs)
                graphs[views, pairs] = json.loads(self.read("graph.json"))
        has_views = {key: any("view_of" in tensor for tensor in graph["tensors"]) for key, graph in graphs.items()}
        has_pairs = {key: any("in_place" in op for op in graph["ops"]) for key, graph in graphs.items()}
        self.assertEqual(has_views, {key: key[0] == "on" for key in graphs})
        self.assertEqual(has_pairs, {key: key[1] == "on" for key in graphs})
        self.assertEqual(self.peak(name, "--views", "off", "--in-place", "off"), 2048)

    def test_the_alignment_is_64_unless_given(self):
        name = self.write("net.onnx", chain([1]))
        self.assertEqual(self.peak(name, "--in-place", "off"), 128)
        self.assertEqual(self.peak(name, "--in-place", "off", "--alignment", "16"), 32)

    def test_symbolic_dims_get_values(self):
        name = self.write("net.onnx", chain(["batch", "a=b", 8]))
        done = self.expect(1, "plan", name)
        self.assertIn("net.onnx: the sizes of ", done.err)
        self.assertIn("'batch'", done.err)
        self.assertIn("--dim", done.err)
        self.assertEqual(self.peak(name, "--dim", "batch=4", "--dim", "a=b=2", "-o", "plan.json"), 256)
        self.expect(0, "verify", name, "plan.json", "--dim", "batch=4", "--dim", "a=b=2")
        self.assertIn("'other'", self.expect(1, "plan", name, "--dim", "batch=4", "--dim", "a=b=2", "--dim", "other=1").err)
        for wrong in ("batch", "batch=", "batch=x", "batch=-1", "=4", "batch=4.0"):
            self.assertIn(wrong, self.expect(2, "plan", name, "--dim", wrong).err)
        self.assertIn("no dim 'batch'", self.expect(1, "plan", self.write("graph.json", {"schema": "stowage.graph/1"}), "--dim", "batch=4").err)


def random_model(seed):
    """Splits, reshapes, element-wise ops and others on rows of 64 bytes."""
    draw = random.Random(seed)
    values = [("t0", [draw.choice([4, 8]), 16])]
    parts = [field(11, value(*values[0])), tensor("s", [1], INT64)]

    def add(kind, inputs, *dims):
        outputs = [(f"t{len(values) + i}", each) for i, each in enumerate(dims)]
        values.extend(outputs)
        parts.append(node(kind, inputs, [name for name, _ in outputs]) + b"".join(field(13, value(*output)) for output in outputs))

    for _ in range(draw.randint(4, 14)):
        name, dims = draw.choice(values[-4:])
        kind = draw.choice(["Exp", "Relu", "Reshape", "Split", "Add", "MatMul"])
        if kind == "Split" and dims[0] % 2 == 0:
            add(kind, [name], [dims[0] // 2, 16], [dims[0] // 2, 16])
        elif kind == "MatMul":
            add(kind, [name], [draw.choice([1, 2, 4, 8, 16]), 16])
        else:
            others = {"Add": [draw.choice([other for other, its in values if its == dims])], "Reshape": ["s"]}
            add("Exp" if kind == "Split" else kind, [name, *others.get(kind, [])], dims)
    return model(*parts, *(field(12, value(*each)) for each in draw.sample(values[1:], min(len(values) - 1, draw.randint(1, 2)))))


class Sharing(CliTest):
    def test_views_and_pairs_never_take_more_than_copies(self):
        for seed in range(60):
            with self.subTest(seed=seed):
                name = self.write("net.onnx", random_model(seed))
                shared = self.peak(name, "-o", "plan.json", "--time-limit", "10m")
                self.assertLessEqual(shared, self.peak(name, "--views", "off", "--in-place", "off", "--time-limit", "10m"))
                self.expect(0, "verify", name, "plan.json")


def nested(depth):
    graph = b""
    for _ in range(depth):
        graph = field(2, "inner") + node("Loop", [], ["y"], graph_attribute("body", graph))
    return field(7, graph)


def deep_shapes(depth):
    text = b""
    for _ in range(depth):
        text = field(4, field(1, text))  # a sequence of sequences
    return model(field(11, field(1, "x") + field(2, text)))


def doubling(depth):
    """Functions that call the one below twice: 2^depth nodes."""
    functions = field(25, field(1, "F0") + field(10, "my") + field(4, "a") + field(5, "b") + field(7, field(1, "a") + field(2, "b") + field(4, "Neg")))
    for i in range(1, depth):
        call = lambda a, b: field(7, field(1, a) + field(2, b) + field(4, f"F{i - 1}") + field(7, "my"))
        functions += field(25, field(1, f"F{i}") + field(10, "my") + field(4, "a") + field(5, "b") + call("a", "t") + call("t", "b"))
    top = field(1, field(1, "x") + field(2, "y") + field(4, f"F{depth - 1}") + field(7, "my"))
    return model(field(11, value("x", [8])), top, field(12, value("y", [8]))) + functions


HUGE = 2**40
HARMFUL = {
    "two gigabytes are claimed": b"\x3a" + varint(2**31 - 1) + b"\x0a\x00",
    "2^64 bytes are claimed": b"\x3a" + varint(2**64 - 1),
    "a tensor claims 2^80 elements": model(tensor("w", [HUGE, HUGE])),
    "a tensor claims 2^40 elements and has one": model(tensor("w", [HUGE], INT64, field(9, b"12345678"))),
    "a value claims 2^80 elements": model(field(11, value("x", [HUGE, HUGE]))),
    "sizes overflow together": model(*(field(11, value(f"x{i}", [2**59])) for i in range(9))),
    "a dim is negative": model(field(11, value("x", [4, -4]))),
    "a node reads itself": model(node("Neg", ["y"], ["y"])),
    "two nodes read each other": model(field(13, value("a", [4])), node("Neg", ["b"], ["a"]), node("Neg", ["a"], ["b"])),
    "graphs are 10000 deep": nested(10000),
    "types are 10000 deep": deep_shapes(10000),
    "functions double 60 times": doubling(60),
    "a model of nothing": b"",
    "one zero byte": b"\x00",
    "text": b"this is no model",
    "a plan in JSON": b'{"schema":"stowage.plan/1"}',
}


class Damage(CliTest):
    def refused(self, name):
        """Within 1 GiB of memory, whatever a file claims."""
        done = self.expect(1, "plan", name, **self.bounded(2**30))
        self.assertIn(name, done.err)
        self.assertNotIn("bad_alloc", done.err)
        return done.err

    def test_what_means_harm_is_refused_within_bounded_memory(self):
        for title, content in HARMFUL.items():
            with self.subTest(title):
                self.refused(self.write("harm.onnx", content))

    def test_every_cut_is_refused_or_leaves_a_whole(self):
        whole = chain([256])
        for size in range(0, len(whole), 3):
            done = self.run_cli("plan", self.write("cut.onnx", whole[:size]))
            self.assertIn(done.returncode, (0, 1), done.err)

    def test_a_model_cut_inside_its_graph_says_so(self):
        self.assertIn("truncated", self.refused(self.write("cut.onnx", chain([256])[:100])))


if __name__ == "__main__":
    main(__doc__)
