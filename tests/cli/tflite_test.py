"""TFLite models through the command line: plans, copies with TFLM's offline plan, headers, and copies that are broken on purpose.

Usage: tflite_test.py PATH/TO/stowage [unittest's arguments]

Models are written by hand (tflite_model.py) and taken from STOWAGE_DATA, where that is. Sizes are compared with LiteRT's where the
module ai_edge_litert can be imported.
"""

import gzip
import json
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import unittest

import tflite_model
from support import PROJECT, CliTest, main

DATA = pathlib.Path(os.environ.get("STOWAGE_DATA", PROJECT / ".." / "shared" / "data")) / "tflite"
REAL = sorted(DATA.glob("*.tflite"))
NO_DATA = f"NO DATA: no .tflite files at {DATA}; set STOWAGE_DATA"
VARIANTS = [(), ("--views", "off"), ("--in-place", "off"), ("--views", "off", "--in-place", "off")]
ORACLE = """
import sys
from ai_edge_litert.interpreter import Interpreter, OpResolverType
details = Interpreter(sys.argv[1], experimental_op_resolver_type=OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES).get_tensor_details()
for tensor in details:
    size = tensor["dtype"]().itemsize
    for dim in tensor["shape"]:
        size *= int(dim)
    print(tensor["index"], size)
"""


def oracle():
    """A Python that has LiteRT, or nothing."""
    for python in (os.environ.get("STOWAGE_LITERT_PYTHON"), sys.executable):
        if python and subprocess.run([python, "-c", "import ai_edge_litert"], capture_output=True).returncode == 0:
            return python
    return None


def numbers_at(copy):
    """Where the numbers of the offline plan begin, and how many offsets there are: found without our reader."""
    for at in range(0, len(copy) - 16, 4):
        length, version, subgraphs, count = struct.unpack_from("<4I", copy, at)
        if version == 1 and 0 < subgraphs < 10 and length == 4 * (3 + count) and at + 4 + length <= len(copy):
            return at + 4, count
    raise AssertionError("the copy has no offline plan")


class Models(CliTest):
    def setUp(self):
        super().setUp()
        for name, make in tflite_model.MODELS.items():
            self.write(f"{name}.tflite", make())

    def offsets(self, name):
        copy = (self.dir / name).read_bytes()
        at, count = numbers_at(copy)
        return list(struct.unpack_from(f"<{count}i", copy, at + 12))

    def change(self, name, position, value):
        """Sets a number of the plan in the copy `name`; 0 is its version."""
        copy = bytearray((self.dir / name).read_bytes())
        at, _ = numbers_at(copy)
        struct.pack_into("<i", copy, at + 4 * position, value)
        return self.write("changed.tflite", bytes(copy))

    def test_models_are_planned_and_copies_hold(self):
        for name in tflite_model.MODELS:
            with self.subTest(model=name):
                before = (self.dir / f"{name}.tflite").read_bytes()
                self.expect(0, "plan", f"{name}.tflite", "-o", "copy.tflite")
                self.assertEqual(self.expect(0, "verify", f"{name}.tflite", "copy.tflite").out, "copy.tflite: valid\n")
                self.assertEqual((self.dir / f"{name}.tflite").read_bytes(), before)
                self.expect(0, "plan", f"{name}.tflite", "-o", "plan.json")
                self.expect(0, "verify", f"{name}.tflite", "plan.json")

    def test_a_chain_in_one_place_without_views_or_pairs_in_two(self):
        self.assertEqual(self.peak("chain.tflite"), 64)
        self.assertEqual(self.peak("chain.tflite", "--views", "off"), 64)
        self.assertEqual(self.peak("chain.tflite", "--views", "off", "--in-place", "off"), 128)
        self.expect(0, "plan", "chain.tflite", "-o", "copy.tflite")
        self.assertEqual(self.offsets("copy.tflite"), [0, 0, 0, 0, -1])

    def test_convert_leaves_pairs_out_where_they_are_off(self):
        self.expect(0, "convert", "chain.tflite", "graph.json")
        self.assertIn('"in_place"', self.read("graph.json"))
        self.assertIn('"view_of"', self.read("graph.json"))
        self.expect(0, "convert", "chain.tflite", "graph.json", "--in-place", "off", "--views", "off", "--alignment", "64")
        self.assertNotIn('"in_place"', self.read("graph.json"))
        self.assertNotIn('"view_of"', self.read("graph.json"))
        self.assertIn('"alignment":64', self.read("graph.json"))

    def test_packed_files_and_standard_input_are_read(self):
        packed = self.write("packed.tflite.gz", gzip.compress(tflite_model.chain()))
        self.assertEqual(self.peak(packed), 64)
        self.expect(0, "plan", packed, "-o", "copy.tflite.gz")
        self.expect(0, "verify", packed, "copy.tflite.gz")
        self.assertEqual(self.peak("-", stdin=tflite_model.chain()), 64)

    def test_the_input_is_never_overwritten(self):
        os.link(self.dir / "chain.tflite", self.dir / "other.tflite")
        os.symlink("chain.tflite", self.dir / "link.tflite")
        for output in ("chain.tflite", "./chain.tflite", "other.tflite", "link.tflite"):
            done = self.expect(2, "plan", "chain.tflite", "-o", output)
            self.assertIn("is the input, which is never overwritten", done.err)
        self.assertEqual((self.dir / "chain.tflite").read_bytes(), tflite_model.chain())

    def test_only_a_model_has_copies(self):
        self.expect(0, "convert", "chain.tflite", "graph.json")
        self.assertIn("INPUT must be a .tflite file", self.expect(2, "plan", "graph.json", "-o", "copy.tflite").err)

    def test_broken_copies_are_refused(self):
        self.expect(0, "plan", "branch.tflite", "-o", "copy.tflite")
        offsets = self.offsets("copy.tflite")
        for position, value, code, says in [
                (0, 2, 1, "has version 2"), (1, 7, 1, "is for 7 subgraphs"), (2, 3, 1, "is for 3 tensors"), (4, -9, 1, "neither an offset"),
                (4, 1 << 30, 3, "bounds"), (4, 4096, 3, "bounds"), (4, offsets[1] + 8, 3, "alignment")]:
            with self.subTest(position=position, value=value):
                done = self.expect(code, "verify", "branch.tflite", self.change("copy.tflite", position, value))
                self.assertIn(says, done.out + done.err)
        self.assertIn("has no metadata of this name", self.expect(1, "verify", "branch.tflite", "branch.tflite").err)
        self.assertIn("is for 3 subgraphs", self.expect(1, "verify", "chain.tflite", "copy.tflite").err)

    def test_live_tensors_at_one_place_are_found(self):
        self.expect(0, "plan", "branch.tflite", "--views", "off", "--in-place", "off", "-o", "copy.tflite")
        offsets = self.offsets("copy.tflite")  # flag x k y out | a b t r | a b r
        self.assertNotEqual(offsets[5], offsets[7])
        done = self.expect(3, "verify", "branch.tflite", self.change("copy.tflite", 3 + 6, offsets[7]))
        self.assertIn("overlap", done.out)

    def test_headers_compile(self):
        compiler = shutil.which("cc") or shutil.which("gcc")
        self.expect(0, "plan", "chain.tflite", "-o", "offsets.h")
        self.write("main.c", '#include "offsets.h"\n#include <stdio.h>\nint main(void) {\n'
                             '  printf("%d %d", (int)OFFSETS_PLANNED_SIZE, (int)offsets_offsets[OFFSETS_TENSOR_COUNT - 1]);\n  return 0;\n}\n')
        subprocess.run([compiler, "-std=c99", "-Wall", "-Wextra", "-Werror", "-o", "main", "main.c"], cwd=self.dir, check=True)
        self.assertEqual(subprocess.run([self.dir / "main"], capture_output=True, check=True).stdout, b"64 -1")

    def test_symbols_of_a_header_have_the_name_of_its_file(self):
        os.mkdir(self.dir / "folder.h")
        self.expect(0, "plan", "chain.tflite", "-o", "folder.h/my-net.h")
        self.assertIn("#define MY_NET_PLANNED_SIZE 64\n", self.read("folder.h/my-net.h"))
        self.assertNotIn("CHAIN", self.read("folder.h/my-net.h"))
        self.assertIn("without what a runtime keeps for itself", self.read("folder.h/my-net.h"))

    def test_a_plan_that_tflm_beats_is_left_to_it(self):
        done = self.expect(0, "plan", "chain.tflite", "--views", "off", "--in-place", "off", "--no-reuse", "-o", "copy.tflite")
        self.assertRegex(done.err, r"TFLM's own planner needs a head of \d+ bytes, less than the \d+ with this plan: the copy leaves all tensors to it")
        self.assertEqual(set(self.offsets("copy.tflite")), {-1})
        self.expect(0, "verify", "chain.tflite", "copy.tflite")
        self.assertNotIn("own planner", self.expect(0, "plan", "chain.tflite", "-o", "copy.tflite").err)

    def test_the_arena_is_what_tflm_needs_where_that_is_known(self):
        text = self.expect(0, "plan", "chain.tflite", "-o", "net.h").out
        figures = {name: int(value) for name, value in re.findall(r"#define NET_(\w+) (\d+)", self.read("net.h"))}
        self.assertEqual((figures["PLANNED_SIZE"], figures["TFLM_HEAD_SIZE"]), (64, 64))
        self.assertGreaterEqual(figures["ARENA_SIZE"], figures["TFLM_HEAD_SIZE"] + figures["TFLM_TAIL_SIZE"])
        self.assertRegex(text, rf"  TFLM +{figures['ARENA_SIZE']}   the arena that it needs with this plan \(tflite-micro ")
        text = self.expect(0, "plan", "branch.tflite", "-o", "net.h").out
        self.assertIn("what its kernel for IF takes", text)
        self.assertNotIn("_ARENA_SIZE", self.read("net.h"), "a program that relies on it must not compile")
        self.assertIn("#define NET_PLANNED_SIZE ", self.read("net.h"))

    def test_constants_are_weights_and_no_arena(self):
        text = self.expect(0, "plan", "chain.tflite").out
        summary = self.summary("chain.tflite")
        self.assertGreater(summary["weights_bytes"], 0)
        self.assertRegex(text, rf"\n  weights +{summary['weights_bytes']}   ")
        self.assertNotIn("persistent", text)

    def test_a_model_whose_parts_overlap_has_no_copy(self):
        found = PROJECT / "fuzz" / "corpus" / "fuzz_tflite" / "overlapping.tflite"  # by the fuzzer
        self.assertIn("parts of the file overlap", self.expect(1, "plan", found, "-o", "copy.tflite").err)
        self.assertFalse((self.dir / "copy.tflite").exists())

    def test_damaged_files_say_so(self):
        whole = tflite_model.loop()
        for size in range(0, len(whole), 7):
            done = self.run_cli("plan", self.write("cut.tflite", whole[:size]))
            self.assertIn(done.returncode, (0, 1))
            if done.returncode == 1:
                self.assertIn("cut.tflite", done.err)


@unittest.skipUnless(REAL, NO_DATA)
class RealModels(CliTest):
    def test_each_is_proven_least_and_never_above_fewer_freedoms(self):
        for path in REAL:
            peaks = [self.summary(path, *options) for options in VARIANTS]
            with self.subTest(model=path.name):
                self.assertTrue(peaks[0]["proven_optimal"])
                self.assertEqual(peaks[0]["peak_bytes"], min(each["peak_bytes"] for each in peaks))

    def test_each_has_a_copy_that_holds(self):
        for path in REAL:
            for options in VARIANTS:
                with self.subTest(model=path.name, options=options):
                    self.expect(0, "plan", path, *options, "-o", "copy.tflite")
                    self.expect(0, "verify", path, "copy.tflite")
                    self.assertIn(path.read_bytes(), (self.dir / "copy.tflite").read_bytes())
                    self.expect(0, "plan", "copy.tflite", *options, "-o", "again.tflite")
                    self.assertEqual((self.dir / "copy.tflite").read_bytes(), (self.dir / "again.tflite").read_bytes())

    def test_a_copy_with_any_offset_far_away_is_refused(self):
        for path in REAL:
            self.expect(0, "plan", path, "-o", "copy.tflite")
            copy = (self.dir / "copy.tflite").read_bytes()
            at, count = numbers_at(copy)
            for t, offset in enumerate(struct.unpack_from(f"<{count}i", copy, at + 12)):
                if offset < 0:
                    continue
                broken = bytearray(copy)
                struct.pack_into("<i", broken, at + 12 + 4 * t, 1 << 20)
                with self.subTest(model=path.name, tensor=t):
                    self.assertIn("bounds", self.expect(3, "verify", path, self.write("broken.tflite", bytes(broken))).out)

    @unittest.skipUnless(oracle(), "NO ORACLE: no Python with ai_edge_litert; set STOWAGE_LITERT_PYTHON")
    def test_sizes_are_those_of_litert(self):
        judged = 0
        for path in REAL:
            self.expect(0, "convert", path, "graph.json")
            ours = {i: tensor["size"] for i, tensor in enumerate(json.loads(self.read("graph.json"))["tensors"])}
            done = subprocess.run([oracle(), "-c", ORACLE, path], capture_output=True)
            if done.returncode != 0:  # it is strict about quantization, which is none of our business
                print(f"NO ORACLE for {path.name}: LiteRT refuses it", file=sys.stderr)
                continue
            judged += 1
            theirs = [tuple(map(int, line.split())) for line in done.stdout.decode().splitlines()]
            self.assertGreater(len(theirs), 0)
            with self.subTest(model=path.name):
                for index, size in theirs:
                    if index in ours:  # a runtime adds scratch tensors behind those of the file
                        self.assertEqual(ours[index], size, f"tensor {index}")
        self.assertGreater(judged, 0)


if __name__ == "__main__":
    main(__doc__)
