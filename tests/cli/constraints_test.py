"""The options that say how a graph's constraints are met, and what `plan` tells of them. The graphs are those of docs/formats.md.

Usage: constraints_test.py PATH/TO/stowage [unittest's arguments]
"""

import json

from support import CliTest, chain, documented_graph, main, table_of


class Told(CliTest):
    """What a plan requires of the runtime, in the text."""

    def told(self, name, *options):
        return self.expect(0, "plan", self.write("graph.json", documented_graph(name)), *options).out

    def test_nothing_where_there_is_nothing(self):
        text = self.expect(0, "plan", self.write("chain.json", chain())).out
        self.assertNotRegex(text, r"copies|clears|binds|edges|notes")

    def test_copies_with_bytes_moment_and_reason(self):
        self.assertRegex(self.told("conflict"), r"(?m)^  copies +512   'a' before 'second': .+$")
        text = self.told("loop with copies")
        self.assertRegex(text, r"(?m)^  copies +1024   'x' before 'while': .+\n +'out' in body 0 of 'while' at the back edge: .+$")

    def test_clears_with_bytes_and_moment(self):
        self.assertRegex(self.told("fill"), r"(?m)^  clears +512   512 bytes to 0 at the start$")
        self.assertRegex(self.told("fill", "--zero-fill", "separate"), r"(?m)^  clears +512   512 bytes to 0 before 'accumulate'$")

    def test_bindings_the_first_three(self):
        self.assertRegex(self.told("zero copy"), r"(?m)^  binds +8256   'x' to the caller's buffer\n +'ids' .+\n +'mask' .+\n +and 1 more$")

    def test_edges(self):
        self.assertRegex(self.told("ring"), r"(?m)^  edges +1   'use 0' before 'load 3'$")

    def test_notes(self):
        self.assertRegex(self.told("no zero copy"), r"(?m)^  notes +1   'x': .+$")

    def test_json_stays_the_summary(self):
        self.assertEqual(self.summary(self.write("graph.json", documented_graph("no zero copy")))["peak_bytes"], 1024)


class BatchStarts(CliTest):
    def test_verify_compares_where_the_groups_of_the_batches_start(self):
        graph = self.write("graph.json", documented_graph("same start"))
        self.expect(0, "plan", graph, "-o", "plan.json", "--batch-start", "same")
        self.expect(0, "verify", graph, "plan.json", "--batch-start", "same")
        plan = json.loads((self.dir / "plan.json").read_text())
        arena = plan["arenas"][0]
        for place in plan["placements"]:
            if place["tensor"] in (4, 5):  # b0 and b1, the group of batch 8
                place["offset"] += arena["size"]
        arena.update(size=2 * arena["size"], regions=[2 * arena["size"]], proven_optimal=False)
        moved = self.write("moved.json", plan)
        self.expect(0, "verify", graph, moved)
        self.assertIn("group: the outputs of op 'gather.8'", self.expect(3, "verify", graph, moved, "--batch-start", "same").out)


class NoReuseNames(CliTest):
    def test_names_of_tensors_and_ops_in_one_word_or_several(self):
        name = self.write("chain.json", chain())
        for options, peak in [("", 128), ("--no-reuse-names a", 256), ("--no-reuse-names op1", 256), ("--no-reuse-names a,b", 384),
                              ("--no-reuse-names a --no-reuse-names b", 384)]:
            with self.subTest(options=options):
                self.assertEqual(self.peak(*options.split(), name), peak)  # the input comes last: it is no name

    def test_a_name_that_nothing_has_is_an_error(self):
        self.assertIn("'nobody'", self.expect(1, "plan", self.write("chain.json", chain()), "--no-reuse-names", "a,nobody").err)


class Tables(CliTest):
    def test_options_that_demand_what_a_table_cannot_give_are_refused(self):
        name = self.write("table.csv", table_of([(0, 2, 3), (1, 3, 5)]))
        for command in ("plan", "compare"):
            for options in (["--region-limit", "4"], ["--no-reuse-names", "r0"]):
                with self.subTest(command=command, options=options):
                    self.assertIn(f"{options[0]} is for graphs", self.expect(2, command, name, *options).err)


class Verify(CliTest):
    def check(self, name, *options):
        """A plan made without the options is refused with them, one made with them is valid."""
        graph = self.write("graph.json", documented_graph(name))
        self.expect(0, "plan", graph, "-o", "without.json")
        self.expect(0, "plan", graph, "-o", "with.json", *options)
        self.expect(0, "verify", graph, "without.json")
        self.expect(3, "verify", graph, "without.json", *options)
        self.expect(0, "verify", graph, "with.json", *options)

    def test_a_refreshable_base_needs_a_fixed_arena(self):
        self.check("fixed", "--base", "refreshable")

    def test_regions_keep_to_the_limit(self):
        self.check("memories", "--region-limit", "1024")

    def test_padding_is_whose_the_option_or_the_plan_says(self):
        tensors = [{"name": "x", "size": 1088, "alignment": 64, "flags": ["input"]}, {"name": "y", "size": 128, "alignment": 4096, "flags": ["output"]}]
        graph = self.write("graph.json", {"schema": "stowage.graph/1", "name": "uneven", "tensors": tensors,
                                          "ops": [{"name": "op", "inputs": [0], "outputs": [1]}]})
        sizes = {}
        for padding in ("own", "none"):
            summary = json.loads(self.expect(0, "plan", graph, "--padding", padding, "--json").out)
            self.assertEqual((summary["padding"], summary["proven_optimal"]), (padding, True))
            sizes[padding] = summary["peak_bytes"]
            self.assertIn(f" {padding} ", self.expect(0, "plan", graph, "--padding", padding, "-o", f"{padding}.json").out)
            self.expect(0, "verify", graph, f"{padding}.json")
        self.assertEqual(sizes, {"own": 5184, "none": 1216})
        self.assertIn("padding: ", self.expect(3, "verify", graph, "none.json", "--padding", "own").out)
        self.expect(3, "verify", graph, "own.json", "--padding", "none")  # its bound does not hold then


if __name__ == "__main__":
    main(__doc__)
