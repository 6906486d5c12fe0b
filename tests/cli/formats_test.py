"""docs/formats.md cannot go stale: every graph in it is planned and verified, and has the figures given with it.

Usage: formats_test.py PATH/TO/stowage [unittest's arguments]

A graph is a block ```json of schema stowage.graph/1. Behind it stands at least one line "plan OPTIONS: FACT, FACT…". Facts: `peak N` bytes,
`KIND N` bytes in all arenas of a kind, `arenas N`, `copied N` bytes, and the length of a list of the plan (`copies N`, `clears N`…).
"""

import gzip
import json
import os
import pathlib
import re
import unittest

import onnx_bytes
import tflite_model
from support import FORMATS, PROJECT, CliTest, chain, documents, main

STEPS_AT = pathlib.Path(os.environ.get("STOWAGE_DATA", PROJECT / ".." / "shared" / "data")) / "train"
STEPS = sorted(STEPS_AT.glob("*.json.gz"))

KINDS = ("shared", "fixed", "session", "persistent", "pool", "user")
LISTS = ("clears", "bindings", "copies", "edges", "notes")
PLAN_LINE = re.compile(r"(?m)^ {4}plan( [^:\n]*)?: (.*)$")
VERIFY_OPTIONS = ("--base", "--region-limit", "--keep-inputs")  # what a plan must be verified with, as it was planned with


def claims():
    """Of every graph: its text, and its lines as (options, {fact: figure})."""
    for graph, below in documents("stowage.graph/1"):
        lines = [(options.split(), dict(fact.split(" ") for fact in facts.split(", "))) for options, facts in PLAN_LINE.findall(below)]
        yield graph, [(options, {fact: int(figure) for fact, figure in facts.items()}) for options, facts in lines]


def figure(plan, fact):
    if fact == "peak":
        return sum(arena["size"] for arena in plan["arenas"] if arena["kind"] not in ("persistent", "user"))
    if fact == "arenas":
        return len(plan["arenas"])
    if fact == "copied":
        return sum(copy["size"] for copy in plan["copies"])
    if fact in LISTS:
        return len(plan[fact])
    if fact in KINDS:
        return sum(arena["size"] for arena in plan["arenas"] if arena["kind"] == fact)
    raise ValueError(f"'{fact}' is no fact of a plan")


def verify_options(options):
    words = []
    for i, word in enumerate(options):
        if word in VERIFY_OPTIONS:
            words += [word] if word == "--keep-inputs" else options[i:i + 2]
    return words


class Graphs(CliTest):
    def test_every_graph_has_the_figures_that_stand_beside_it(self):
        for text, lines in claims():
            name = json.loads(text)["name"]
            self.assertNotEqual(lines, [], f"graph '{name}' says nothing about its plan")
            for options, facts in lines:
                with self.subTest(graph=name, options=options):
                    graph = self.write("graph.json", text)
                    self.expect(0, "plan", graph, *options, "-o", "plan.json")
                    plan = json.loads(self.read("plan.json"))
                    self.assertEqual({fact: figure(plan, fact) for fact in facts}, facts)
                    self.expect(0, "verify", graph, "plan.json", *verify_options(options))

    def test_every_graph_is_written_as_the_program_writes_it(self):
        for text, _ in claims():
            with self.subTest(graph=json.loads(text)["name"]):
                self.expect(0, "convert", self.write("graph.json", text), "again.json")
                self.assertEqual(self.read("again.json"), text)

    def test_plans_are_valid_for_the_graphs_of_their_names(self):
        graphs = {json.loads(text)["name"]: text for text, _ in claims()}
        plans = [text for text, _ in documents("stowage.plan/1")]
        self.assertNotEqual(plans, [])
        for text in plans:
            with self.subTest(plan=json.loads(text)["graph"]):
                graph = self.write("graph.json", graphs[json.loads(text)["graph"]])
                self.expect(0, "verify", graph, self.write("plan.json", text))

    def test_every_constraint_has_an_example(self):
        for heading in ("Contiguous, padded", "Contiguous, packed", "Collective chains", "Layout conflicts", "Zero fill", "Zero copy",
                        "Reusable buffers", "Constants and variables", "Fixed addresses", "Several memories", "Workspace scopes", "Batches",
                        "Same start", "Shape data", "Branches", "Loops", "Calls", "No reuse", "Kept apart", "Prefetch rings"):
            with self.subTest(heading=heading):
                section = re.search(rf"(?ms)^### {heading}\n(.*?)(?=^##)", FORMATS).group(1)
                self.assertIn('{"schema":"stowage.graph/1"', section)

    def test_links_lead_to_headings(self):
        anchors = {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in re.findall(r"(?m)^#+ (.*)$", FORMATS)}
        for target in re.findall(r"\]\(#([^)]*)\)", FORMATS):
            self.assertIn(target, anchors)


class Documents(CliTest):
    """README.md and the documents that it leads to."""

    FILES = [PROJECT / "README.md", PROJECT / "CONTRIBUTING.md", PROJECT / "bench" / "README.md", PROJECT / "viewer" / "README.md",
             PROJECT / "src" / "README.md", *sorted((PROJECT / "docs").glob("*.md"))]

    @staticmethod
    def anchors(path):
        headings = re.findall(r"^#+ (.*)$", path.read_text(), re.MULTILINE)
        return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}

    def test_links_lead_somewhere(self):
        count = 0
        for path in self.FILES:
            for target in re.findall(r"\]\((?!https?:)([^)\s]+)\)", path.read_text()):
                file, _, anchor = target.partition("#")
                there = (path.parent / file).resolve() if file else path
                self.assertTrue(there.exists(), f"{path.name}: {target}")
                if anchor and there.suffix == ".md":
                    self.assertIn(anchor, self.anchors(there), f"{path.name}: {target}")
                count += 1
        self.assertGreater(count, 50)

    def test_figures_that_need_other_data_say_which(self):
        """Whoever reads a figure about a file that is not in the repository finds out where it is from."""
        data = (PROJECT / "docs" / "data.md").read_text()
        for path in self.FILES:
            text = path.read_text()
            if path.name != "data.md" and re.search(r"exact_llama|gpt2_train_varlen|tv_densenet121|pangu_2", text):
                self.assertIn("data.md", text, path.name)
        for folder in ("csv", "onnx", "tflite", "graphs", "train", "traces"):
            self.assertIn(f"| `{folder}/` |", data)

    def test_the_sample_binds_places_not_offsets_alone(self):
        """Two arenas both have an offset 0."""
        (sample,) = re.findall(r"```cpp\n(.*?GraphBuilder builder.*?)```", (PROJECT / "README.md").read_text(), re.DOTALL)
        for line in sample.splitlines():
            if "p.offset" in line:
                self.assertIn("p.arena, p.region, p.offset", line)


class Fields(CliTest):
    """Fields that say what rewrites and people want to know."""

    def annotated(self):
        graph = chain()
        graph["memories"][0]["bandwidth"] = 1.5
        for i, op in enumerate(graph["ops"]):
            op.update(cost=1500 * i, flops=0.5, recompute=False, origin=7, scope="layer 1", source="net.py:3")
        graph["tensors"][0]["origin"] = 3
        return graph

    def test_convert_keeps_them_and_plans_ignore_them(self):
        plain, annotated = self.write("plain.json", json.dumps(chain())), self.write("annotated.json", json.dumps(self.annotated()))
        self.expect(0, "convert", annotated, "again.json")
        again = json.loads(self.read("again.json"))
        for op, original in zip(again["ops"], self.annotated()["ops"]):
            self.assertEqual({key: op[key] for key in original}, original)
        self.assertEqual(again["memories"][0]["bandwidth"], 1.5)
        self.assertEqual(again["tensors"][0]["origin"], 3)
        self.expect(0, "plan", plain, "-o", "a.json")
        self.expect(0, "plan", annotated, "-o", "b.json")
        self.assertEqual(self.read("a.json"), self.read("b.json"))

    @unittest.skipUnless(STEPS, f"NO DATA: no .json.gz files at {STEPS_AT}; set STOWAGE_DATA")
    def test_training_steps_are_read_with_all_they_say(self):
        for step in STEPS:
            with self.subTest(step=step.name):
                original = json.loads(gzip.decompress(step.read_bytes()))
                self.assertEqual(self.summary(str(step))["ops"], len(original["ops"]))
                self.expect(0, "convert", str(step), "again.json")
                for op, before in zip(json.loads(self.read("again.json"))["ops"], original["ops"]):
                    for field in ("cost", "flops", "recompute"):
                        self.assertEqual(op.get(field), before.get(field))


def onnx_model():
    return onnx_bytes.model(onnx_bytes.node("Relu", ["x"], ["y"]), onnx_bytes.field(11, onnx_bytes.value("x", [256])),
                            onnx_bytes.field(12, onnx_bytes.value("y", [256])))


def listed_formats():
    return re.findall(r"(?m)^\| `(\w+)` \| `(\.\w+)` \|", FORMATS)


class Apart(CliTest):
    """Tensors, and rows of tables, that never share a byte."""

    def chain(self, apart):
        graph = chain()
        for op in graph["ops"]:
            del op["in_place"]
        return self.write("graph.json", json.dumps(graph | {"apart": apart}))

    def test_plan_and_verify(self):
        self.assertEqual(self.peak(self.chain([])), 256)
        self.expect(0, "plan", "graph.json", "-o", "together.json")
        self.assertEqual(self.peak(self.chain([[0, 2]]), "-o", "apart.json"), 384)
        self.expect(0, "verify", "graph.json", "apart.json")
        findings = json.loads(self.expect(3, "verify", "graph.json", "together.json", "--json").out)["findings"]
        self.assertEqual([finding["rule"] for finding in findings], ["apart"])
        self.assertIn("tensor 'x' (0)", findings[0]["message"])
        self.assertIn("tensor 'b' (2)", findings[0]["message"])

    def test_what_does_not_fit_is_proven_not_to(self):
        self.expect(4, "plan", self.chain([[0, 2]]), "--capacity", "383")

    def test_convert_keeps_the_pairs(self):
        self.expect(0, "convert", self.chain([[2, 0]]), "again.json")
        self.assertEqual(json.loads(self.read("again.json"))["apart"], [[2, 0]])
        self.expect(0, "convert", "graph.json", "table.csv")
        self.assertEqual(self.peak("table.csv"), 384)

    def test_explain_says_what_they_cost(self):
        costs = json.loads(self.expect(0, "explain", self.chain([[0, 2]]), "--json").out)["costs"]
        self.assertEqual([cost["cost_bytes"] for cost in costs if cost["constraint"] == "tensors kept apart"], [128])

    def test_rows_of_a_table(self):
        table = self.write("table.csv", "id,lower,upper,size,apart\na,0,2,8,\nb,2,4,8,a\n")
        self.assertEqual(self.peak(table, "-o", "out.csv"), 16)
        self.expect(0, "verify", table, "out.csv")
        self.assertEqual(self.read("out.csv").splitlines()[0], "id,lower,upper,size,apart,offset")
        wrong = self.write("wrong.csv", "id,lower,upper,size,apart,offset\na,0,2,8,,0\nb,2,4,8,a,7\n")
        self.assertIn("apart: id 'a' [0, 8) and id 'b' [7, 15) share bytes, but the input keeps them apart",
                      self.expect(3, "verify", table, wrong).out)
        self.expect(0, "convert", table, "again.csv")
        self.assertEqual(self.read("again.csv"), "id,lower,upper,size,apart\na,0,2,8,\nb,2,4,8,a\n")


class Recognition(CliTest):
    """The format is recognised by the content, whatever the name."""

    def test_names_mislead_nobody(self):
        rows = b"id,lower,upper,size\na,0,2,8\nb,1,3,8\n"
        for content, peak in ((json.dumps(chain()).encode(), 128), (onnx_model(), 1024), (tflite_model.chain(), 64), (rows, 16)):
            peaks = set()
            for name in ("a.json", "a.onnx", "a.tflite.gz", "a.csv", "a", "a.bin"):
                packed = gzip.compress(content) if name.endswith(".gz") else content
                peaks.add(json.loads(self.expect(0, "plan", self.write(name, packed), "--json").out)["peak_bytes"])
            self.assertEqual(peaks, {peak})

    def test_what_is_not_known_lists_the_formats(self):
        known = ", ".join(f"{name} ({suffix})" for name, suffix in listed_formats())
        for content in (b"", b"hello", b"\x00\x01\x02"):
            error = self.expect(1, "plan", self.write("data.bin", content)).err
            self.assertTrue(error.startswith("stowage: data.bin: "), error)
            self.assertTrue(error.endswith(f"; known formats: {known}\n"), error)

    def test_help_and_documentation_list_the_same_formats(self):
        listed = listed_formats()
        shown = re.findall(r"(?m)^  (\w+) +(\.\w+) +\w", self.expect(0, "--help").out)
        self.assertEqual(listed, shown)
        for command in ("plan", "compare", "convert", "explain"):
            help_text = self.expect(0, command, "--help").out
            for name, suffix in listed:
                if command != "explain" or name != "csv":
                    self.assertIn(suffix, help_text)

    def test_a_copy_of_a_model_needs_no_suffix_to_be_verified(self):
        model = self.write("model", tflite_model.chain())
        self.expect(0, "plan", model, "-o", "planned.tflite")
        self.write("planned", (self.dir / "planned.tflite").read_bytes())
        self.assertIn("valid", self.expect(0, "verify", model, "planned").out)


if __name__ == "__main__":
    main(__doc__)
