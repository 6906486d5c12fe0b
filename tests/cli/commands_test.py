"""The contract of every command except plan: exit codes, output streams, and what the options do.

Usage: commands_test.py PATH/TO/stowage [unittest's arguments]

Every test runs the program in a directory of its own, with inputs that it wrote there.
"""

import csv
import json

from support import COMMANDS, EXAMPLES, CliTest, chain, graph_of, main, random_rows, solver_names, table_of


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
                     "plan chain.json --alignment 0", "plan chain.json --zero-fill never", "plan chain.json --base loose",
                     "plan chain.json --region-limit much", "plan chain.json --batch-start late", "plan chain.json --fuse-inputs -1",
                     "plan chain.json --no-reuse-names", "verify chain.json chain.json --base loose",
                     "verify chain.json chain.json --region-limit", "verify chain.json", "verify chain.json chain.json --max-findings 0",
                     "verify chain.json chain.json --max-findings -1", "compare", "convert chain.json", "completion", "completion tcsh"]:
            with self.subTest(line=line):
                done = self.expect(2, *line.split())
                self.assertEqual(done.out, "")
                self.assertNotEqual(done.err.strip(), "")


    def complaint(self, line):
        done = self.expect(2, *line.split())
        self.assertTrue(done.err.startswith("stowage: "), done.err)
        return done.err[len("stowage: "):].splitlines()[0]

    def test_what_is_unknown_comes_first_with_what_is_like_it(self):
        for line, complaint in [("", "a command is missing; 'stowage help' lists them"),
                                ("pln", "there is no command 'pln'; did you mean 'plan'?"),
                                ("frobnicate x", "there is no command 'frobnicate'; 'stowage help' lists them"),
                                ("help pln", "there is no command 'pln'; did you mean 'plan'?"),
                                ("plan --capcity 3", "plan: there is no option '--capcity'; did you mean '--capacity'?"),
                                ("plan x --capcity=3", "plan: there is no option '--capcity'; did you mean '--capacity'?"),
                                ("plan x --seed -1 --capctiy", "plan: there is no option '--capctiy'; did you mean '--capacity'?"),
                                ("verify a b --tim 2", "verify: there is no option '--tim'; did you mean '--time-limit'?"),
                                ("plan x -q", "plan: there is no option '-q'; 'stowage help plan' lists them"),
                                ("plan x --quickly", "plan: there is no option '--quickly'; 'stowage help plan' lists them"),
                                ("plan", "plan: INPUT is required")]:
            with self.subTest(line=line):
                self.assertEqual(self.complaint(line), complaint)

    def test_help_is_a_command_too(self):
        self.assertEqual(self.expect(0, "help").out, self.expect(0, "--help").out)
        for command in COMMANDS:
            self.assertEqual(self.expect(0, "help", command).out, self.expect(0, command, "--help").out)


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

    def test_a_plan_with_other_names_is_for_another_graph(self):
        self.assertEqual([place["name"] for place in self.plan["placements"]], [tensor["name"] for tensor in chain()["tensors"]])
        self.place(1)["name"] = "elsewhere"
        self.findings("reference", "elsewhere")
        self.assertIn("the plan is for another graph: 1 of its ", self.expect(3, "verify", self.graph, "bad.json").out)
        for place in self.plan["placements"]:
            del place["name"]
        self.write("nameless.json", self.plan)
        self.expect(0, "verify", self.graph, "nameless.json")

    def test_findings_stop_after_so_many(self):
        self.plan["placements"] = []
        self.write("bad.json", self.plan)
        found = json.loads(self.expect(3, "verify", self.graph, "bad.json", "--json", "--max-findings", "2").out)
        self.assertEqual(len(found["findings"]), 2)

    def test_a_valid_plan_as_json(self):
        found = json.loads(self.expect(0, "verify", self.graph, "plan.json", "--json").out)
        self.assertEqual(found, {"schema": "stowage.findings/1", "valid": True, "findings": [], "unchecked": []})

    def claim(self, bound, proof=None):
        """The plan with more room than it needs, and a claim that all of it is needed."""
        self.plan["arenas"][0].update(size=bound, regions=[bound], lower_bound=bound, proven_optimal=True)
        self.plan["arenas"][0].pop("proof", None)
        if proof:
            self.plan["arenas"][0]["proof"] = proof
        return self.write("claim.json", self.plan)

    def test_a_bound_that_nothing_supports_is_found(self):
        self.claim(8192)
        self.findings("claim", "cpu")
        self.claim(8192, {"argument": "live_bytes", "op": 1})
        self.findings("claim", "op1")

    def test_a_bound_by_search_is_reported_as_not_checked(self):
        claim = self.claim(8192, {"argument": "search"})
        out = self.expect(0, "verify", self.graph, claim).out
        self.assertIn("\n  note: the lower bound 8192 of arena 'cpu' (0) holds by search, not checked; at some step 256 bytes are needed\n", out)
        found = json.loads(self.expect(0, "verify", self.graph, claim, "--json").out)
        self.assertEqual([(each["arena"], each["lower_bound"], each["checked"]) for each in found["unchecked"]], [(0, 8192, 256)])

    def test_recheck_confirms_or_refutes_a_bound(self):
        self.assertIn("\n  recheck: arena 'cpu': confirmed: the bound 256 was proven again\n",
                      self.expect(0, "verify", self.graph, "plan.json", "--recheck", "--time-limit", "2s").out)
        claim = self.claim(8192, {"argument": "search"})
        self.assertIn("\n  recheck: arena 'cpu': refuted: a plan of 256 bytes exists, below the bound 8192\n",
                      self.expect(3, "verify", self.graph, claim, "--recheck").out)
        found = json.loads(self.expect(3, "verify", self.graph, claim, "--recheck", "--json").out)
        self.assertTrue(found["valid"])
        self.assertEqual(found["recheck"]["verdict"], "refuted")
        self.assertEqual(found["recheck"]["bounds"], [{"lower_bound": 8192, "proven": 256, "found": 256, "verdict": "refuted"}])

    def test_recheck_is_for_graphs_and_its_time_limit_for_recheck(self):
        self.assertIn("--recheck is for graphs", self.expect(2, "verify", self.table, self.table, "--recheck").err)
        self.expect(2, "verify", self.graph, "plan.json", "--time-limit", "1s")

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
                    # Of a graph with batches, the bound holds for every way to lower it, of which the table is one.
                    judge = self.assertGreaterEqual if "batches" in str(graph) else self.assertEqual
                    judge(table["lower_bound_bytes"], planned["lower_bound_bytes"])
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


if __name__ == "__main__":
    main(__doc__)
