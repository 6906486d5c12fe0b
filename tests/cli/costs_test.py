"""Small files that could be expensive, from fuzz/costly_files.py: nothing takes 10 s of CPU or 1 GiB, and limits are named. Fewer bytes and kinds than
fuzz/measure_costly_files.py measures, so that all of it takes a minute at most.

Usage: costs_test.py STOWAGE
"""

import os
import subprocess
import sys
import unittest

import support
from support import CliTest, main

sys.path.insert(0, str(support.PROJECT / "fuzz"))
import measure_costly_files  # noqa: E402

LIMITS = (10, 1024)  # CPU seconds, MiB
SMALL = 200_000

# Kinds that were stopped after a minute, or at 4 GiB, with a file of a megabyte.
LIMITED = {
    "batches_and_moments": r"\d+ batches × \d+ ops, tensors and workspaces: \d+ is above the limit of 8388608; --limit \d+ allows it",
    "batches_of_views": "batches × .* above the limit",
    "streams_and_bodies": "streams × .* is above the limit of 33554432; --limit",
    "user_buffers": "reusable buffers × .* is above the limit of 4194304; --limit",
    "bomb_of_ops": "more than 720896 objects, which is the limit; --limit raises it",
    "bomb_of_lists": r"ops\[0\]: must be an object, not array",
    "chain_of_concats": "inside of more than 128 packed groups, one in another",
    "chain_of_splits": "inside of more than 128 packed groups, one in another",
    "long_name_of_many": "the name of tensor 0 has .* bytes, more than 16384",
    "trace_streams": "there are more than 1024 streams",
    "trace_refused": "gave up, because too much was refused",
}
PLANNED = ["in_place_long_paths", "memories", "memories_and_bodies", "regions_of_random_items", "wide_ring", "within_streams", "within_nesting",
           "within_objects", "tree_of_concats", "rows_of_nested_loops"]


@unittest.skipIf("ASAN_OPTIONS" in os.environ, "a sanitizer needs far more time and addresses")
class CostsTest(CliTest):
    def make(self, kind, size):
        """In another process: what this one has used would count as the program's."""
        command = [sys.executable, support.PROJECT / "fuzz" / "costly_files.py", "--size", str(size), self.dir, kind]
        return support.pathlib.Path(subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()[0])

    def measured(self, kind, size):
        """The runs of all commands, of which none is above the limits; the first one plans or replays."""
        runs = measure_costly_files.measure(support.STOWAGE, self.make(kind, size), LIMITS)
        for run in runs:
            self.assertFalse(run.bad, f"{run.command} took {run.seconds:.1f} s, {run.mebibytes:.0f} MiB; {run.ended()}")
        return runs

    def test_limits_are_named(self):
        for kind, sentence in LIMITED.items():
            with self.subTest(kind):
                run = self.measured(kind, 1_000_000)[0]
                self.assertEqual(run.code, 1)
                self.assertRegex(run.message, sentence)

    def test_what_is_within_the_limits_is_planned(self):
        for kind in PLANNED:
            with self.subTest(kind):
                self.assertEqual(self.measured(kind, SMALL)[0].code, 0)

    def test_a_limit_can_be_raised(self):
        path = self.make("streams", 1_000_000)
        self.expect(1, "plan", path)
        self.expect(0, "plan", path, "--limit", "2", "--time-limit", "100ms")


if __name__ == "__main__":
    main(__doc__)
