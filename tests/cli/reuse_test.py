"""The knobs of reuse: several plans of one graph, of which the best is taken.

Usage: reuse_test.py PATH/TO/stowage [unittest's arguments]
"""

import itertools
import json

from support import CliTest, graph_of, main, table_of

SETTINGS = [("--sort", ("ascending", "descending")), ("--release", ("first", "last")), ("--size-classes", ("exact", "range", "one"))]
# 8 bytes throughout, and 5 and then 6 beside them: 14, but 16 where all blocks are as large as the largest.
ROWS = [(0, 4, 8), (0, 2, 5), (2, 4, 6)]


class Knobs(CliTest):
    def setUp(self):
        super().setUp()
        self.table = self.write("table.csv", table_of(ROWS))

    def test_every_setting_gives_a_valid_plan(self):
        graph = self.write("graph.json", graph_of(ROWS))
        for values in itertools.product(*(values for _, values in SETTINGS)):
            options = [word for (name, _), value in zip(SETTINGS, values) for word in (name, value)]
            with self.subTest(options=options):
                self.expect(0, "plan", graph, "--solver", "blocks", *options, "-o", "plan.json")
                self.expect(0, "verify", graph, "plan.json")

    def test_they_are_those_of_the_solver_blocks(self):
        for classes, peak in (("exact", 14), ("range", 14), ("one", 14)):
            self.assertEqual(self.peak(self.table, "--solver", "blocks", "--size-classes", classes), peak)
        rows = self.write("rows.csv", table_of([(0, 4, 5), (0, 4, 16), (0, 4, 5)]))
        self.assertEqual(self.peak(rows, "--solver", "blocks", "--size-classes", "range"), 26)
        self.assertEqual(self.peak(rows, "--solver", "blocks", "--size-classes", "one"), 37)

    def test_the_plan_is_never_worse_than_without(self):
        rows = self.write("rows.csv", table_of([(0, 4, 5), (0, 4, 16), (0, 4, 5)]))
        self.assertEqual(self.peak(rows, "--size-classes", "one"), 26)
        text = self.expect(0, "plan", rows, "--size-classes", "one").out
        self.assertRegex(text, r"(?m)^  tried +2 plans   the best is 'auto'$")

    def test_memory_priority_tries_all_of_them(self):
        graph = self.write("graph.json", graph_of(ROWS))
        text = self.expect(0, "plan", graph, "--memory-priority", "--threads", "4").out
        self.assertRegex(text, r"(?m)^  tried +\d plans   the best is 'auto'$")
        self.assertNotIn("tried", self.expect(0, "plan", graph).out)

    def test_json_stays_the_summary(self):
        with_knobs = json.loads(self.expect(0, "plan", self.table, "--memory-priority", "--json").out)
        without = json.loads(self.expect(0, "plan", self.table, "--json").out)
        self.assertEqual(list(with_knobs), list(without))

    def test_other_words_are_a_usage_error(self):
        for name, values in SETTINGS:
            done = self.expect(2, "plan", self.table, name, "sideways")
            for value in values:
                self.assertIn(value, done.err)


if __name__ == "__main__":
    main(__doc__)
