"""`stowage info`, and the options that say how large the inputs of a model are.

Usage: info_test.py PATH/TO/stowage [unittest's arguments]
"""

import json
import os
import re
import shlex
import subprocess
import unittest

import support
from onnx_bytes import FLOAT, INT64, field, integer_attribute, model, node, tensor, value
from support import PROJECT, CliTest, chain, main, table_of


def declared(number, name, dims):
    """A value whose dims may be None: neither a number nor a name."""
    content = b"".join(field(1, b"" if dim is None else field(2 if isinstance(dim, str) else 1, dim)) for dim in dims)
    return field(number, field(1, name) + field(2, field(1, field(1, FLOAT) + field(2, content))))


def relu(dims):
    """x -> Relu -> y, with weights that nothing reads."""
    return model(declared(11, "x", dims), tensor("w", [16, 16]), node("Relu", ["x"], ["y"]), field(12, field(1, "y")))


class Info(CliTest):
    def info(self, name, *options):
        return json.loads(self.expect(0, "info", name, "--json", *options).out)

    def test_it_says_what_a_model_contains(self):
        info = self.info(self.write("net.onnx", relu(["batch", 3, None])))
        self.assertEqual(info["schema"], "stowage.info/1")
        self.assertEqual((info["format"], info["name"], info["opsets"]), ("onnx", "net", {"ai.onnx": 20}))
        self.assertEqual(info["inputs"], [{"name": "x", "dtype": "float32", "shape": ["batch", 3, None]}])
        self.assertEqual((info["dims"], info["weights_bytes"], info["ops"], info["unsupported"]), (["batch"], 1024, {"Relu": 1}, []))

    def test_its_options_are_those_with_which_it_can_be_planned(self):
        name = self.write("net.onnx", relu(["a b", "it's", None]))
        options = self.info(name)["options"]
        self.assertEqual(options, ["--dim", "a b=1", "--dim", "it's=1", "--shape", "x=1x1x1"])
        self.expect(0, "plan", name, *options)
        line = re.search(r"possible with (.*)", self.expect(0, "info", name).out).group(1)
        self.assertEqual(shlex.split(line), options)
        given = self.info(name, "--dim", "it's=7")["options"]
        self.assertEqual(given, ["--dim", "a b=1", "--dim", "it's=7", "--shape", "x=1x7x1"])
        self.assertIn("needs no options", self.expect(0, "info", self.write("known.onnx", relu([2, 3]))).out)

    def test_numbers_that_a_model_does_not_take_are_not_proposed(self):
        rows_of_8 = field(9, (2**64 - 1).to_bytes(8, "little") + (8).to_bytes(8, "little"))
        parts = [declared(11, "x", ["n", 4]), tensor("s", [2], INT64, rows_of_8), node("Reshape", ["x", "s"], ["y"]), field(12, field(1, "y"))]
        name = self.write("net.onnx", model(*parts))
        info = self.info(name)
        self.assertEqual((info["options"], info["unsupported"]), (["--dim", "n=2"], []))
        odd = self.info(name, "--dim", "n=3")
        self.assertEqual((odd["options"], len(odd["unsupported"])), (["--dim", "n=3"], 1))

    def test_dims_that_are_sums_of_others_get_their_sum(self):
        joined = node("Concat", ["past", "new"], ["all"], integer_attribute("axis", 0))
        parts = [declared(11, "past", ["p", 4]), declared(11, "new", ["n", 4]), declared(11, "mask", ["p + n"]), joined,
                 node("Neg", ["mask"], ["y"]), declared(12, "all", ["p + n", 4]), field(12, field(1, "y"))]
        name = self.write("net.onnx", model(*parts))
        info = self.info(name)
        self.assertEqual((info["options"], info["unsupported"]), (["--dim", "n=1", "--dim", "p=1", "--dim", "p + n=2"], []))
        self.assertEqual(self.info(name, "--dim", "p=6")["options"], ["--dim", "n=1", "--dim", "p=6", "--dim", "p + n=7"])
        self.assertEqual(len(self.info(name, "--dim", "p + n=5")["unsupported"]), 1, "what is given is not changed")

    def test_what_cannot_be_planned_is_listed_with_its_reasons(self):
        parts = [declared(11, "x", ["n", 4]), node("NonZero", ["x"], ["z"]), node("Neg", ["z"], ["a"]), node("Nonsense", ["x"], ["b"]),
                 field(12, field(1, "a")), field(12, field(1, "b"))]
        name = self.write("net.onnx", model(*parts))
        info = self.info(name)
        self.assertEqual(info["unsupported"], [
            {"where": "node 'the NonZero' (NonZero)", "reason": "the output of NonZero depends on data", "tensors": 2},
            {"where": "node 'the Nonsense' (Nonsense)", "reason": "nothing is known about the operator Nonsense", "tensors": 1}])
        text = self.expect(0, "info", name).out
        self.assertIn("not possible, tried with --dim n=1", text)
        self.assertIn("the output of NonZero depends on data (2 tensors)", text)
        self.expect(1, "plan", name, "--dim", "n=1")

    def test_every_format_has_it(self):
        info = self.info(self.write("graph.json", chain()))
        self.assertEqual((info["format"], info["name"], info["ops"], info["options"]), ("graph", "chain", {"NEG": 3}, []))
        self.assertEqual([each["name"] for each in info["inputs"]], ["x"])
        self.assertEqual(self.info(self.write("table.csv", table_of([(0, 2, 8)])))["format"], "csv")
        self.assertIn("GGUF", self.expect(1, "info", self.write("net.gguf", b"GGUF\3\0\0\0")).err)

    def test_names_cannot_control_the_terminal(self):
        text = self.expect(0, "info", self.write("net.onnx", relu(["a\033[2Jb\nplan"]))).out
        self.assertNotIn("\033", text)
        self.assertNotIn("\nplan", text)


class OpenDims(CliTest):
    def test_errors_name_all_dims_that_are_missing(self):
        name = self.write("net.onnx", relu(["batch", "seq len", None]))
        done = self.expect(1, "plan", name)
        self.assertIn("--dim batch=N --dim 'seq len'=N --shape x=NxNxN", done.err)
        done = self.expect(1, "plan", name, "--dim", "batch=2")
        self.assertIn("give them: --dim 'seq len'=N", done.err)

    def test_errors_name_all_dims_that_do_not_exist_and_those_that_do(self):
        name = self.write("net.onnx", relu(["N", "seq"]))
        done = self.expect(1, "plan", name, "--dim", "batch=1", "--dim", "length=2")
        self.assertIn("no shape in the model has a dim 'batch', 'length'; its dims are 'N', 'seq'", done.err)
        self.assertIn("no dim in it has a name", self.expect(1, "plan", self.write("known.onnx", relu([2])), "--dim", "batch=1").err)

    def test_a_shape_sets_dims_with_and_without_a_name(self):
        name = self.write("net.onnx", relu(["batch", None]))
        self.assertEqual(self.peak(name, "--shape", "x=4x16", "--in-place", "off", "-o", "plan.json"), 512)
        self.expect(0, "verify", name, "plan.json", "--shape", "x=4x16")
        self.assertEqual(self.peak(name, "--shape", "x=4x16", "--dim", "batch=4", "--in-place", "off"), 512)
        self.assertIn("cannot have the shape", self.expect(1, "plan", name, "--shape", "x=4x16", "--dim", "batch=5").err)
        self.assertIn("cannot have the shape", self.expect(1, "plan", name, "--shape", "x=4").err)
        self.assertIn("no input 'z'; its inputs are 'x'", self.expect(1, "plan", name, "--shape", "z=4").err)
        unranked = model(field(11, field(1, "x") + field(2, field(1, field(1, FLOAT)))), node("Relu", ["x"], ["y"]), field(12, field(1, "y")))
        self.assertEqual(self.peak(self.write("any.onnx", unranked), "--shape", "x=", "--in-place", "off"), 128)
        for wrong in ("x", "x=a", "x=1x", "x=-1", "=1", "x=1,2"):
            self.assertIn("is not a shape", self.expect(2, "plan", name, "--shape", wrong).err)
        self.assertIn("only onnx does", self.expect(1, "plan", self.write("graph.json", chain()), "--shape", "x=4").err)

    def test_minus_one_is_an_unknown_dim(self):
        name = self.write("net.onnx", relu([-1, 16]))
        self.assertIn("--shape x=Nx16", self.expect(1, "plan", name).err)
        self.assertEqual(self.peak(name, "--shape", "x=4x16", "--in-place", "off"), 512)
        self.assertIn("negative", self.expect(1, "plan", self.write("below.onnx", relu([-2, 16]))).err)

    def test_unsorted_nodes_are_planned(self):
        values = [field(11, value("x", [64])), field(12, field(1, "y"))]
        nodes = [node("Neg", ["b"], ["y"]), node("Exp", ["x"], ["a"]), node("Relu", ["a"], ["b"])]
        name = self.write("net.onnx", model(*values, *nodes))
        self.assertEqual(self.summary(name, "-o", "plan.json")["ops"], 3)
        self.expect(0, "verify", name, "plan.json")
        self.expect(0, "convert", name, "graph.json")
        self.assertEqual([op["kind"] for op in json.loads(self.read("graph.json"))["ops"]], ["Exp", "Relu", "Neg"])


@unittest.skipIf("ASAN_OPTIONS" in os.environ, "a sanitizer needs far more addresses than the script allows")
class TryModels(CliTest):
    def test_it_counts_what_becomes_of_every_model_in_a_folder(self):
        (self.dir / "models" / "more").mkdir(parents=True)
        strange = model(declared(11, "x", [4]), node("Nonsense", ["x"], ["y"]), field(12, field(1, "y")))
        for name, content in (("a", relu(["n", None])), ("b", relu([2])), ("more/c", strange), ("more/d", b"no model")):
            self.write(f"models/{name}.onnx", content)
        command = [str(PROJECT / "scripts" / "try_models.sh"), str(self.dir / "models"), support.STOWAGE]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, env=self.environment(TABLE=str(self.dir / "table")))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        for line in ("4 models", "2 planned", "2 refused", "1 nothing is known about the operator Nonsense", "0 crashed"):
            self.assertRegex(done.stdout, rf"(?m)^ *{line}$")
        self.assertEqual([line.split("\t")[0] for line in self.read("table").splitlines()], ["planned", "planned", "refused", "refused"])

    def test_a_program_that_crashes_is_counted_and_fails(self):
        self.write("net.onnx", relu([2]))
        self.write("crash", "#!/bin/sh\nkill -SEGV $$\n")
        (self.dir / "crash").chmod(0o755)
        command = [str(PROJECT / "scripts" / "try_models.sh"), str(self.dir), str(self.dir / "crash")]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stdout, r"(?m)^ *1 crashed$")


if __name__ == "__main__":
    main(__doc__)
