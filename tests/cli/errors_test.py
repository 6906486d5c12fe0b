"""What bad input and files that cannot be written say and leave behind.

Usage: errors_test.py PATH/TO/stowage [unittest's arguments]

Every test runs the program in a directory of its own, with inputs that it wrote there.
"""

import gzip
import io
import json
import os
import pickle
import struct
import unittest
import zipfile

from support import OLD, CliTest, chain, main, table_of

LIMIT = 2**62


def changed(change):
    """The chain after `change`, which is given the graph, its tensors and its ops."""
    graph = chain()
    change(graph, graph["tensors"], graph["ops"])
    return json.dumps(graph)


def spread(graph):
    """JSON over many lines, so that a line number means something."""
    return json.dumps(graph, indent=1)


# What is wrong, the file, and what its message must name beside the file: a line or a path inside, and the tensor or op.
BAD_GRAPHS = [
    ("truncated", spread(chain())[:-40], [r"bad\.json:\d+:"]),
    ("empty", "", []),
    ("no JSON", "graph", [r"bad\.json:1:"]),
    ("a comma too much", spread(chain()).replace('"size": 100,', '"size": 100,,', 1), [r"bad\.json:\d+:"]),
    ("a list", "[]", []),
    ("tensors of the wrong type", changed(lambda g, t, o: g.update(tensors={})), ["tensors"]),
    ("a tensor of the wrong type", changed(lambda g, t, o: t.append(7)), [r"tensors\[4\]"]),
    ("a size of the wrong type", changed(lambda g, t, o: t[1].update(size="100")), [r"tensors\[1\]\.size", "'a'"]),
    ("a fraction", changed(lambda g, t, o: t[1].update(size=1.5)), [r"tensors\[1\]\.size", "'a'"]),
    ("a name of the wrong type", changed(lambda g, t, o: o[1].update(name=1)), [r"ops\[1\]\.name"]),
    ("inputs of the wrong type", changed(lambda g, t, o: o[1].update(inputs=1)), [r"ops\[1\]\.inputs", "'op1'"]),
    ("no size", changed(lambda g, t, o: t[1].pop("size")), [r"tensors\[1\]", "'a'", "size"]),
    ("another version", changed(lambda g, t, o: g.update(schema="stowage.graph/2")), [r"stowage\.graph/2"]),
    ("no schema", changed(lambda g, t, o: g.pop("schema")), ["schema"]),
    ("a plan", '{"schema":"stowage.plan/1"}', [r"stowage\.plan/1"]),
    ("an unknown field", changed(lambda g, t, o: g.update(colour=1)), ["'colour'"]),
    ("an unknown field of a tensor", changed(lambda g, t, o: t[1].update(colour=1)), [r"tensors\[1\]", "'a'", "'colour'"]),
    ("an unknown field of an op", changed(lambda g, t, o: o[1].update(colour=1)), [r"ops\[1\]", "'op1'", "'colour'"]),
    ("an unknown field of a view", changed(lambda g, t, o: t[2].update(view_of={"tensor": 1, "at": 1})), [r"tensors\[2\]", "'b'", "'at'"]),
    ("an unknown flag", changed(lambda g, t, o: t[1].update(flags=["red"])), [r"tensors\[1\]", "'a'", "'red'"]),
    ("an unknown contiguity", changed(lambda g, t, o: o[1].update(contiguous_inputs="tight")),
     [r"ops\[1\]\.contiguous_inputs", "'op1'", "'tight'"]),
    ("a fill with no byte", changed(lambda g, t, o: o[1].update(zero_fill={"outputs": [0], "value": 300})),
     [r"ops\[1\]\.zero_fill\.value", "'op1'", "300"]),
    ("a fill of an output that is not there", changed(lambda g, t, o: o[1].update(zero_fill={"outputs": [1]})), [r"ops\[1\]", "'op1'"]),
    ("a reusable tensor that is not zero-copy", changed(lambda g, t, o: t[1].update(flags=["reusable"])), [r"tensors\[1\]", "'a'", "zero_copy"]),
    ("an unknown control", changed(lambda g, t, o: o[1].update(control="while")), [r"ops\[1\]\.control", "'op1'", "'while'"]),
    ("a loop without a body", changed(lambda g, t, o: o[1].update(control="loop")), [r"ops\[1\]", "'op1'"]),
    ("an unknown field in a body", changed(lambda g, t, o: o[1].update(control="call", bodies=[{"ops": [{"name": "deep", "colour": 1}]}])),
     [r"ops\[1\]\.bodies\[0\]\.ops\[0\]", "'deep'", "'colour'"]),
    ("a reader of another batch", changed(lambda g, t, o: (o[0].update(batch="one"), o[1].update(batch="two"))),
     [r"ops\[1\]\.inputs\[0\]", "'op1'", "'a'", "'one'", "'two'"]),
    ("an unknown pool", changed(lambda g, t, o: o[1].update(prefetch={"pool": 3})), [r"ops\[1\]\.prefetch", "'op1'"]),
    ("a pool of two sizes", changed(lambda g, t, o: g.update(pools=[{"name": "ring", "size": 1}, {"name": "ring", "size": 2}])),
     [r"pools\[1\]", "'ring'"]),
    ("a field twice", changed(lambda g, t, o: None).replace('"size": 100', '"size": 100, "size": 100', 1), ["tensors", "size"]),
    ("an unknown input", changed(lambda g, t, o: o[1].update(inputs=[9])), [r"ops\[1\]\.inputs\[0\]", "'op1'"]),
    ("an unknown output", changed(lambda g, t, o: o[1].update(outputs=[9])), [r"ops\[1\]\.outputs\[0\]", "'op1'"]),
    ("a negative id", changed(lambda g, t, o: o[1].update(outputs=[-1])), [r"ops\[1\]\.outputs\[0\]", "'op1'"]),
    ("an unknown base", changed(lambda g, t, o: t[1].update(view_of={"tensor": 9})), [r"tensors\[1\]\.view_of", "'a'"]),
    ("an unknown memory", changed(lambda g, t, o: t[1].update(memory=9)), [r"tensors\[1\]\.memory", "'a'"]),
    ("an unknown op in after", changed(lambda g, t, o: o[1].update(after=[9])), [r"ops\[1\]\.after\[0\]", "'op1'"]),
    ("a pair that does not exist", changed(lambda g, t, o: o[1].update(in_place=[[0, 7]])), [r"ops\[1\]\.in_place\[0\]", "'op1'"]),
    ("an output twice", changed(lambda g, t, o: o[1].update(outputs=[2, 2])), [r"ops\[1\]\.outputs\[1\]", "'op1'", "'b'"]),
    ("two producers", changed(lambda g, t, o: o[2].update(outputs=[2])), [r"ops\[2\]\.outputs\[0\]", "'op2'", "'b'"]),
    ("use before definition", changed(lambda g, t, o: o[0].update(inputs=[2])), [r"ops\[0\]\.inputs\[0\]", "'op0'", "'b'"]),
    ("a cycle through after", changed(lambda g, t, o: o[0].update(after=[2])), [r"ops\[0\]\.after\[0\]", "'op0'", "'op2'"]),
    ("an op after itself", changed(lambda g, t, o: o[1].update(after=[1])), [r"ops\[1\]\.after\[0\]", "'op1'"]),
    ("a view outside its base", changed(lambda g, t, o: t[2].update(view_of={"tensor": 1, "offset": 1})),
     [r"tensors\[2\]\.view_of", "'b'", "'a'"]),
    ("a view of itself", changed(lambda g, t, o: t[2].update(view_of={"tensor": 2})), [r"tensors\[2\]\.view_of", "'b'"]),
    ("a negative size", changed(lambda g, t, o: t[1].update(size=-1)), [r"tensors\[1\]\.size", "'a'"]),
    ("a size above 2^62", changed(lambda g, t, o: t[1].update(size=LIMIT + 1)), [r"tensors\[1\]\.size", "'a'"]),
    ("a size above 2^63", changed(lambda g, t, o: t[1].update(size=2**63)), [r"tensors\[1\]\.size", "'a'"]),
    ("a size above 2^64", changed(lambda g, t, o: t[1].update(size=2**64 + 100)), [r"tensors\[1\]\.size", "'a'"]),
    ("sizes that overflow together", changed(lambda g, t, o: [x.update(size=LIMIT // 2) for x in t]), [r"tensors\[\d\]\.size", "'[xaby]'"]),
    ("a negative workspace", changed(lambda g, t, o: o[1].update(workspaces=[{"size": -2}])), [r"ops\[1\]\.workspaces\[0\]", "'op1'"]),
    ("an alignment of 3", changed(lambda g, t, o: t[1].update(alignment=3)), [r"tensors\[1\]\.alignment", "'a'"]),
    ("an alignment of 0", changed(lambda g, t, o: t[1].update(alignment=0)), [r"tensors\[1\]\.alignment", "'a'"]),
    ("a memory with an alignment of 48", changed(lambda g, t, o: g["memories"][0].update(alignment=48)),
     [r"memories\[0\]\.alignment", "'cpu'"]),
    ("an op that writes a constant", changed(lambda g, t, o: t[2].update(flags=["constant"])), [r"ops\[1\]\.outputs\[0\]", "'op1'", "'b'"]),
]

HEADER = "id,lower,upper,size,alignment,gaps,offset\n"
GOOD_ROW = "first,0,2,8,1,,\n"
BAD_TABLES = [
    ("empty", "", []),
    ("no size column", "id,lower,upper\na,0,1\n", [":1:", "'size'"]),
    ("no upper column", "id,lower,size\na,0,1\n", [":1:", "'upper'"]),
    ("an unknown column", "id,lower,upper,size,colour\na,0,1,1,red\n", [":1:", "'colour'"]),
    ("a column twice", "id,lower,upper,size,begin\na,0,1,1,0\n", [":1:", "'begin'"]),
    ("too few fields", HEADER + GOOD_ROW + "b,0\n", [":3:"]),
    ("too many fields", HEADER + GOOD_ROW + "b,0,2,8,1,,,,\n", [":3:"]),
    ("upper below lower", HEADER + GOOD_ROW + "b,5,3,8,1,,\n", [":3:", "'b'", "'upper'"]),
    ("upper at lower", HEADER + GOOD_ROW + "b,5,5,8,1,,\n", [":3:", "'b'", "'upper'"]),
    ("a size that is no number", HEADER + GOOD_ROW + "b,0,2,big,1,,\n", [":3:", "'b'", "'size'", "'big'"]),
    ("a fraction", HEADER + GOOD_ROW + "b,0,2,1.5,1,,\n", [":3:", "'b'", "'size'"]),
    ("a lower that is no number", HEADER + GOOD_ROW + "b,x,2,8,1,,\n", [":3:", "'b'", "'lower'"]),
    ("an offset that is no number", HEADER + GOOD_ROW + "b,0,2,8,1,,x\n", [":3:", "'b'", "'offset'"]),
    ("an empty size", HEADER + GOOD_ROW + "b,0,2,,1,,\n", [":3:", "'b'", "'size'"]),
    ("a negative size", HEADER + GOOD_ROW + "b,0,2,-8,1,,\n", [":3:", "'b'", "'size'"]),
    ("a size above 2^62", HEADER + GOOD_ROW + f"b,0,2,{LIMIT + 1},1,,\n", [":3:", "'b'", "'size'"]),
    ("a size above 2^64", HEADER + GOOD_ROW + f"b,0,2,{2**64 + 8},1,,\n", [":3:", "'b'", "'size'"]),
    ("sizes that overflow together", HEADER + GOOD_ROW + f"b,0,2,{LIMIT - 7},1,,\n", [":3:", "'b'"]),
    ("an alignment of 3", HEADER + GOOD_ROW + "b,0,2,8,3,,\n", [":3:", "'b'", "'alignment'"]),
    ("an id twice", HEADER + GOOD_ROW + "first,0,2,8,1,,\n", [":3:", "'first'"]),
    ("a gap that is none", HEADER + GOOD_ROW + "b,0,9,8,1,3,\n", [":3:", "'b'", "'gaps'"]),
    ("a gap outside the life", HEADER + GOOD_ROW + "b,0,9,8,1,7-12,\n", [":3:", "'b'", "'gaps'"]),
]


class BadInput(CliTest):
    def check(self, name, patterns):
        """Every command refuses the file, says where and why, and leaves outputs alone."""
        suffix = ".csv" if ".csv" in name else ".json"
        old = self.write("old" + suffix, OLD)
        new = "new" + suffix
        before = sorted(os.listdir(self.dir))
        for line in (f"plan {name}", f"plan {name} --json", f"plan {name} -o {new}", f"plan {name} -o {old}", f"plan {name} -o -",
                     f"convert {name} {new}", f"convert {name} {old}", f"convert {name} -", f"compare {name}", f"verify {name} {old}"):
            done = self.expect(1, *line.split())
            self.assertEqual(done.out, "", line)
            self.assertTrue(done.err.startswith(f"stowage: {name}:"), done.err)
            self.assertEqual(done.err.count("\n"), 1, done.err)
            for pattern in patterns:
                self.assertRegex(done.err, pattern, line)
            self.assertFalse((self.dir / new).exists(), line)
            self.assertEqual((self.dir / old).read_bytes(), OLD, line)
        self.assertEqual(sorted(os.listdir(self.dir)), before, "a file was left behind")

    def test_a_race_between_streams(self):
        """The graph is one, but no plan of it can be right."""
        graph = chain()
        graph["tensors"].append({"name": "again", "size": 50, "view_of": {"tensor": 1, "offset": 0}})
        graph["ops"].append({"name": "racer", "outputs": [4], "stream": 1})
        self.write("race.json", graph)
        for command in (("plan", "race.json", "-o", "plan.json"), ("compare", "race.json")):
            self.assertRegex(self.expect(1, *command).err, r"race\.json: op 'op0' .+ tensor 'a' .+ op 'racer' .+ tensor 'again'")
        self.assertFalse((self.dir / "plan.json").exists())

    def test_graphs(self):
        for what, text, patterns in BAD_GRAPHS:
            with self.subTest(what=what):
                self.check(self.write("bad.json", text), patterns)

    def test_tables(self):
        for what, text, patterns in BAD_TABLES:
            with self.subTest(what=what):
                self.check(self.write("bad.csv", text), patterns)

    def test_a_gzip_that_ends_early_or_is_damaged(self):
        packed = gzip.compress(json.dumps(chain()).encode())
        damaged = packed[:-8] + bytes([packed[-8] ^ 1]) + packed[-7:]
        for content in (packed[:-1], packed[:-9], packed[: len(packed) // 2], packed[:12], packed[:3], damaged):
            for name in ("bad.json.gz", "bad.csv.gz"):
                with self.subTest(name=name, bytes=len(content)):
                    self.check(self.write(name, content), ["gzip"])

    def test_gzip_that_holds_far_more_than_files_usually_do(self):
        self.write("bomb.json.gz", " " * (80 << 20))
        done = self.expect(1, "plan", "bomb.json.gz", **self.bounded(1 << 30))
        self.assertRegex(done.err, r"bomb\.json\.gz: .*unpack it first")

    @unittest.skipIf("ASAN_OPTIONS" in os.environ, "under ASan a failed allocation ends the program")
    def test_input_without_end(self):
        done = self.expect(1, "plan", "/dev/zero", **self.bounded(1 << 30))
        self.assertEqual(done.err, "stowage: /dev/zero: cannot read: there is not enough memory for its content\n")

    def test_models_of_other_kinds_are_named_with_what_to_do(self):
        archive = io.BytesIO()
        with zipfile.ZipFile(archive, "w") as writer:
            writer.writestr("net/data.pkl", b"")
        header = json.dumps({"w": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}).encode()
        kinds = [
            (b"GGUF\x03\0\0\0", "GGUF"),
            (archive.getvalue(), "PyTorch archive"),
            (pickle.dumps({"state": [1, 2]}), "pickle"),
            (struct.pack("<Q", len(header)) + header + b"\0" * 4, "safetensors"),
            (b"\x89HDF\r\n\x1a\n", "HDF5"),
            (b"module {\n  func.func @f()\n}\n", "MLIR"),
            (b'<ir_version: 8, opset_import: ["" : 13]>\nagraph (float[N] x) => (float[N] y) { y = Relu(x) }\n', "ONNX in text"),
        ]
        for content, kind in kinds:
            for name in ("model", "model.bin", "model.csv"):
                with self.subTest(kind=kind, name=name):
                    done = self.expect(1, "plan", self.write(name, content))
                    self.assertIn(kind, done.err)
                    self.assertIn("not supported; ", done.err)

    def test_a_file_that_is_not_there(self):
        self.check("missing.json", ["No such file or directory"])
        self.check("missing.csv", ["No such file or directory"])

    def test_a_directory(self):
        (self.dir / "folder.json").mkdir()
        self.check("folder.json", ["directory"])

    def test_standard_input_is_named_as_given(self):
        self.assertTrue(self.expect(1, "plan", "-", stdin=b"{").err.startswith("stowage: -:"))
        self.assertTrue(self.expect(1, "plan", "-", stdin=b"id,size\n").err.startswith("stowage: -:1:"))

    def test_a_path_is_named_as_given(self):
        (self.dir / "sub").mkdir()
        (self.dir / "sub" / "bad.json").write_text("{")
        for path in ("sub/bad.json", "./sub/../sub/bad.json", str(self.dir / "sub" / "bad.json")):
            self.assertTrue(self.expect(1, "plan", path).err.startswith(f"stowage: {path}:"))


class Unwritable(CliTest):
    def setUp(self):
        super().setUp()
        self.graph = self.write("chain.json", chain())
        self.table = self.write("table.csv", table_of([(0, 2, 3)]))

    def test_a_missing_directory(self):
        for line in (f"plan {self.graph} -o missing/plan.json", f"plan {self.table} -o missing/out.csv",
                     f"convert {self.graph} missing/graph.json", f"convert {self.graph} missing/graph.json.gz"):
            with self.subTest(line=line):
                done = self.expect(1, *line.split())
                self.assertEqual(done.out, "")
                self.assertIn(f"stowage: {line.split()[-1]}: ", done.err)
        self.assertEqual(sorted(os.listdir(self.dir)), ["chain.json", "table.csv"])

    def test_a_directory_in_its_place(self):
        (self.dir / "folder.json").mkdir()
        self.assertIn("folder.json", self.expect(1, "plan", self.graph, "-o", "folder.json").err)

    def test_a_file_in_place_of_its_directory(self):
        self.write("old", OLD)
        self.assertIn("old/plan.json", self.expect(1, "plan", self.graph, "-o", "old/plan.json").err)
        self.assertEqual((self.dir / "old").read_bytes(), OLD)

    def test_a_read_only_file_stays_as_it_was(self):
        if os.geteuid() == 0:
            self.skipTest("root may write everything")
        self.write("old.json", OLD)
        (self.dir / "old.json").chmod(0o444)
        self.expect(1, "plan", self.graph, "-o", "old.json")
        self.assertEqual((self.dir / "old.json").read_bytes(), OLD)

    def test_an_output_is_never_an_input_whatever_its_name(self):
        (self.dir / "sub").mkdir()
        os.symlink("graph.json", self.dir / "symbolic.json")
        content = (self.dir / self.graph).read_bytes()
        self.write("graph.json", content)
        os.link(self.dir / "graph.json", self.dir / "hard.json")
        self.write("previous.json", self.expect(0, "plan", "graph.json", "-o", "-").out)
        for name in ("graph.json", "./graph.json", "sub/../graph.json", self.dir / "graph.json", "symbolic.json", "hard.json"):
            for line in ("plan graph.json -o", "plan graph.json --trace", "plan graph.json --snapshot", "plan graph.json --html",
                         "explain graph.json --html", "convert graph.json", "diff graph.json graph.json --html"):
                with self.subTest(line=line, name=name):
                    self.assertIn("is the input, which is never overwritten", self.expect(2, *line.split(), name).err)
        self.assertIn("is the input", self.expect(2, "plan", "graph.json", "--previous", "previous.json", "-o", "previous.json").err)
        self.assertEqual((self.dir / "graph.json").read_bytes(), content)

    def test_two_outputs_are_never_one_file(self):
        os.symlink("both.json", self.dir / "link.json")
        for line in ("-o both.json --trace both.json", "-o both.json --snapshot ./both.json", "--trace both.json --html link.json"):
            self.assertRegex(self.expect(2, "plan", self.graph, *line.split()).err, r"^stowage: (-o|--\w+) and --\w+ would write one file")
        self.assertIn("only one output", self.expect(2, "plan", self.graph, "-o", "-", "--trace", "-").err)
        self.assertFalse((self.dir / "both.json").exists())
        self.expect(0, "plan", self.graph, "-o", "/dev/null", "--trace", "/dev/null")

    def test_a_suffix_that_cannot_be_written_lists_those_that_can(self):
        for name in ("out.onnx", "out.xyz", "out.csv", "out.xyz.gz"):
            done = self.expect(2, "plan", self.graph, "-o", name)
            self.assertEqual(done.err, f"stowage: '{name}': the plan of a graph can be .json (a plan), .h (a C header), "
                                       ".tflite (a copy of a .tflite model, with the plan); each also with .gz\n")
        self.assertIn("can be .csv", self.expect(2, "plan", self.table, "-o", "out.json").err)
        self.assertIn("can be .json (a graph), .csv (a packing problem)", self.expect(2, "convert", self.graph, "out.xml").err)
        self.assertEqual(list(self.dir.glob("out*")), [])

    def test_names_cannot_command_the_terminal(self):
        evil = "\033]0;owned\007\033[31mred\u202edlrow\nline"
        graph = chain()
        graph["name"] = evil
        for each in graph["tensors"] + graph["ops"]:
            each["name"] = evil
            each.pop("in_place", None)
        good = self.write("evil.json", graph)
        graph["tensors"][1]["size"] = "large"
        bad = self.write("bad.json", graph)
        self.expect(0, "plan", good, "-o", "plan.json")
        plan = json.loads(self.read("plan.json"))
        plan["placements"][1]["offset"] = plan["placements"][2]["offset"] = 0
        self.write("overlap.json", plan)
        for code, *line in ((0, "plan", good), (0, "explain", good), (0, "diff", good, good), (0, "compare", good), (3, "verify", good, "overlap.json"),
                            (1, "plan", bad)):
            with self.subTest(line=line):
                done = self.expect(code, *line)
                for harm in ("\033", "\007", "\u202e"):
                    self.assertNotIn(harm, done.out + done.err)
        shown = self.on_terminal("plan", good, TERM="xterm")
        self.assertIn("\\u001b]0;owned\\u0007\\u001b[31mred\\u202edlrow\\u000aline", shown)
        self.assertNotIn("\033[31m", shown)
        self.assertIn("\033[1m", shown, "colours of our own stay")
        self.assertIn("tensor '\\u001b]0;owned\\u0007", self.expect(1, "plan", bad).err)

    def test_a_full_disk(self):
        if not os.path.exists("/dev/full"):
            self.skipTest("no /dev/full")
        for line in (f"plan {self.graph} -o /dev/full", f"convert {self.graph} /dev/full"):
            done = self.expect(1, *line.split())
            self.assertEqual((done.out, done.err), ("", "stowage: /dev/full: cannot write: No space left on device\n"))
        lines = [f"plan {self.graph}", f"plan {self.graph} --json", f"plan {self.graph} -o -", f"plan {self.table} -o -", f"compare {self.graph}",
                 f"convert {self.graph} -", "completion bash", "--help", "plan --help", "--version"]
        with open("/dev/full", "wb") as full:
            for line in lines:
                with self.subTest(line=line):
                    self.expect(1, *line.split(), stdout=full)


if __name__ == "__main__":
    main(__doc__)
