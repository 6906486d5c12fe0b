"""The pages that --html writes: what is in them, when they are written, and what is said about it.

Usage: page_test.py PATH/TO/stowage [unittest's arguments]

Every test runs the program in a directory of its own, with inputs that it wrote there.
"""

import base64
import gzip
import json
import os
import pathlib
import re
import unittest

from support import EXAMPLES, OLD, PROJECT, CliTest, chain, main, table_of

VIEWER = PROJECT / "viewer"
MODELS_AT = pathlib.Path(os.environ.get("STOWAGE_DATA", PROJECT / ".." / "shared" / "data")) / "onnx"
MODELS = sorted(MODELS_AT.glob("*.onnx.gz"))
TRACE = PROJECT / "examples" / "serving_trace.csv"
DATA = re.compile(r'<script type="application/gzip" id="stowage-data">\s*([A-Za-z0-9+/=]+)\s*</script>')


def data_of(page):
    """The object in a page."""
    (text,) = DATA.findall(page)
    return json.loads(gzip.decompress(base64.b64decode(text, validate=True)))


def joined_viewer():
    """The page as the build should join it, with the marks of title and data still in it."""
    read = lambda name: (VIEWER / name).read_text()
    modules = [read(name) for name in read("modules.txt").split()]
    lines = [line for module in modules for line in (module + "\n").split("\n")[:-1] if not line.startswith("import ")]
    script = "\n".join([""] + [line.removeprefix("export ") for line in lines]) + "\n"
    marks = {"style": read("style.css"), "script": script}
    return re.sub(r"<!-- stowage:(style|script) -->", lambda mark: marks[mark[1]], read("index.html"))


def wide():
    """Two peaks of which only one matters: w is larger than all the rest."""
    tensors = [{"name": "x", "size": 100, "flags": ["input"]}, {"name": "w", "size": 9000}, {"name": "y", "size": 100, "flags": ["output"]}]
    ops = [{"name": "up", "kind": "UP", "inputs": [0], "outputs": [1]}, {"name": "down", "kind": "DOWN", "inputs": [1], "outputs": [2]}]
    return {"schema": "stowage.graph/1", "name": "wide", "memories": [{"name": "cpu"}], "tensors": tensors, "ops": ops}


class PageTest(CliTest):
    def page(self, code, *arguments, name="page.html", **more):
        """The data of the page that a command writes, and how the command ended."""
        done = self.expect(code, *arguments, "--html", name, **more)
        self.assertIn(f"report: {name}\n", done.err)
        return data_of(self.read(name)), done

    def check_columns(self, plan):
        for table in ("ops", "tensors", "holders", "pieces"):
            self.assertEqual(len({len(column) for column in plan[table].values()}), 1, table)
        self.assertEqual(len(plan["ops"]["name"]), plan["steps"])
        self.assertEqual(sum(plan["tensors"]["read_count"]), len(plan["reads"]))
        self.assertEqual(sum(plan["holders"]["piece_count"]), len(plan["pieces"]["low"]))
        self.assertEqual(plan["strings"][0], "")
        self.assertEqual(len(set(plan["strings"])), len(plan["strings"]))
        self.assertEqual([arena["size"] for arena in plan["arenas"]], [arena["size"] for arena in plan["summary"]["arenas"]])
        self.assertEqual(sum(arena["size"] for arena in plan["arenas"] if arena["counts"]), plan["summary"]["peak_bytes"])


class Plan(PageTest):
    def test_every_example_has_one(self):
        for path in EXAMPLES:
            with self.subTest(example=path.name):
                page, done = self.page(0, "plan", path, "--json")
                self.assertEqual((page["schema"], page["title"]), ("stowage.page/1", path.name))
                (plan,) = page["plans"]
                self.assertEqual(plan["summary"], json.loads(done.out))
                self.assertEqual((plan["label"], plan["capacity"]), (str(path), None))
                self.check_columns(plan)
                graph = json.loads(path.read_text())
                names = [plan["strings"][name] for name in plan["tensors"]["name"]]
                self.assertEqual(names, [tensor["name"] for tensor in graph["tensors"]])
                self.assertEqual(plan["explain"]["schema"], "stowage.explain/1")
                self.assertEqual(plan["explain"]["peak_bytes"], plan["summary"]["peak_bytes"])
                self.assertIsNone(plan["explain"]["budget"])
                self.assertTrue(plan["text"].startswith(plan["explain"]["cause"].split()[0]))

    @unittest.skipUnless(MODELS, f"NO DATA: no .onnx.gz files at {MODELS_AT}; set STOWAGE_DATA")
    def test_every_real_model_has_a_small_one(self):
        for path in MODELS:
            with self.subTest(model=path.name):
                page, done = self.page(0, "plan", path, "--json")
                self.assertEqual(page["plans"][0]["summary"], json.loads(done.out))
                self.check_columns(page["plans"][0])
                self.assertLess(len(self.read("page.html")), 5 << 20)

    def test_pieces_are_where_the_plan_says(self):
        for path in EXAMPLES:
            page, _ = self.page(0, "plan", path, "-o", "plan.json")
            plan, placed = page["plans"][0], json.loads(self.read("plan.json"))
            ends = [0]
            for count in plan["holders"]["piece_count"]:
                ends.append(ends[-1] + count)
            for placement in placed["placements"]:
                holder = plan["tensors"]["holder"][placement["tensor"]]
                self.assertEqual(plan["holders"]["arena"][holder], placement["arena"])
                arena = plan["arenas"][placement["arena"]]
                low = sum(arena["regions"][: placement.get("region", 0)]) + placement["offset"]
                pieces = range(ends[holder], ends[holder + 1])
                inside = [p for p in pieces if plan["pieces"]["low"][p] <= low and low + placement["size"] <= plan["pieces"]["low"][p] + plan["pieces"]["size"][p]]
                self.assertTrue(inside or placement["size"] == 0, f"{path.name}: {placement}")

    def test_it_is_the_viewer_with_the_data(self):
        self.page(0, "plan", self.write("chain.json", chain()))
        page = self.read("page.html")
        before, between, after = re.split(r"<!-- stowage:(?:title|data) -->", joined_viewer())
        title, data = page[len(before):].split(between)
        self.assertTrue(page.startswith(before))
        self.assertEqual(title, "chain.json - stowage")
        self.assertTrue(data.endswith(after))
        self.assertEqual(data_of(page)["plans"][0]["summary"]["name"], "chain")

    def test_without_explanation(self):
        page, _ = self.page(0, "plan", self.write("chain.json", chain()), "--explain-time", "0")
        self.assertEqual((page["plans"][0]["explain"], page["plans"][0]["text"]), (None, None))
        self.expect(2, "plan", "chain.json", "--html", "page.html", "--explain-time", "soon")
        self.expect(2, "plan", "chain.json", "--explain-time", "1s")

    def test_what_does_not_fit_has_one_with_the_answer(self):
        name = self.write("wide.json", wide())
        page, done = self.page(4, "plan", name, "--capacity", "1000", "--json")
        self.assertIn("does not fit", done.err)
        self.assertEqual(json.loads(done.out)["status"], "infeasible")
        (plan,) = page["plans"]
        self.check_columns(plan)
        self.assertEqual((plan["capacity"], plan["summary"]["status"], plan["summary"]["peak_bytes"]), (1000, "optimal", 9100))
        answer = plan["explain"]["budget"]
        self.assertEqual((answer["budget_bytes"], answer["fits"]), (1000, False))
        self.assertEqual([holder["name"] for holder in answer["shrink"]["holders"]], ["w"])
        self.assertIn("does not fit", plan["text"])

    def test_what_fits_says_so(self):
        page, _ = self.page(0, "plan", self.write("wide.json", wide()), "--capacity", "1MiB")
        self.assertEqual(page["plans"][0]["capacity"], 2**20)
        self.assertTrue(page["plans"][0]["explain"]["budget"]["fits"])

    def test_of_a_previous_plan(self):
        name = self.write("wide.json", wide())
        self.expect(0, "plan", name, "-o", "old.json")
        page, _ = self.page(0, "plan", name, "--previous", "old.json")
        self.check_columns(page["plans"][0])

    def test_of_a_table(self):
        rows = [(0, 3, 10), (1, 2, 5), (2, 4, 7)]
        name = self.write("table.csv", table_of(rows))
        page, done = self.page(0, "plan", name, "--json", "-o", "out.csv")
        (plan,) = page["plans"]
        self.check_columns(plan)
        self.assertEqual(plan["summary"], json.loads(done.out))
        self.assertEqual([plan["strings"][name] for name in plan["ops"]["name"]], ["step 0", "step 1", "step 2", "step 3"])
        self.assertEqual((plan["tensors"]["size"], plan["explain"]), ([10, 5, 7], None))
        offsets = [int(line.split(",")[-1]) for line in self.read("out.csv").splitlines()[1:]]
        for row, holder in enumerate(plan["tensors"]["holder"]):
            piece = {column: values[holder] for column, values in plan["pieces"].items()}
            self.assertEqual(piece, {"first": rows[row][0], "end": rows[row][1], "low": offsets[row], "size": rows[row][2]})

    def test_of_a_table_that_does_not_fit(self):
        page, _ = self.page(4, "plan", self.write("table.csv", table_of([(0, 3, 10), (1, 2, 5)])), "--capacity", "12")
        self.assertEqual((page["plans"][0]["capacity"], page["plans"][0]["summary"]["peak_bytes"]), (12, 15))

    def test_standard_output_has_nothing_else(self):
        name = self.write("chain.json", chain())
        for arguments in (("plan", name, "--json"), ("plan", self.write("t.csv", table_of([(0, 1, 5)]))), ("explain", name), ("diff", name, name, "--json"),
                          ("replay", TRACE)):
            done = self.expect(0, *arguments, "--html", "-")
            self.assertTrue(done.out.startswith("<!doctype html>") and done.out.endswith("</html>\n"), arguments)
            self.assertEqual((data_of(done.out)["schema"], done.err), ("stowage.page/1", ""))
        for other in ("-o", "--trace", "--snapshot"):
            self.expect(2, "plan", name, "--html", "-", other, "-")
        page, _ = self.page(0, "plan", "-", stdin=json.dumps(chain()).encode())
        self.assertEqual((page["title"], page["plans"][0]["label"]), ("chain", "-"))

    def test_without_a_name_is_an_error(self):
        done = self.expect(2, "plan", EXAMPLES[0], "--html", "")
        self.assertIn("--html: a file must have a name", done.err)

    def test_errors_leave_what_was_there(self):
        name = self.write("chain.json", chain())
        self.assertIn("nowhere", self.expect(1, "plan", name, "--html", "nowhere/page.html").err)
        self.write("page.html", OLD)
        self.expect(1, "plan", "missing.json", "--html", "page.html")
        self.expect(2, "plan", name, "--html", "page.html", "--solver", "nobody")
        self.assertEqual((self.dir / "page.html").read_bytes(), OLD)

    def test_inputs_are_never_overwritten(self):
        name = self.write("chain.json", chain())
        self.expect(0, "plan", name, "-o", "plan.json")
        trace = self.write("trace.csv", TRACE.read_bytes())
        for file, *arguments in ((name, "plan", name), ("plan.json", "plan", name, "--previous", "plan.json"), (name, "explain", name),
                                 (name, "diff", name, "plan.json"), ("plan.json", "diff", name, "plan.json"),
                                 (name, "diff", "plan.json", "plan.json", "--graph-b", name), (trace, "replay", trace)):
            before = (self.dir / file).read_bytes()
            self.assertIn("never overwritten", self.expect(2, *arguments, "--html", file).err, arguments)
            self.assertEqual((self.dir / file).read_bytes(), before, arguments)

    def test_names_are_nothing_but_data(self):
        hostile = ["</script><script>alert(1)</script>", "<!--", "\"'`${x}\\", "\u202egnp", "\x01\x7f\n", "n" * 10000, "<!-- stowage:data -->"]
        graph = chain()
        self.page(0, "plan", self.write("chain.json", graph), "--explain-time", "0")
        bare = DATA.sub("", self.read("page.html"))
        for text in hostile:
            graph["name"] = graph["tensors"][1]["name"] = graph["ops"][0]["name"] = graph["ops"][0]["kind"] = text
            page, _ = self.page(0, "plan", self.write("chain.json", graph))
            self.assertEqual(DATA.sub("", self.read("page.html")), bare)
            self.assertIn(text, page["plans"][0]["strings"])
            self.assertEqual(page["plans"][0]["summary"]["name"], text)

    def test_the_title_is_escaped(self):
        name = self.write("<b>&'.json", chain())
        self.page(0, "plan", name)
        self.assertIn("&lt;b&gt;&amp;&#39;.json - stowage", self.read("page.html"))
        self.assertNotIn("<b>", self.read("page.html").split("</head>")[0])


class Others(PageTest):
    def test_of_an_explanation(self):
        name = self.write("wide.json", wide())
        page, done = self.page(0, "explain", name, "--capacity", "1000", "--json")
        (plan,) = page["plans"]
        self.check_columns(plan)
        self.assertEqual(plan["capacity"], 1000)
        self.assertEqual(plan["explain"], json.loads(done.out))

    def test_of_a_diff(self):
        before, after = self.write("before.json", chain()), self.write("after.json", wide())
        page, done = self.page(6, "diff", before, after, "--json", "--fail-if-grows", "1%")
        self.assertEqual(page["title"], "before.json → after.json")
        self.assertEqual(page["diff"], json.loads(done.out))
        self.assertEqual([plan["label"] for plan in page["plans"]], ["before.json", "after.json"])
        for plan, peak in zip(page["plans"], ("peak_before", "peak_after")):
            self.check_columns(plan)
            self.assertEqual(plan["summary"]["peak_bytes"], page["diff"][peak])

    def test_of_a_diff_of_plans(self):
        for name, graph in (("a", chain()), ("b", wide())):
            self.expect(0, "plan", self.write(f"{name}.json", graph), "-o", f"{name}.plan.json")
        page, _ = self.page(0, "diff", "a.plan.json", "b.plan.json", "--graph-a", "a.json", "--graph-b", "b.json")
        for plan in page["plans"]:
            self.check_columns(plan)
            self.assertGreater(plan["steps"], 0)
            self.assertGreater(len(plan["pieces"]["low"]), 0)
        page, _ = self.page(0, "diff", "a.plan.json", "b.plan.json")
        for plan in page["plans"]:
            self.check_columns(plan)
            self.assertEqual((plan["steps"], plan["holders"]["arena"]), (0, []), "a plan alone does not tell when")

    def test_of_a_replay(self):
        for options in ((), ("--allocator", "torch-native"), ("--passes", "2"), ("--limit", "200MiB")):
            with self.subTest(options=options):
                page, done = self.page(0, "replay", TRACE, "--json", *options)
                shown, report = page["replay"], json.loads(done.out)
                self.assertEqual((page["title"], page["plans"], shown["trace"]), ("serving_trace.csv", [], str(TRACE)))
                self.assertEqual(shown["report"], report)
                self.assertEqual(shown["events"], report["events"])
                self.assertEqual(max(shown["requested"]), report["peak_requested_bytes"])
                self.assertEqual(max(shown["reserved"]), report["peak_reserved_bytes"])
                self.assertEqual(shown["at"], list(range(report["events"])))
                self.assertEqual({len(shown[column]) for column in ("at", "requested", "reserved", "largest_idle")}, {report["events"]})

    def test_a_long_replay_has_4000_samples(self):
        lines = [f"a,{i},{1000 + i * 7919 % 100000},0\n" + (f"f,{i - 20},{1000 + (i - 20) * 7919 % 100000},0\n" if i >= 20 else "") for i in range(6000)]
        page, done = self.page(0, "replay", self.write("long.csv", "op,id,size,stream\n" + "".join(lines)), "--json")
        shown, report = page["replay"], json.loads(done.out)
        self.assertEqual(len(shown["at"]), 4000)
        self.assertEqual((shown["at"][0], shown["at"][-1]), (0, report["events"] - 1))
        self.assertEqual(sorted(set(shown["at"])), shown["at"])
        self.assertEqual((max(shown["requested"]), max(shown["reserved"])), (report["peak_requested_bytes"], report["peak_reserved_bytes"]))


if __name__ == "__main__":
    main(__doc__)
