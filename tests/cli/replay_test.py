"""The contract of `stowage replay`: figures, formats, exit codes.

Usage: replay_test.py PATH/TO/stowage [unittest's arguments]

Every test runs the program in a directory of its own, with inputs that it wrote there.
"""

import json
import os
import re
import subprocess
import sys
import unittest

from support import FORMATS, PROJECT, CliTest, help_of, main

TRACE = "op,id,size,stream\na,0,1000,0\na,1,3000000,0\nf,0,1000,0\na,2,500,1\nf,1,3000000,1\n"
LOG = ("Thread,Time,Action,Pointer,Size,Stream\n1,0,allocate,0x10,1000,0x0\n1,0,allocate failure,0x0,7,0x0\n1,0,allocate,0x20,3000000,0x0\n"
       "1,0,free,0x10,1000,0x0\n1,0,allocate,0x10,500,0x7f\n1,0,free,0x20,3000000,0x7f\n")
FIELDS = ["schema", "allocator", "device", "events", "peak_requested_bytes", "peak_reserved_bytes", "waste", "ns_per_event", "failures", "creates",
          "maps", "unmaps", "access_calls", "event_waits"]
EXAMPLE = PROJECT / "examples" / "serving_trace.csv"
ONE_STREAM = ["caching"]
MIB = 2**20


def allocators(test):
    return re.search(r"--allocator \S*\{(.*?)\}", help_of(test, "replay")).group(1).split(",")


class Replay(CliTest):
    def setUp(self):
        super().setUp()
        self.trace = self.write("trace.csv", TRACE)

    def report(self, *arguments, **more):
        return json.loads(self.expect(0, "replay", *arguments, "--json", **more).out)

    def test_json_has_the_fields_of_the_schema(self):
        report = self.report(self.trace, "--allocator", "torch-native")
        self.assertEqual(list(report), FIELDS)
        self.assertEqual(report["schema"], "stowage.replay/1")
        self.assertEqual((report["allocator"], report["device"], report["events"]), ("torch-native", "sim", 5))
        self.assertEqual(report["peak_requested_bytes"], 3001000)
        self.assertEqual(report["peak_reserved_bytes"], 24 * MIB, "2 for small blocks on each stream, 20 for the large one")
        self.assertAlmostEqual(report["waste"], 1 - 3001000 / (24 * MIB))
        self.assertGreater(report["ns_per_event"], 0)
        self.assertEqual((report["failures"], report["creates"], report["maps"]), (0, 3, 0))

    def test_json_is_one_line_and_nothing_else(self):
        done = self.expect(0, "replay", self.trace, "--json")
        self.assertEqual(done.out.count("\n"), 1)
        self.assertEqual(done.err, "")

    def test_every_allocator_serves_on_every_device(self):
        one_stream = self.write("one.csv", re.sub(r"(?m),\d$", ",0", EXAMPLE.read_text()))
        for allocator in allocators(self):
            for device in ("sim", "cpu"):
                with self.subTest(allocator=allocator, device=device):
                    report = self.report(one_stream if allocator in ONE_STREAM else EXAMPLE, "--allocator", allocator, "--device", device, "--passes", "2")
                    self.assertEqual((report["allocator"], report["device"]), (allocator, device))
                    self.assertEqual(report["failures"], 0)
                    self.assertGreaterEqual(report["peak_reserved_bytes"], report["peak_requested_bytes"])

    def test_logs_of_rmm_packed_files_and_standard_input_are_the_same_trace(self):
        expected = self.report(self.trace, "--allocator", "torch-expandable")
        expected.pop("ns_per_event")
        for name, stdin in ((self.write("log.csv", LOG), b""), (self.write("trace.csv.gz", TRACE), b""), ("-", TRACE.encode())):
            report = self.report(name, "--allocator", "torch-expandable", stdin=stdin)
            report.pop("ns_per_event")
            self.assertEqual(report, expected, name)

    def test_the_second_pass_has_its_memory_already(self):
        arguments = (self.trace, "--allocator", "torch-native", "--lag", "1")
        first, second = self.report(*arguments), self.report(*arguments, "--passes", "2")
        self.assertEqual(first["creates"], 3)
        self.assertEqual(second["creates"], 0)
        self.assertEqual(second["events"], 5)
        self.assertEqual(second["peak_reserved_bytes"], first["peak_reserved_bytes"])

    def test_lag_keeps_what_another_stream_used(self):
        rows = "".join(f"a,{i},12000000,0\nf,{i},12000000,1\n" for i in range(10))
        trace = self.write("streams.csv", "op,id,size,stream\n" + rows)
        reserved = [self.report(trace, "--allocator", "torch-native", "--lag", lag)["peak_reserved_bytes"] for lag in (0, 4, 1000)]
        self.assertEqual(reserved, [12 * MIB, 36 * MIB, 120 * MIB])

    def test_beyond_the_limit_allocations_fail_and_are_counted(self):
        done = self.expect(0, "replay", self.trace, "--allocator", "buffers", "--limit", "1MiB", "--json")
        report = json.loads(done.out)
        self.assertEqual(report["failures"], 1)
        self.assertEqual(report["peak_requested_bytes"], 1000)
        self.assertIn("3000000", done.err)
        self.assertEqual(self.report(self.trace, "--allocator", "buffers", "--limit", "4MiB")["failures"], 0)

    def test_text_is_for_people_and_fits_a_terminal(self):
        trace = self.write("serving.csv", EXAMPLE.read_text())
        done = self.expect(0, "replay", trace, "--allocator", "torch-expandable", "--passes", "2")
        self.assertRegex(done.out, r"^serving\.csv: \d+ events, torch-expandable on sim, pass 2\n")
        for word in ("requested", "reserved", "% waste", " ns ", " creates, "):
            self.assertIn(word, done.out)
        self.assertLessEqual(max(map(len, done.out.splitlines())), 100)

    def test_an_empty_trace_takes_nothing(self):
        report = self.report(self.write("empty.csv", "op,id,size,stream\n"))
        self.assertEqual((report["events"], report["peak_reserved_bytes"], report["waste"], report["ns_per_event"]), (0, 0, 0, 0))

    def test_bad_traces_exit_with_1_and_name_the_line(self):
        for rows, message in (("a,0,1,0\na,0,1,0\n", "bad.csv:3: id '0' is allocated again"), ("f,0,1,0\n", "bad.csv:2: id '0' is freed"),
                              ("a,0,-1,0\n", "bad.csv:2: column 'size'"), ("a,0,x,0\n", "bad.csv:2: column 'size'"), ("a,0,1\n", "bad.csv:2: 3 fields")):
            done = self.expect(1, "replay", self.write("bad.csv", "op,id,size,stream\n" + rows))
            self.assertIn(message, done.err)
            self.assertEqual(done.out, "")
        self.assertIn("bad.csv:1: column 'stream' is missing", self.expect(1, "replay", self.write("bad.csv", "op,id,size\n")).err)
        self.assertIn("nowhere.csv", self.expect(1, "replay", "nowhere.csv").err)

    def test_cuda_is_not_there_and_says_so(self):
        nowhere = self.environment(STOWAGE_CUDA_DRIVER="/nowhere/libcuda.so.1")
        done = self.expect(1, "replay", self.trace, "--device", "cuda", env=nowhere)
        self.assertRegex(done.err, r"no CUDA driver: /nowhere/libcuda\.so\.1 could not be loaded")

    @unittest.skipUnless("STOWAGE_TEST_CUDA" in os.environ, "a driver to test with is named by ctest only")
    def test_cuda_is_replayed_as_the_simulated_device_is(self):
        driver = self.environment(STOWAGE_CUDA_DRIVER=os.environ.get("STOWAGE_TEST_CUDA", ""))
        for allocator in ("stream", "plan-ahead"):
            options = ("--allocator", allocator, "--passes", "2", "--json")
            here = json.loads(self.expect(0, "replay", self.trace, "--device", "cuda", *options, env=driver).out)
            there = json.loads(self.expect(0, "replay", self.trace, "--device", "sim", *options).out)
            self.assertEqual(here["device"], "cuda")
            for figure in ("events", "peak_requested_bytes", "peak_reserved_bytes", "maps"):
                self.assertEqual(here[figure], there[figure], f"{allocator}, {figure}")

    def test_a_trace_larger_than_the_machine_is_for_sim(self):
        trace = self.write("huge.csv", f"op,id,size,stream\na,0,{2**50},0\n")
        done = self.expect(1, "replay", trace, "--device", "cpu")
        self.assertRegex(done.err, r"huge\.csv: 1\.00 PiB are live at once, but this machine has .*--device sim")

    def test_an_allocator_of_one_stream_refuses_several(self):
        for allocator in ONE_STREAM:
            done = self.expect(1, "replay", self.trace, "--allocator", allocator)
            self.assertIn(f"trace.csv: the trace has several streams, but {allocator} serves only one", done.err)

    def test_wrong_usage_exits_with_2(self):
        for line in ("", "trace.csv --allocator nobody", "trace.csv --device moon", "trace.csv --passes 0", "trace.csv --lag -1", "trace.csv --limit much",
                     "trace.csv --device cpu --limit 1GiB"):
            done = self.expect(2, "replay", *line.split())
            self.assertEqual(done.out, "")
            self.assertNotEqual(done.err.strip(), "")


class Documents(CliTest):
    def test_the_traces_in_the_documents_are_read(self):
        section = FORMATS[FORMATS.index("## Trace of an allocator"):]
        for text in re.findall(r"(?s)```csv\n(.*?)```", section)[:2]:
            self.expect(0, "replay", self.write("documented.csv", text))

    def test_the_example_is_what_its_program_writes(self):
        program = PROJECT / "examples" / "serving_trace.py"
        written = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, check=True, timeout=60).stdout
        self.assertEqual(EXAMPLE.read_text(), written)


if __name__ == "__main__":
    main(__doc__)
