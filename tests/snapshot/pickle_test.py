#!/usr/bin/env python3
"""A memory snapshot of ours as Python and PyTorch's viewers read it: pickle_test.py SAMPLE, the program that writes one."""

import pickle
import pickletools
import subprocess
import sys
import unittest

SAMPLE = sys.argv.pop(1)
FIRST, STITCHED, PAGE = 0x7F0000000000, 0x7F1000000000, 32 << 20

# What MemoryViz.js has, which is not all of pickle.
OPCODES = {"PROTO", "STOP", "EMPTY_DICT", "EMPTY_LIST", "MARK", "APPENDS", "SETITEMS", "BININT", "BININT1", "LONG1", "BINFLOAT",
           "NEWTRUE", "NEWFALSE", "NONE", "SHORT_BINUNICODE", "BINUNICODE", "TUPLE2"}


class SnapshotTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.bytes = subprocess.run([SAMPLE], check=True, capture_output=True, timeout=60).stdout
        cls.snapshot = pickle.loads(cls.bytes)

    def test_segments_have_their_figures(self):
        segment = dict(self.snapshot["segments"][0])
        segment.pop("blocks")
        self.assertEqual(segment, {
            "device": 0, "address": FIRST, "total_size": PAGE, "allocated_size": 4096, "active_size": 12288, "requested_size": 4000,
            "stream": 0, "segment_type": "large", "segment_pool_id": (0, 0), "is_expandable": False, "frames": []})

    def test_blocks_have_their_states(self):
        self.assertEqual(self.snapshot["segments"][0]["blocks"], [
            {"address": FIRST, "size": 4096, "requested_size": 4000, "state": "active_allocated", "frames": []},
            {"address": FIRST + 4096, "size": 8192, "requested_size": 8192, "state": "active_pending_free", "frames": []},
            {"address": FIRST + 12288, "size": PAGE - 12288, "requested_size": 0, "state": "inactive", "frames": []}])

    def test_a_stitched_range_is_expandable(self):
        segment = self.snapshot["segments"][1]
        self.assertEqual((segment["address"], segment["stream"], segment["is_expandable"]), (STITCHED, 7, True))
        self.assertEqual(segment["segment_type"], "small")

    def test_blocks_fill_their_segments(self):
        for segment in self.snapshot["segments"]:
            end = segment["address"]
            for block in segment["blocks"]:
                self.assertEqual(block["address"], end)
                end += block["size"]
            self.assertEqual(end, segment["address"] + segment["total_size"])

    def test_every_device_has_a_trace(self):
        self.assertEqual([len(trace) for trace in self.snapshot["device_traces"]], [2 + 3 + 1, 0, 1 + 1500])

    def test_the_traces_lead_to_the_blocks(self):
        for device, trace in enumerate(self.snapshot["device_traces"]):
            segments, live, pending, time = [], {}, {}, -1
            for event in trace:
                self.assertGreater(event["time_us"], time)
                time = event["time_us"]
                begin, end = event["addr"], event["addr"] + event["size"]
                if event["action"] == "segment_alloc":
                    segments.append((begin, end))
                elif event["action"] == "alloc":
                    self.assertTrue(any(low <= begin and end <= high for low, high in segments))
                    live[begin] = event["size"]
                else:
                    self.assertEqual(event["action"], "free_requested")
                    pending[begin] = live.pop(begin)
            for state, found in (("active_allocated", live), ("active_pending_free", pending)):
                self.assertEqual(found, {b["address"]: b["size"] for s in self.snapshot["segments"] if s["device"] == device
                                         for b in s["blocks"] if b["state"] == state})

    def test_only_opcodes_that_every_viewer_knows_are_used(self):
        self.assertEqual({opcode.name for opcode, _, _ in pickletools.genops(self.bytes)} - OPCODES, set())


if __name__ == "__main__":
    unittest.main()
