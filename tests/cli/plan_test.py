"""The contract of plan: what it prints and writes for graphs and tables, what its options do, and when it has no answer.

Usage: plan_test.py PATH/TO/stowage [unittest's arguments]

Every test runs the program in a directory of its own, with inputs that it wrote there.
"""

import csv
import gzip
import io
import json
import pathlib

from interrupt_test import hard_rows
from support import EXAMPLES, OLD, CliTest, chain, graph_of, main, random_rows, round_up, solver_names, table_of

SUMMARY_FIELDS = ["schema", "name", "ops", "tensors", "items", "peak_bytes", "lower_bound_bytes", "naive_bytes", "weights_bytes", "folded_bytes",
                  "total_bytes", "proven_optimal",
                  "padding", "status", "solver", "solve_ms", "waits", "fills", "filled_bytes", "copies", "copied_bytes", "arenas"]
ARENA_FIELDS = ["name", "memory", "kind", "size", "lower_bound", "proven_optimal"]


class Plan(CliTest):
    def test_json_is_one_line_with_the_fields_of_the_summary(self):
        for name in (self.write("chain.json", chain()), self.write("table.csv", table_of([(0, 2, 3), (1, 3, 5)]))):
            with self.subTest(name=name):
                text = self.expect(0, "plan", name, "--json").out
                self.assertEqual(text.count("\n"), 1)
                self.assertTrue(text.endswith("}\n"))
                summary = json.loads(text)
                self.assertEqual(list(summary), SUMMARY_FIELDS)
                self.assertEqual(summary["schema"], "stowage.summary/1")
                for arena in summary["arenas"]:
                    self.assertEqual(list(arena), ARENA_FIELDS)

    def test_the_figures_of_a_graph(self):
        summary = self.summary(self.write("chain.json", chain()))
        expected = {"name": "chain", "ops": 3, "tensors": 4, "peak_bytes": 128, "lower_bound_bytes": 128, "naive_bytes": 4 * 128,
                    "proven_optimal": True, "status": "optimal"}
        self.assertEqual({key: summary[key] for key in expected}, expected)

    def crossing(self):
        """Two streams: b on stream 1 reads a, and c on stream 0, which fills its output, reads both."""
        tensors = [{"name": name, "size": 64} for name in "abc"]
        tensors[2]["flags"] = ["output"]
        return {"schema": "stowage.graph/1", "name": "crossing", "tensors": tensors, "ops": [
            {"name": "a", "kind": "X", "outputs": [0]}, {"name": "b", "kind": "X", "inputs": [0], "outputs": [1], "stream": 1},
            {"name": "c", "kind": "X", "inputs": [0, 1], "outputs": [2], "zero_fill": {"outputs": [0]}}]}

    def test_what_a_run_does_besides_ops_is_counted(self):
        graph = self.write("crossing.json", self.crossing())
        summary = self.summary(graph)
        self.assertEqual([summary[key] for key in ("waits", "fills", "filled_bytes", "copies", "copied_bytes")], [2, 1, 64, 0, 0])
        self.assertRegex(self.expect(0, "plan", graph).out, r"\n  waits +2   of streams")
        self.assertNotIn("waits", self.expect(0, "plan", self.write("chain.json", chain())).out)

    def test_a_plan_file_has_the_program_of_its_runs_and_verify_judges_it(self):
        graph = self.write("crossing.json", self.crossing())
        self.expect(0, "plan", graph, "-o", "plan.json")
        plan = json.loads(self.read("plan.json"))
        self.assertEqual(plan["program"], [
            {"fill": 0}, {"op": 0}, {"record": 0, "stream": 0}, {"wait": 0, "stream": 1}, {"op": 1}, {"record": 1, "stream": 1},
            {"wait": 1, "stream": 0}, {"op": 2}])
        for step, rule in ((0, "program"), (1, "program"), (3, "wait"), (6, "wait")):
            spoilt = dict(plan, program=plan["program"][:step] + plan["program"][step + 1:])
            self.write("spoilt.json", json.dumps(spoilt))
            found = json.loads(self.expect(3, "verify", graph, "spoilt.json", "--json").out)["findings"]
            self.assertIn(rule, [finding["rule"] for finding in found])
            self.expect(0, "verify", graph, "spoilt.json", "--no-program")
        del plan["program"]
        self.expect(0, "verify", graph, self.write("absent.json", json.dumps(plan)))

    def test_text_has_plain_numbers_and_no_escape_codes(self):
        done = self.expect(0, "plan", self.write("chain.json", chain()))
        self.assertRegex(done.out, r"chain: 3 ops, 4 tensors, \d+ items?\n  peak +128   smallest possible \(proven\)\n  bound +128\n  naive +512   ")
        self.assertNotIn("\033", done.out)
        self.assertEqual(done.err, "")

    def test_the_plan_that_is_written_is_valid(self):
        for graph in (self.write("chain.json", chain()), *EXAMPLES):
            with self.subTest(graph=graph):
                peak = self.peak(graph, "-o", "plan.json")
                plan = json.loads(self.read("plan.json"))
                self.assertEqual(plan["schema"], "stowage.plan/1")
                self.assertEqual(sum(arena["size"] for arena in plan["arenas"] if arena["kind"] not in ("persistent", "user")), peak)
                self.assertTrue(self.expect(0, "verify", graph, "plan.json").out.startswith("plan.json: valid\n"))

    def test_a_name_that_ends_in_gz_is_packed(self):
        name = self.write("chain.json", chain())
        self.expect(0, "plan", name, "-o", "plan.json")
        self.expect(0, "plan", name, "-o", "plan.json.gz")
        self.assertEqual((self.dir / "plan.json.gz").read_bytes()[:2], b"\x1f\x8b")
        self.assertEqual(self.read("plan.json.gz"), self.read("plan.json"))
        self.expect(0, "verify", name, "plan.json.gz")

    def test_a_dash_prints_the_plan_and_nothing_else(self):
        name = self.write("chain.json", chain())
        self.expect(0, "plan", name, "-o", "plan.json")
        for more in ([], ["--json"]):
            self.assertEqual(self.expect(0, "plan", name, "-o", "-", *more).out, self.read("plan.json"))

    def test_standard_input_is_a_graph_or_a_table_packed_or_not(self):
        for text, peak in ((json.dumps(chain()), 128), (table_of([(0, 2, 3), (1, 3, 5)]), 8)):
            for content in (text.encode(), gzip.compress(text.encode())):
                with self.subTest(content=content[:20]):
                    self.assertEqual(self.peak("-", stdin=content), peak)

    def test_a_packed_graph_and_a_packed_table_are_read(self):
        self.assertEqual(self.peak(self.write("chain.json.gz", json.dumps(chain()))), 128)
        self.assertEqual(self.peak(self.write("table.csv.gz", table_of([(0, 2, 3), (1, 3, 5)]))), 8)

    def test_every_solver_gives_a_valid_plan(self):
        name = self.write("graph.json", graph_of(random_rows(1)))
        for solver in solver_names(self):
            with self.subTest(solver=solver):
                self.expect(0, "plan", name, "--solver", solver, "-o", "plan.json")
                self.expect(0, "verify", name, "plan.json")

    def test_the_same_command_gives_the_same_bytes(self):
        name = self.write("graph.json", graph_of(random_rows(2)))
        plans = {self.expect(0, "plan", name, "-o", "-", "--threads", threads).out for threads in (1, 1, 2)}
        self.assertEqual(len(plans), 1)

    def test_an_empty_graph_needs_nothing(self):
        name = self.write("empty.json", {"schema": "stowage.graph/1"})
        self.assertEqual(self.peak(name, "-o", "plan.json"), 0)
        self.expect(0, "verify", name, "plan.json")

    def test_a_binary_that_is_no_model_is_an_error(self):
        for name in ("model.onnx", "model.tflite"):
            self.assertIn(name, self.expect(1, "plan", self.write(name, b"\x08\x07\x3a\x7f")).err)


class Previous(CliTest):
    """--previous and --keep-offsets."""

    ROWS = [(0, 2, 640), (1, 3, 320), (2, 4, 480), (3, 5, 64), (0, 5, 96)]

    def offsets(self, plan):
        return {each["tensor"]: each["offset"] for each in json.loads(self.read(plan))["placements"]}

    def plan_again(self, rows, *options):
        """The rows' graph, planned from the plan of ROWS."""
        self.expect(0, "plan", self.write("old.json", graph_of(self.ROWS)), "-o", "old.plan.json")
        self.expect(0, "plan", self.write("new.json", graph_of(rows)), "-o", "new.plan.json", "--previous", "old.plan.json", *options)
        self.expect(0, "verify", "new.json", "new.plan.json")

    def test_nothing_moves_without_need(self):
        for options in ([], ["--keep-offsets"]):
            self.plan_again(self.ROWS, *options)
            self.assertEqual(self.offsets("new.plan.json"), self.offsets("old.plan.json"))

    def test_a_smaller_tensor_may_stay_and_must_if_told_to(self):
        smaller = [*self.ROWS[:3], (3, 5, 32), self.ROWS[4]]
        for options in ([], ["--keep-offsets"]):
            self.plan_again(smaller, *options)
            self.assertEqual(self.offsets("new.plan.json"), self.offsets("old.plan.json"))

    def test_new_tensors_are_placed_beside_those_that_stay(self):
        self.plan_again([*self.ROWS, (2, 3, 256)], "--keep-offsets")
        self.assertEqual({key: value for key, value in self.offsets("new.plan.json").items() if key < len(self.ROWS)},
                         self.offsets("old.plan.json"))

    def test_what_must_stay_and_cannot_is_an_error_with_the_tensors_names(self):
        self.expect(0, "plan", self.write("old.json", graph_of(self.ROWS)), "-o", "old.plan.json")
        larger = self.write("new.json", graph_of([(lower, upper, 4 * size) for lower, upper, size in self.ROWS]))
        done = self.expect(1, "plan", larger, "--previous", "old.plan.json", "--keep-offsets", "-o", "new.plan.json")
        self.assertRegex(done.err, r"tensor 't\d' must stay at \d+, but overlaps tensor 't\d', which must stay too")
        self.assertFalse((self.dir / "new.plan.json").exists())
        self.expect(0, "plan", larger, "--previous", "old.plan.json")

    def test_it_is_for_graphs_and_needs_a_plan(self):
        graph = self.write("graph.json", graph_of(self.ROWS))
        self.expect(2, "plan", graph, "--keep-offsets")
        self.expect(1, "plan", graph, "--previous", graph)
        self.expect(1, "plan", graph, "--previous", "missing.json")
        self.expect(2, "plan", self.write("table.csv", table_of(self.ROWS)), "--previous", graph)


class PlanningOptions(CliTest):
    def test_a_node_budget_ends_a_search_without_a_time_limit(self):
        name = self.write("hard.csv", table_of(hard_rows()[:150]))
        plans = []
        for _ in range(2):
            self.expect(0, "plan", name, "--time-limit", "none", "--node-budget", "300", "-o", "out.csv")
            plans.append(self.read("out.csv"))
        self.assertEqual(plans[0], plans[1])
        self.assertLessEqual(self.peak(name, "--time-limit", "none", "--node-budget", "20000"), self.peak(name, "--time-limit", "none", "--node-budget", "300"))
        self.assertIn("below 0", self.expect(2, "plan", name, "--node-budget", "-1").err)

    def test_options_change_the_figures_of_a_graph(self):
        name = self.write("chain.json", chain())
        one = round_up(100, 32)
        for options, peak in [("", one), ("--in-place off", 2 * one), ("--keep-inputs", 2 * one), ("--keep-inputs --in-place off", 3 * one),
                              ("--no-reuse", 4 * one), ("--alignment 256", round_up(100, 256)), ("--alignment 1", 100),
                              ("--alignment 1KiB --no-reuse", 4 * 1024)]:
            with self.subTest(options=options):
                summary = self.summary(name, *options.split(), "-o", "plan.json")
                self.assertEqual(summary["peak_bytes"], peak)
                self.assertEqual(summary["lower_bound_bytes"], peak)

    def test_a_tensor_keeps_an_alignment_of_its_own(self):
        graph = chain()
        graph["tensors"][1]["alignment"] = 512
        self.assertEqual(self.peak(self.write("chain.json", graph), "--alignment", "1", "--in-place", "off"), 612)

    def test_kept_inputs_are_kept_in_the_plan(self):
        name = self.write("chain.json", chain())
        self.expect(0, "plan", name, "--keep-inputs", "-o", "kept.json")
        self.expect(0, "verify", name, "kept.json", "--keep-inputs")
        self.expect(0, "plan", name, "-o", "plan.json")
        self.assertIn("'x'", self.expect(3, "verify", name, "plan.json", "--keep-inputs").out)

    def test_options_change_the_figures_of_a_table(self):
        name = self.write("table.csv", table_of([(0, 2, 3), (1, 3, 5), (2, 4, 3)]))
        for options, peak in [("", 8), ("--no-reuse", 11), ("--alignment 16", 16 + 3)]:
            with self.subTest(options=options):
                self.assertEqual(self.peak(name, *options.split()), peak)


class Capacity(CliTest):
    def test_what_fits_is_planned_as_without_it(self):
        for name, peak in ((self.write("chain.json", chain()), 128), (self.write("table.csv", table_of([(0, 2, 3), (1, 3, 5)])), 8)):
            for capacity in (peak, peak + 1, "1GiB"):
                self.assertEqual(self.peak(name, "--capacity", capacity), peak)

    def test_what_is_proven_not_to_fit_exits_with_4_and_writes_nothing(self):
        for name, peak in ((self.write("chain.json", chain()), 128), (self.write("table.csv", table_of([(0, 2, 3), (1, 3, 5)])), 8)):
            suffix = name[name.rindex("."):]
            old, new = self.write("old" + suffix, OLD), "new" + suffix
            for output in (new, old, "-"):
                with self.subTest(name=name, output=output):
                    done = self.expect(4, "plan", name, "--capacity", peak - 1, "-o", output)
                    self.assertEqual(done.out, "")
                    self.assertIn(name, done.err)
            self.assertFalse((self.dir / new).exists())
            self.assertEqual((self.dir / old).read_bytes(), OLD)
            self.assertEqual(self.summary(name, "--capacity", peak - 1, code=4)["status"], "infeasible")

    def test_it_counts_in_each_memory(self):
        graph = chain()
        graph["memories"] = [{"name": "cpu"}, {"name": "gpu"}]
        for tensor in graph["tensors"][2:]:
            tensor["memory"] = 1
        name = self.write("two.json", graph)
        self.assertEqual(self.peak(name, "--capacity", "100"), 200)
        done = self.expect(4, "plan", name, "--capacity", "99")
        self.assertEqual(done.err, "stowage: two.json: does not fit: "
                         "memory 'cpu' needs at least 100 bytes, 1 more than the 99 available; "
                         "memory 'gpu' needs at least 100 bytes, 1 more than the 99 available\n")

    def test_the_memory_that_has_too_little_is_named_with_its_arenas(self):
        graph = chain()
        graph["memories"] = [{"name": "cpu", "alignment": 1}, {"name": "gpu", "alignment": 1}]
        for tensor in graph["tensors"][2:]:
            tensor["memory"] = 1
        graph["ops"][2]["workspaces"] = [{"size": 40, "memory": 1, "scope": "session"}]
        name = self.write("session.json", graph)
        self.assertEqual(self.peak(name, "--capacity", "140"), 240)
        done = self.expect(4, "plan", name, "--capacity", "130")
        self.assertEqual(done.err, "stowage: session.json: does not fit: memory 'gpu' needs at least 140 bytes, "
                         "10 more than the 130 available (session 40, shared 100)\n")

    def test_a_person_is_told_where_to_find_what_to_change(self):
        name = self.write("chain.json", chain())
        said = self.on_terminal("plan", name, "--capacity", "9", stream="stderr", code=4)
        self.assertIn("What to change: stowage explain chain.json --capacity 9", said)
        said = self.on_terminal("plan", name, "--capacity", "9", "--html", "report.html", stream="stderr", code=4)
        self.assertIn("What to change: open report.html in a browser", said)
        self.assertNotIn("What to change", self.expect(4, "plan", name, "--capacity", "9").err)

    def test_a_table_has_no_memory_to_name(self):
        name = self.write("table.csv", table_of([(0, 2, 3), (1, 3, 5)]))
        done = self.expect(4, "plan", name, "--capacity", "6")
        self.assertEqual(done.err, "stowage: table.csv: does not fit: it needs at least 8 bytes, 2 more than the 6 available\n")
        name = self.write("pins.csv", "id,lower,upper,size,offset\na,0,2,3,0\nb,1,3,5,1\n")
        done = self.expect(4, "plan", name)
        self.assertEqual(done.err, "stowage: pins.csv: does not fit: the pinned offsets leave no room\n")

    def find_gap(self, *options):
        """Rows for which the solver's answer is above the bound, and that bound."""
        for seed in range(300):
            rows = random_rows(seed)
            summary = self.summary(self.write("rows.csv", table_of(rows)), *options)
            if summary["peak_bytes"] > summary["lower_bound_bytes"]:
                return rows, summary["lower_bound_bytes"]
        self.skipTest("no random table has an answer above the bound")

    def check_unknown(self, *options):
        rows, bound = self.find_gap(*options)
        for name in (self.write("gap.csv", table_of(rows)), self.write("gap.json", graph_of(rows))):
            output = "out" + pathlib.Path(name).suffix
            with self.subTest(name=name):
                self.assertGreater(self.peak(name, *options), bound)
                done = self.expect(5, "plan", name, *options, "--capacity", bound, "-o", output)
                self.assertEqual(done.out, "")
                self.assertRegex(done.err, rf"{name}: neither a plan that fits nor .* [0-9]+ bytes, [0-9]+ more than the {bound} available")
                self.assertFalse((self.dir / output).exists())
                self.assertEqual(self.summary(name, *options, "--capacity", bound, code=5)["status"], "timed_out")
                self.expect(4, "plan", name, *options, "--capacity", bound - 1)

    def test_what_one_heuristic_neither_fits_nor_refutes_exits_with_5(self):
        self.check_unknown("--solver", "online_best_fit")


class Table(CliTest):
    def offsets(self, name, column="id"):
        return {row[column]: int(row["offset"]) for row in csv.DictReader(io.StringIO(self.read(name)))}

    def test_rows_order_and_names_of_columns_are_kept(self):
        lines = ["buffer_id,size,end,start", "late,20,5,3", "early,10,3,0"]
        name = self.write("table.csv", "\n".join(lines) + "\n")
        # The ends are inclusive: both live at step 3.
        self.assertEqual(self.peak(name, "-o", "out.csv"), 30)
        written = self.read("out.csv").splitlines()
        self.assertEqual(written[0], lines[0] + ",offset")
        self.assertEqual([line.rpartition(",")[0] for line in written[1:]], lines[1:])
        self.assertEqual(sorted(self.offsets("out.csv", "buffer_id").values()) in ([0, 10], [0, 20]), True)
        self.expect(0, "verify", name, "out.csv")

    def test_an_offset_column_is_filled_in_and_pins_are_kept(self):
        name = self.write("table.csv", "id,offset,lower,upper,size\na,8,0,2,4\nb,-1,0,2,8\nc,,1,3,2\n")
        self.assertEqual(self.peak(name, "-o", "out.csv"), 14)
        self.assertEqual(self.read("out.csv").splitlines()[0], "id,offset,lower,upper,size")
        self.assertEqual(self.offsets("out.csv"), {"a": 8, "b": 0, "c": 12})
        self.expect(0, "verify", name, "out.csv")

    def test_gaps_and_alignment_are_used(self):
        name = self.write("table.csv", "id,lower,upper,size,alignment,gaps\na,0,9,8,1,3-6\nb,3,6,8,4,\n")
        self.assertEqual(self.peak(name, "-o", "out.csv"), 8)
        self.expect(0, "verify", name, "out.csv")

    def test_it_is_packed_and_printed_like_a_plan(self):
        name = self.write("table.csv", table_of(random_rows(3)))
        self.expect(0, "plan", name, "-o", "out.csv")
        self.expect(0, "plan", name, "-o", "out.csv.gz")
        self.assertEqual(self.read("out.csv.gz"), self.read("out.csv"))
        self.assertEqual(self.expect(0, "plan", name, "-o", "-").out, self.read("out.csv"))
        self.assertEqual(self.expect(0, "plan", "-", "-o", "-", stdin=(self.dir / name).read_bytes()).out, self.read("out.csv"))

    def test_a_plan_file_is_not_for_a_table(self):
        name = self.write("table.csv", table_of([(0, 2, 3)]))
        done = self.expect(2, "plan", name, "-o", "plan.json")
        self.assertIn("plan.json", done.err)
        self.assertFalse((self.dir / "plan.json").exists())


if __name__ == "__main__":
    main(__doc__)
