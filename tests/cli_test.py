"""The contract of the command line: exit codes, what goes where, and what bad input leaves behind.

Usage: cli_test.py PATH/TO/stowage [unittest's arguments]

Every test runs the program in a directory of its own, with inputs that it wrote there.
"""

import csv
import gzip
import io
import json
import os
import pathlib
import pty
import random
import re
import select
import shutil
import subprocess
import sys
import tempfile
import unittest

PROJECT = pathlib.Path(__file__).resolve().parent.parent
EXAMPLES = sorted(PROJECT.glob("examples/*.json"))
MAN_PAGE = PROJECT / "docs" / "stowage.1"
COMMANDS = ("plan", "verify", "compare", "convert", "completion")
SUMMARY_FIELDS = ["schema", "name", "ops", "tensors", "items", "peak_bytes", "lower_bound_bytes", "naive_bytes", "proven_optimal",
                  "status", "solver", "solve_ms", "arenas"]
ARENA_FIELDS = ["name", "memory", "kind", "size", "lower_bound", "proven_optimal"]
OLD = b"what was there before\n"
LIMIT = 2**62

STOWAGE = ""  # set from the command line


def round_up(size, alignment):
    return -(-size // alignment) * alignment


def chain():
    """x -> a -> b -> y, each of 100 bytes (128 rounded), each op able to overwrite its input."""
    ops = [{"name": f"op{k}", "kind": "NEG", "inputs": [k], "outputs": [k + 1], "in_place": [[0, 0]]} for k in range(3)]
    tensors = [{"name": "x", "size": 100, "flags": ["input"]}, {"name": "a", "size": 100}, {"name": "b", "size": 100},
               {"name": "y", "size": 100, "flags": ["output"]}]
    return {"schema": "stowage.graph/1", "name": "chain", "memories": [{"name": "cpu", "alignment": 32}], "tensors": tensors, "ops": ops}


def graph_of(rows):
    """A graph whose tensors live as long as the rows (lower, upper, size) do."""
    steps = range(max(upper for _, upper, _ in rows))
    first = lambda k: [i for i, (lower, _, _) in enumerate(rows) if lower == k]
    last = lambda k: [i for i, (lower, upper, _) in enumerate(rows) if upper - 1 == k and lower < k]
    return {"schema": "stowage.graph/1", "name": "rows", "tensors": [{"name": f"t{i}", "size": row[2]} for i, row in enumerate(rows)],
            "ops": [{"name": f"op{k}", "inputs": last(k), "outputs": first(k)} for k in steps]}


def table_of(rows):
    return "id,lower,upper,size\n" + "".join(f"r{i},{lower},{upper},{size}\n" for i, (lower, upper, size) in enumerate(rows))


def random_rows(seed):
    draw = random.Random(seed)
    lowers = [draw.randrange(8) for _ in range(10)]
    return [(lower, lower + draw.randint(1, 5), draw.randint(1, 9)) for lower in lowers]


class CliTest(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="stowage-cli-test-")
        self.addCleanup(directory.cleanup)
        self.dir = pathlib.Path(directory.name)

    def write(self, name, content):
        """Text, bytes or what becomes JSON; packed where the name says so. Returns the name, which the program sees."""
        if not isinstance(content, (str, bytes)):
            content = json.dumps(content)
        if isinstance(content, str):
            content = content.encode()
            content = gzip.compress(content) if name.endswith(".gz") else content
        (self.dir / name).write_bytes(content)
        return name

    def read(self, name):
        content = (self.dir / name).read_bytes()
        return (gzip.decompress(content) if name.endswith(".gz") else content).decode()

    def environment(self, **changes):
        environment = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "TERM")}
        return environment | changes

    def run_cli(self, *arguments, stdin=b"", **more):
        """Runs the program in the test's directory. Nothing is left on its standard input but `stdin`."""
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | more
        done = subprocess.run([STOWAGE, *map(str, arguments)], input=stdin, cwd=self.dir, env=self.environment(), timeout=120, **pipes)
        done.out = (done.stdout or b"").decode()
        done.err = (done.stderr or b"").decode()
        return done

    def expect(self, code, *arguments, **more):
        done = self.run_cli(*arguments, **more)
        self.assertEqual(done.returncode, code, f"{arguments}: {done.out}{done.err}")
        return done

    def summary(self, *arguments, code=0, **more):
        return json.loads(self.expect(code, "plan", *arguments, "--json", **more).out)

    def peak(self, *arguments, **more):
        return self.summary(*arguments, **more)["peak_bytes"]

    def on_terminal(self, *arguments, stream="stdout", **environment):
        """What the program writes to `stream` when that is a terminal."""
        master, slave = pty.openpty()
        others = {name: subprocess.DEVNULL for name in ("stdin", "stdout", "stderr") if name != stream}
        process = subprocess.Popen([STOWAGE, *arguments], cwd=self.dir, env=self.environment(**environment), **{stream: slave}, **others)
        os.close(slave)
        text = b""
        while select.select([master], [], [], 60)[0]:
            try:
                block = os.read(master, 65536)
            except OSError:  # Linux says so when the other end is closed
                break
            if not block:
                break
            text += block
        os.close(master)
        self.assertEqual(process.wait(timeout=60), 0)
        return text.decode().replace("\r\n", "\n")


class Help(CliTest):
    def test_the_app_and_every_command_show_an_example(self):
        for arguments in [["--help"], ["-h"], *([command, "--help"] for command in COMMANDS)]:
            with self.subTest(arguments=arguments):
                done = self.expect(0, *arguments)
                self.assertIn("Example: stowage ", done.out)
                self.assertEqual(done.err, "")

    def test_the_app_lists_commands_and_exit_codes(self):
        text = self.expect(0, "--help").out
        for word in (*COMMANDS, "0 done", "1 error", "2 usage", "3 plan invalid", "4 does not fit", "5 out of time"):
            self.assertIn(word, text)

    def test_version(self):
        self.assertRegex(self.expect(0, "--version").out, r"^stowage \d+\.\d+\.\d+\n$")


class Usage(CliTest):
    def test_a_wrong_command_line_exits_with_2_and_says_why(self):
        self.write("chain.json", chain())
        for line in ["", "unknown", "plan", "plan chain.json extra", "plan chain.json --unknown", "plan chain.json --solver nobody",
                     "plan chain.json --capacity", "plan chain.json --capacity much", "plan chain.json --capacity -1",
                     "plan chain.json --time-limit soon", "plan chain.json --threads 0", "plan chain.json --threads x",
                     "plan chain.json --seed -1", "plan chain.json --in-place maybe", "plan chain.json --alignment 3",
                     "plan chain.json --alignment 0", "verify chain.json", "verify chain.json chain.json --max-findings 0",
                     "verify chain.json chain.json --max-findings -1", "compare", "convert chain.json", "completion", "completion tcsh"]:
            with self.subTest(line=line):
                done = self.expect(2, *line.split())
                self.assertEqual(done.out, "")
                self.assertNotEqual(done.err.strip(), "")


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

    def test_text_has_plain_numbers_and_no_escape_codes(self):
        done = self.expect(0, "plan", self.write("chain.json", chain()))
        self.assertRegex(done.out, r"chain: 3 ops, 4 tensors, \d+ items\n  peak +128   proven least\n  bound +128\n  naive +512   ")
        self.assertNotIn("\033", done.out)
        self.assertEqual(done.err, "")

    def test_the_plan_that_is_written_is_valid(self):
        for graph in (self.write("chain.json", chain()), *EXAMPLES):
            with self.subTest(graph=graph):
                peak = self.peak(graph, "-o", "plan.json")
                plan = json.loads(self.read("plan.json"))
                self.assertEqual(plan["schema"], "stowage.plan/1")
                self.assertEqual(sum(arena["size"] for arena in plan["arenas"] if arena["kind"] != "persistent"), peak)
                self.assertEqual(self.expect(0, "verify", graph, "plan.json").out, "plan.json: valid\n")

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

    def test_a_binary_that_is_not_supported_yet_is_an_error(self):
        for name in ("model.onnx", "model.tflite"):
            done = self.expect(1, "plan", self.write(name, b"\x08\x07"))
            self.assertIn(name, done.err)


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
        self.assertRegex(done.err, r"tensor 't\d' must stay at \d+ but overlaps tensor 't\d' there, which must stay too")
        self.assertFalse((self.dir / "new.plan.json").exists())
        self.expect(0, "plan", larger, "--previous", "old.plan.json")

    def test_it_is_for_graphs_and_needs_a_plan(self):
        graph = self.write("graph.json", graph_of(self.ROWS))
        self.expect(2, "plan", graph, "--keep-offsets")
        self.expect(1, "plan", graph, "--previous", graph)
        self.expect(1, "plan", graph, "--previous", "missing.json")
        self.expect(2, "plan", self.write("table.csv", table_of(self.ROWS)), "--previous", graph)


class PlanningOptions(CliTest):
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
            self.write("old.csv", OLD)
            for output in ("new.csv", "old.csv", "-"):
                with self.subTest(name=name, output=output):
                    done = self.expect(4, "plan", name, "--capacity", peak - 1, "-o", output)
                    self.assertEqual(done.out, "")
                    self.assertIn(name, done.err)
            self.assertFalse((self.dir / "new.csv").exists())
            self.assertEqual((self.dir / "old.csv").read_bytes(), OLD)
            self.assertEqual(self.summary(name, "--capacity", peak - 1, code=4)["status"], "infeasible")

    def test_it_counts_in_each_memory(self):
        graph = chain()
        graph["memories"] = [{"name": "cpu"}, {"name": "gpu"}]
        for tensor in graph["tensors"][2:]:
            tensor["memory"] = 1
        name = self.write("two.json", graph)
        self.assertEqual(self.peak(name, "--capacity", "100"), 200)
        self.expect(4, "plan", name, "--capacity", "99")

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
                self.assertIn(name, done.err)
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


class Verify(CliTest):
    def setUp(self):
        super().setUp()
        graph = chain()
        for op in graph["ops"]:
            del op["in_place"]
        self.graph = self.write("chain.json", graph)
        self.expect(0, "plan", self.graph, "-o", "plan.json")
        self.plan = json.loads(self.read("plan.json"))
        self.table = self.write("table.csv", "id,lower,upper,size,alignment\na,0,2,3,4\nb,1,3,5,4\n")

    def place(self, tensor):
        return next(place for place in self.plan["placements"] if place["tensor"] == tensor)

    def findings(self, rule, name):
        """The plan as the test changed it breaks `rule` with what is called `name`."""
        self.write("bad.json", self.plan)
        done = self.expect(3, "verify", self.graph, "bad.json")
        self.assertTrue(done.out.startswith("bad.json: invalid\n"))
        self.assertRegex(done.out, rf"\n  {rule}: .*'{name}'")
        found = json.loads(self.expect(3, "verify", self.graph, "bad.json", "--json").out)
        self.assertEqual((found["schema"], found["valid"]), ("stowage.findings/1", False))
        self.assertIn(rule, [finding["rule"] for finding in found["findings"]])

    def test_a_planted_overlap_is_found(self):
        self.place(1)["offset"] = self.place(2)["offset"]
        self.findings("overlap", "a")

    def test_a_missing_tensor_is_found(self):
        self.plan["placements"].remove(self.place(2))
        self.findings("missing", "b")

    def test_a_misaligned_tensor_is_found(self):
        self.place(1)["offset"] += 4
        self.findings("alignment", "a")

    def test_an_arena_that_is_too_small_is_found(self):
        self.plan["arenas"][0].update(size=128, regions=[128], lower_bound=0, proven_optimal=False)
        self.findings("bounds", "[xab]")

    def test_findings_stop_after_so_many(self):
        self.plan["placements"] = []
        self.write("bad.json", self.plan)
        found = json.loads(self.expect(3, "verify", self.graph, "bad.json", "--json", "--max-findings", "2").out)
        self.assertEqual(len(found["findings"]), 2)

    def test_a_valid_plan_as_json(self):
        found = json.loads(self.expect(0, "verify", self.graph, "plan.json", "--json").out)
        self.assertEqual(found, {"schema": "stowage.findings/1", "valid": True, "findings": []})

    def test_a_plan_from_standard_input(self):
        self.expect(0, "verify", self.graph, "-", stdin=(self.dir / "plan.json").read_bytes())

    def test_a_plan_that_is_no_plan_is_an_error(self):
        for text in ("{}", "[]", self.read("plan.json")[:-20], '{"schema":"stowage.plan/2"}', '{"schema":"stowage.plan/1","arena":[]}',
                     '{"schema":"stowage.plan/1","placements":[{"tensor":-1,"arena":0,"offset":0,"size":0}]}'):
            with self.subTest(text=text):
                done = self.expect(1, "verify", self.graph, self.write("bad.json", text))
                self.assertEqual(done.out, "")
                self.assertIn("bad.json", done.err)

    def test_tables(self):
        plan = lambda *rows: self.write("plan.csv", "id,lower,upper,size,alignment,offset\n" + "".join(row + "\n" for row in rows))
        self.expect(0, "verify", self.table, plan("b,1,3,5,4,4", "a,0,2,3,4,0"))
        for rows, rule, name in [(["a,0,2,3,4,0", "b,1,3,5,4,0"], "overlap", "b"), (["a,0,2,3,4,0"], "missing", "b"),
                                 (["a,0,2,3,4,0", "b,1,3,5,4,-1"], "missing", "b"), (["a,0,2,3,4,0", "b,1,3,5,4,6"], "alignment", "b"),
                                 (["a,0,2,3,4,0", "b,1,3,5,1,6"], "alignment", "b"),
                                 (["a,0,2,3,4,0", "b,1,3,5,4,4", "c,0,1,1,1,16"], "reference", "c")]:
            with self.subTest(rows=rows):
                self.assertRegex(self.expect(3, "verify", self.table, plan(*rows)).out, rf"^plan.csv: invalid\n  {rule}: .*id '{name}'")

    def test_a_table_that_pins_is_checked_against_its_pins(self):
        pinned = self.write("pinned.csv", "id,lower,upper,size,offset\na,0,2,3,8\n")
        self.expect(0, "verify", pinned, pinned)
        other = self.write("other.csv", "id,lower,upper,size,offset\na,0,2,3,4\n")
        self.assertIn("id 'a'", self.expect(3, "verify", pinned, other).out)


class Compare(CliTest):
    def test_every_solver_has_a_line(self):
        for name in (self.write("graph.json", graph_of(random_rows(4))), self.write("table.csv", table_of(random_rows(4)))):
            with self.subTest(name=name):
                text = self.expect(0, "compare", name).out
                for solver in solver_names(self):
                    self.assertRegex(text, rf"(?m)^  {solver} +{self.peak(name, '--solver', solver)} ")
                self.assertRegex(text, rf"(?m)^  lower bound +{self.summary(name)['lower_bound_bytes']}$")
                self.assertNotIn("\033", text)

    def test_json(self):
        name = self.write("graph.json", graph_of(random_rows(4)))
        text = self.expect(0, "compare", name, "--json").out
        self.assertEqual(text.count("\n"), 1)
        table, summary = json.loads(text), self.summary(name)
        self.assertEqual(table["schema"], "stowage.compare/1")
        for key in ("name", "items", "lower_bound_bytes", "naive_bytes"):
            self.assertEqual(table[key], summary[key])
        self.assertEqual([line["name"] for line in table["solvers"]], solver_names(self))
        for line in table["solvers"]:
            self.assertEqual(line["peak_bytes"], self.peak(name, "--solver", line["name"]))
            self.assertAlmostEqual(line["peak_to_bound"], line["peak_bytes"] / table["lower_bound_bytes"])
        self.assertEqual(min(line["peak_bytes"] for line in table["solvers"]), table["solvers"][-1]["peak_bytes"])

    def test_options(self):
        name = self.write("chain.json", chain())
        for options, peak in (("--no-reuse", 512), ("--in-place off", 256), ("--keep-inputs", 256), ("--alignment 256", 256)):
            peaks = {line["peak_bytes"] for line in json.loads(self.expect(0, "compare", name, "--json", *options.split()).out)["solvers"]}
            self.assertEqual(peaks, {peak})


class Convert(CliTest):
    def test_a_graph_written_twice_is_the_same(self):
        for graph in (self.write("chain.json", chain()), *EXAMPLES):
            with self.subTest(graph=graph):
                self.expect(0, "convert", graph, "once.json")
                self.expect(0, "convert", "once.json", "twice.json.gz")
                self.assertEqual(self.read("once.json"), self.read("twice.json.gz"))
                self.assertEqual(self.expect(0, "convert", "once.json", "-").out, self.read("once.json"))
                self.assertEqual(self.peak("once.json"), self.peak(graph))

    def test_a_graph_becomes_a_table_with_the_same_peak(self):
        examples = [path for path in EXAMPLES if not any(op.get("stream") for op in json.loads(path.read_text())["ops"])]
        for graph in (self.write("chain.json", chain()), self.write("rows.json", graph_of(random_rows(5))), *examples):
            for options in ([], ["--in-place", "off"], ["--keep-inputs"], ["--no-reuse"]):
                with self.subTest(graph=graph, options=options):
                    self.assertEqual(self.expect(0, "convert", graph, "table.csv", *options).out, "")
                    table, planned = self.summary("table.csv", "-o", "out.csv"), self.summary(graph, *options)
                    self.assertEqual(table["lower_bound_bytes"], planned["lower_bound_bytes"])
                    self.assertEqual(table["peak_bytes"], planned["peak_bytes"])
                    self.assertEqual(table["items"], planned["items"])
                    self.expect(0, "verify", "table.csv", "out.csv")

    def test_a_graph_with_streams_cannot_become_a_table(self):
        graph = chain()
        del graph["ops"][1]["in_place"]
        graph["tensors"].append({"name": "z", "size": 100})
        graph["ops"].append({"name": "beside", "inputs": [0], "outputs": [4], "stream": 1})
        done = self.expect(1, "convert", self.write("streams.json", graph), "table.csv")
        self.assertRegex(done.err, r"streams\.json: .*stream order")
        self.assertFalse((self.dir / "table.csv").exists())

    def test_alignment(self):
        self.expect(0, "convert", self.write("chain.json", chain()), "wide.json", "--alignment", "4KiB")
        self.assertEqual(self.peak("wide.json"), 4096)

    def test_a_table_takes_the_usual_names(self):
        name = self.write("table.csv", "buffer,begin,end,size,gaps\na,0,8,8,3-5\nb,3,5,8,\n")
        self.expect(0, "convert", name, "once.csv")
        self.assertEqual(self.read("once.csv"), "id,lower,upper,size,gaps\na,0,9,8,3-6\nb,3,6,8,\n")
        self.expect(0, "convert", "once.csv", "twice.csv.gz")
        self.assertEqual(self.read("twice.csv.gz"), self.read("once.csv"))
        self.assertEqual(self.peak("once.csv"), self.peak(name))

    def test_a_table_cannot_become_a_graph(self):
        done = self.expect(1, "convert", self.write("table.csv", table_of([(0, 2, 3)])), "graph.json")
        self.assertIn("table.csv", done.err)
        self.assertFalse((self.dir / "graph.json").exists())

    def test_of_several_memories_one_is_chosen(self):
        graph = chain()
        graph["memories"] = [{"name": "cpu"}, {"name": "gpu", "alignment": 64}]
        graph["tensors"][3]["memory"] = 1
        name = self.write("two.json", graph)
        self.assertIn("--memory", self.expect(1, "convert", name, "table.csv").err)
        self.assertFalse((self.dir / "table.csv").exists())
        self.expect(0, "convert", name, "table.csv", "--memory", "gpu")
        self.assertEqual(self.peak("table.csv"), 128)
        self.expect(1, "convert", name, "table.csv", "--memory", "tpu")


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
    ("a field of a later version", changed(lambda g, t, o: o[1].update(batch="b")), [r"ops\[1\]", "'op1'", "'batch'"]),
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


class Terminal(CliTest):
    def setUp(self):
        super().setUp()
        graph = chain()
        for tensor in graph["tensors"]:
            tensor["size"] = 5 * 2**18  # 1.25 MiB
        self.graph = self.write("chain.json", graph)

    def test_sizes_have_units_for_people_there_only(self):
        for command in ("plan", "compare"):
            text = self.on_terminal(command, self.graph, TERM="xterm")
            self.assertIn("1.25 MiB", text)
            self.assertIn("5.00 MiB", text)
            piped = self.expect(0, command, self.graph).out
            self.assertIn(" 1310720", piped)
            self.assertNotIn("MiB", piped)

    def test_json_is_the_same_there(self):
        text = self.on_terminal("plan", self.graph, "--json", TERM="xterm")
        self.assertEqual(json.loads(text)["peak_bytes"], 1310720)
        self.assertNotIn("\033", text)

    def test_colour_is_used_unless_refused(self):
        self.assertIn("\033[", self.on_terminal("plan", self.graph, TERM="xterm"))
        self.assertIn("\033[", self.on_terminal("plan", self.graph, TERM="xterm", NO_COLOR=""))
        for refusal in ({"TERM": "xterm", "NO_COLOR": "1"}, {"TERM": "dumb"}, {}):
            for command in ("plan", "compare"):
                self.assertNotIn("\033", self.on_terminal(command, self.graph, **refusal))

    def test_quick_work_shows_no_progress(self):
        self.assertEqual(self.expect(0, "plan", self.graph).err, "")
        for command in ("plan", "compare"):
            self.assertEqual(self.on_terminal(command, self.graph, stream="stderr", TERM="xterm"), "")

    def test_long_work_shows_progress_on_standard_error(self):
        draw = random.Random(1)
        for count in (4000, 8000, 16000, 32000):
            lowers = [draw.randrange(count) for _ in range(count)]
            rows = [(lower, lower + draw.randint(1, count), draw.randint(1, 1000)) for lower in lowers]
            done = self.expect(0, "plan", self.write("long.csv", table_of(rows)), "--json", "--solver", "first_fit_by_life", "--time-limit", "10m")
            took = json.loads(done.out)["solve_ms"]
            if took > 1100:
                self.assertTrue(done.err.startswith("stowage: packing long.csv … 1 s\n"), done.err)
                return
            if took < 900:
                self.assertEqual(done.err, "")
        self.skipTest("nothing takes a second")


class Completion(CliTest):
    def script(self, shell):
        name = self.write("script", self.expect(0, "completion", shell).out)
        return str(self.dir / name)

    def bash_replies(self, *words):
        program = 'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _stowage; printf "%s\\n" "${COMPREPLY[@]}"'
        command = ["bash", "--norc", "-c", program, "bash", self.script("bash"), "stowage", *words]
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
        self.assertEqual(done.stderr, "")
        return done.stdout.split()

    @unittest.skipUnless(shutil.which("bash"), "bash is not installed")
    def test_bash(self):
        subprocess.run(["bash", "-n", self.script("bash")], check=True, timeout=60)
        self.assertEqual(self.bash_replies("pl"), ["plan"])
        self.assertEqual(self.bash_replies("co"), ["compare", "convert", "completion"])
        self.assertEqual(set(COMMANDS) - set(self.bash_replies("")), set())
        self.assertEqual(self.bash_replies("plan", "--cap"), ["--capacity"])
        self.assertEqual(self.bash_replies("plan", "model.json", "--no"), ["--no-reuse"])
        self.assertEqual(self.bash_replies("verify", "--cap"), [])
        self.assertEqual(self.bash_replies("plan", "mod"), [], "file names are bash's own affair")
        for command in COMMANDS:
            self.assertEqual(set(self.bash_replies(command, "-")), options_of(self, command))

    @unittest.skipUnless(shutil.which("zsh"), "zsh is not installed")
    def test_zsh(self):
        subprocess.run(["zsh", "-n", self.script("zsh")], check=True, timeout=60)

    @unittest.skipUnless(shutil.which("fish"), "fish is not installed")
    def test_fish(self):
        subprocess.run(["fish", "--no-execute", self.script("fish")], check=True, timeout=60)

    def test_scripts_name_every_command_and_option(self):
        zsh, fish = (self.expect(0, "completion", shell).out for shell in ("zsh", "fish"))
        for command in COMMANDS:
            self.assertRegex(zsh, rf"\b{command}\b")
            for option in options_of(self, command):
                self.assertRegex(zsh, rf"(?m)^ *{command}\) .* {option} ")
                fish_option = f" -l {option[2:]} " if option.startswith("--") else f" -s {option[1:]} "
                self.assertTrue(any(f"from {command}'" in line and fish_option in line for line in fish.splitlines()), option)

    def test_strings_of_fish_are_closed(self):
        for line in self.expect(0, "completion", "fish").out.splitlines():
            self.assertEqual(len(re.findall(r"(?<!\\)'", line)) % 2, 0, line)


def help_of(test, command):
    return test.expect(0, *([command] if command else []), "--help").out


def options_of(test, command):
    """The options that --help lists, without their values."""
    listed = re.findall(r"(?m)^  (-[^\s]+)", help_of(test, command))
    return {re.sub(r"[:=].*", "", option) for names in listed for option in names.split(",") if option.startswith("-")}


def solver_names(test):
    return re.search(r"--solver \S*\{(.*?)\}", help_of(test, "plan")).group(1).split(",")


class ManPage(CliTest):
    def setUp(self):
        super().setUp()
        source = re.sub(r"\\f.", "", MAN_PAGE.read_text()).replace("\\-", "-")
        self.source = "\n".join(line for line in source.splitlines() if not line.startswith('.\\"'))

    def options_in(self, text):
        return set(re.findall(r"(?<![\w./-])--?[a-z][a-z-]*", text))

    def section(self, start):
        return re.search(rf"(?ms)^\.SS {start}\b.*?(?=^\.S[SH] )", self.source).group(0)

    def test_it_lists_the_options_of_every_command(self):
        help_options = {"-h", "--help"}
        self.assertLessEqual(options_of(self, ""), self.options_in(self.section("Without a command")))
        for command in COMMANDS:
            with self.subTest(command=command):
                self.assertEqual(self.options_in(self.section(f"stowage {command}")) - help_options, options_of(self, command) - help_options)

    def test_it_mentions_no_other_option(self):
        known = options_of(self, "").union(*(options_of(self, command) for command in COMMANDS))
        self.assertEqual(self.options_in(self.source) - known, set())

    def test_it_has_its_sections_and_exit_codes(self):
        for section in ("NAME", "SYNOPSIS", "DESCRIPTION", "COMMANDS", "EXIT STATUS", "ENVIRONMENT", "FILES", "EXAMPLES", "SEE ALSO"):
            self.assertRegex(self.source, rf"(?m)^\.SH {section}$")
        self.assertEqual(re.findall(r"(?m)^\.TP\n\.B (\d)$", self.source), list("012345"))

    def test_it_names_the_version(self):
        self.assertIn(f'"{self.expect(0, "--version").out.strip()}"', self.source)

    @unittest.skipUnless(shutil.which("man"), "man is not installed")
    def test_it_is_formatted_without_a_warning(self):
        command = ["man", "--warnings", "-E", "UTF-8", "-l", str(MAN_PAGE)]
        environment = self.environment(MANROFFSEQ="", MANWIDTH="80", LC_ALL="C.UTF-8")
        done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=60)
        if "has been minimized" in done.stdout:
            self.skipTest("man is a stub here")
        self.assertEqual((done.returncode, done.stderr), (0, ""))


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    STOWAGE = os.path.abspath(sys.argv.pop(1))
    unittest.main()
