"""Many inputs at many sizes: the table, what it says of bad inputs, and comparisons with an earlier one.

Usage: sweep_test.py PATH/TO/stowage [unittest's arguments]

Every test runs the program in a directory of its own, with inputs that it wrote there.
"""

import csv
import io
import json
import re
import signal
import subprocess

import support
from interrupt_test import hard_rows
from onnx_bytes import field, model, node, value
from support import OLD, CliTest, chain, main, round_up, table_of

COLUMNS = "input,hash,dims,options,peak,bound,proven,weights,total,status,ms,error"


def scaled(dims):
    """x -> a -> y of one shape: two tensors live at a time, since the Softmax does not write in place."""
    values = [field(number, value(name, dims)) for number, name in ((11, "x"), (13, "a"), (12, "y"))]
    return model(*values, node("Softmax", ["x"], ["a"]), node("Softmax", ["a"], ["y"]))


class SweepTest(CliTest):
    def table(self, *arguments, code=0):
        """The rows that a sweep writes to standard output."""
        done = self.expect(code, "sweep", *arguments, "--out", "-")
        self.assertEqual(done.out.splitlines()[0], COLUMNS)
        return list(csv.DictReader(io.StringIO(done.out)))


class Table(SweepTest):
    def test_rows_are_inputs_times_all_dims_in_this_order(self):
        a = self.write("a.onnx", scaled(["batch", "seq"]))
        b = self.write("b.onnx", scaled(["batch", "seq"]))
        rows = self.table(a, b, "--dim", "batch=1,2", "--dim", "seq=64,16")
        points = [{"batch": batch, "seq": seq} for batch in (1, 2) for seq in (64, 16)]
        self.assertEqual([row["input"] for row in rows], [a] * 4 + [b] * 4)
        self.assertEqual([row["dims"] for row in rows], 2 * [json.dumps(point, separators=(",", ":")) for point in points])
        for row, point in zip(rows, 2 * points):
            needed = 2 * round_up(4 * point["batch"] * point["seq"], 64)
            self.assertEqual((int(row["peak"]), int(row["bound"]), row["proven"], row["status"]), (needed, needed, "true", "optimal"))
            self.assertEqual((row["weights"], int(row["total"]), row["options"], row["error"]), ("0", needed, "{}", ""))
            self.assertRegex(row["hash"], r"^[0-9a-f]{32}$")
            self.assertGreater(float(row["ms"]), 0)
        self.assertEqual(len({row["hash"] for row in rows}), 1, "equal contents have one hash")

    def test_a_row_is_what_plan_says(self):
        name = self.write("a.onnx", scaled(["batch", 64]))
        (row,) = self.table(name, "--dim", "batch=3", "--padding", "none", "--keep-inputs")
        summary = self.summary(name, "--dim", "batch=3", "--padding", "none", "--keep-inputs")
        self.assertEqual([int(row[key]) for key in ("peak", "bound", "weights", "total")],
                         [summary[key] for key in ("peak_bytes", "lower_bound_bytes", "weights_bytes", "total_bytes")])
        self.assertEqual(row["options"], '{"keep_inputs":true,"padding":"none"}')

    def test_a_table_of_items_is_an_input_too(self):
        (row,) = self.table(self.write("t.csv", table_of([(0, 2, 100), (1, 3, 50)])))
        self.assertEqual((row["peak"], row["weights"], row["total"], row["dims"]), ("150", "0", "150", "{}"))

    def test_json_lines_have_the_same_values(self):
        name = self.write("a.onnx", scaled(["batch", 64]))
        arguments = [name, "nowhere.onnx", "--dim", "batch=1,2"]
        rows = self.table(*arguments)
        self.expect(0, "sweep", *arguments, "--out", "t.jsonl")
        lines = [json.loads(line) for line in self.read("t.jsonl").splitlines()]
        self.assertEqual(",".join(lines[0]), COLUMNS)
        for row, line in zip(rows, lines, strict=True):
            words = {key: "" if field is None else field if isinstance(field, str) else json.dumps(field) for key, field in line.items()}
            self.assertEqual({**row, "ms": ""}, {**words, "ms": ""})
        self.assertEqual([line["peak"] for line in lines[2:]], [None, None])

    def test_the_rows_do_not_depend_on_the_jobs(self):
        rows = [self.write(f"t{seed}.csv", table_of(support.random_rows(seed))) for seed in range(12)]
        tables = [[{**row, "ms": ""} for row in self.table(*rows, "--jobs", jobs)] for jobs in ("1", "2", "7")]
        self.assertEqual(len(tables[0]), 12)
        self.assertEqual(tables[0], tables[1])
        self.assertEqual(tables[0], tables[2])

    def test_without_an_output_people_get_words(self):
        name = self.write("a.onnx", scaled(["batch", 64]))
        text = self.expect(0, "sweep", name, "--dim", "batch=1,4", "--fits", "1000,4KiB").out
        self.assertRegex(text, r"a\.onnx +batch=1 +512 .*1000 B yes +4\.00 KiB yes .*smallest possible \(proven\)")
        self.assertRegex(text, r"a\.onnx +batch=4 +2048 .*1000 B no +4\.00 KiB yes ")

    def test_a_file_is_written_whole_and_compressed_if_its_name_says_so(self):
        name = self.write("a.json", chain())
        self.expect(0, "sweep", name, "--out", "t.csv.gz")
        self.assertEqual(self.read("t.csv.gz").splitlines()[0], COLUMNS)

    def test_capacity_is_a_status(self):
        name = self.write("a.onnx", scaled(["batch", 64]))
        rows = self.table(name, "--dim", "batch=1,4", "--capacity", "1KiB")
        self.assertEqual([row["status"] for row in rows], ["optimal", "infeasible"])
        self.assertEqual([row["peak"] for row in rows], ["512", ""])
        self.assertEqual([rows[1][key] for key in ("bound", "proven", "total", "error", "options")], ["2048", "", "", "", '{"capacity":1024}'])


class BadInputs(SweepTest):
    def test_one_bad_input_is_a_row_and_the_others_are_planned(self):
        good = self.write("good.onnx", scaled(["batch", 64]))
        damaged = self.write("damaged.onnx", scaled(["batch", 64])[:-20])
        without = self.write("without.onnx", scaled([4, 64]))
        done = self.expect(0, "sweep", damaged, good, "missing.onnx", without, "--dim", "batch=2", "--out", "t.csv")
        rows = list(csv.DictReader(io.StringIO(self.read("t.csv"))))
        self.assertEqual([bool(row["error"]) for row in rows], [True, False, True, True])
        self.assertEqual([bool(row["hash"]) for row in rows], [True, True, False, True])
        for row in rows:
            if row["error"]:
                self.assertIn(row["input"], row["error"])
                self.assertEqual([row[key] for key in ("peak", "bound", "proven", "weights", "total", "status", "ms")], [""] * 7)
        self.assertIn("'batch'", rows[3]["error"])
        self.assertIn("3 of 4 rows failed; the first: damaged.onnx", done.err)

    def test_it_fails_if_all_do_or_if_it_is_strict(self):
        good = self.write("good.json", chain())
        self.expect(0, "sweep", good, "missing.onnx", "--out", "t.csv")
        self.assertIn("1 of 2 rows failed", self.expect(1, "sweep", good, "missing.onnx", "--strict", "--out", "strict.csv").err)
        self.assertEqual(len(self.read("strict.csv").splitlines()), 3, "the table is written all the same")
        self.assertIn("1 of 1 row failed", self.expect(1, "sweep", "missing.onnx", "--out", "none.csv").err)
        self.expect(0, "sweep", good, "--strict", "--out", "t.csv")

    def test_options_for_graphs_are_an_error_of_tables_only(self):
        rows = self.table(self.write("t.csv", table_of([(0, 2, 100)])), self.write("g.json", chain()), "--region-limit", "1MiB")
        self.assertEqual([bool(row["error"]) for row in rows], [True, False])
        self.assertIn("--region-limit", rows[0]["error"])

    def test_an_error_is_one_line(self):
        name = self.write("bad.json", json.dumps(chain(), indent=1)[:-40])
        done = self.expect(1, "sweep", name, "--out", "-")
        self.assertEqual(len(done.out.splitlines()), 2, done.out)

    def test_wrong_command_lines(self):
        name = self.write("a.json", chain())
        self.write("t.csv", table_of([(0, 2, 100)]))
        for line, words in [("sweep", "INPUTS is required"), (f"sweep {name} --dim batch", "batch=1,2,4"), (f"sweep {name} --dim batch=", "batch=1,2,4"),
                            (f"sweep {name} --dim batch=1,,2", "batch=1,2,4"), (f"sweep {name} --dim batch=1,x", "batch=1,2,4"),
                            (f"sweep {name} --dim =1", "batch=1,2,4"), (f"sweep {name} --dim batch=1,2,1", "has 1 twice"),
                            (f"sweep {name} --dim b=1 --dim b=2", "given twice"), (f"sweep {name} --out t.txt", ".csv (a table), .jsonl"),
                            (f"sweep {name} --fits much", "not a size"), (f"sweep {name} --jobs 0", "--jobs"),
                            (f"sweep {name} --fail-if-grows 2%", "--baseline"), ("sweep t.csv --out t.csv", "never overwritten"),
                            ("sweep - -", "only once"), (f"sweep {name} --out - --html -", "only one output"),
                            (f"sweep {name} --node-budget -1", "below 0"), (f"sweep {name} --time-limit soon", "not a time")]:
            with self.subTest(line=line):
                done = self.expect(2, *line.split())
                self.assertIn(words, done.err)
                self.assertEqual(done.out, "")

    def test_too_many_combinations_are_refused(self):
        dims = [word for name in "abc" for word in ("--dim", f"{name}=" + ",".join(map(str, range(101))))]
        self.assertIn("more than 1000000 rows", self.expect(2, "sweep", "a.onnx", *dims).err)

    def test_parquet_is_the_python_packages(self):
        name = self.write("a.json", chain())
        done = self.expect(2, "sweep", name, "--out", "t.parquet")
        self.assertIn("python -m stowagepy sweep", done.err)
        self.assertFalse((self.dir / "t.parquet").exists())


class Baseline(SweepTest):
    def setUp(self):
        super().setUp()
        self.small = self.write("small.json", self.grown(100))
        self.large = self.write("large.json", self.grown(1000))
        self.expect(0, "sweep", self.small, self.large, "--out", "old.csv")
        self.expect(0, "sweep", self.small, self.large, "--out", "old.jsonl")

    def grown(self, size):
        graph = chain()
        for tensor in graph["tensors"]:
            tensor["size"] = size
        return graph

    def sweep(self, code, *arguments):
        return self.expect(code, "sweep", self.small, self.large, *arguments)

    def test_nothing_grew(self):
        for old in ("old.csv", "old.jsonl"):
            done = self.sweep(0, "--baseline", old, "--fail-if-grows", "0%")
            self.assertEqual(done.err, "")
            self.assertIn("2 rows as before, 0 new, 0 only in the baseline", done.out)

    def test_what_grew_too_much_is_named(self):
        self.write("large.json", self.grown(1056))  # 1024 with its padding before, 1056 now: 3.1%
        done = self.sweep(6, "--baseline", "old.csv", "--fail-if-grows", "2%", "--out", "new.csv")
        self.assertIn("grew by more than 2%:\n  large.json: from 1024 to 1056 bytes (+3.12%)\n", done.err)
        self.assertNotIn("small", done.err)
        self.assertTrue((self.dir / "new.csv").exists(), "the table is written all the same")
        for limit, code in (("4%", 0), ("3%", 6), ("32", 0), ("31", 6)):
            self.sweep(code, "--baseline", "old.jsonl", "--fail-if-grows", limit)
        self.assertIn("grew     large.json: from 1024 to 1056", self.sweep(0, "--baseline", "old.csv").out, "without a limit it is only said")
        self.write("large.json", self.grown(900))
        self.assertIn("shrank   large.json: from 1024 to 928", self.sweep(0, "--baseline", "old.csv", "--fail-if-grows", "0%").out)

    def test_a_row_that_fails_now_is_worse_than_one_that_grew(self):
        self.write("large.json", "{")
        done = self.sweep(6, "--baseline", "old.csv", "--fail-if-grows", "50%")
        self.assertIn("large.json: 1024 bytes before, now large.json", done.err)

    def test_rows_are_matched_by_input_dims_and_options(self):
        done = self.expect(0, "sweep", self.small, self.write("new.json", chain()), "--baseline", "old.csv", "--fail-if-grows", "0%")
        self.assertIn("1 row as before, 1 new, 1 only in the baseline", done.out)
        self.assertIn("no row has the inputs, dims and options", self.sweep(1, "--keep-inputs", "--baseline", "old.csv").err)

    def test_what_is_no_table_is_refused_before_any_work(self):
        self.write("bad.csv", "a,b\n1,2\n")
        for old, words in (("bad.csv", "bad.csv:1: this is no table of a sweep"), (self.small, "small.json:1:"), ("nowhere.csv", "nowhere.csv")):
            self.assertIn(words, self.sweep(1, "--baseline", old, "--out", "t.csv").err)
        self.assertFalse((self.dir / "t.csv").exists())
        self.assertIn("never overwritten", self.sweep(2, "--baseline", "old.csv", "--out", "old.csv").err)


class Page(SweepTest):
    def test_it_has_rows_and_sizes(self):
        names = [self.write("a.onnx", scaled(["batch", 64])), self.write("b.onnx", scaled(["batch", 32]))]
        done = self.expect(0, "sweep", *names, "nowhere.onnx", "--dim", "batch=1,2", "--html", "sweep.html", "--fits", "1KiB", "--fits", "2KiB,3KiB")
        self.assertIn("report: sweep.html", done.err)
        page = self.page_data("sweep.html")
        self.assertEqual((page["title"], page["plans"], page["sweep"]["fits"]), ("sweep of 3 inputs", [], [1024, 2048, 3072]))
        rows = page["sweep"]["rows"]
        self.assertEqual([(row["input"], row["dims"], row["peak"]) for row in rows[:2]], [("a.onnx", {"batch": 1}, 512), ("a.onnx", {"batch": 2}, 1024)])
        self.assertEqual([bool(row["error"]) for row in rows], [False] * 4 + [True] * 2)

    def test_it_is_the_same_for_the_same_plans(self):
        name = self.write("a.onnx", scaled(["batch", 64]))
        for page in ("1.html", "2.html"):
            self.expect(0, "sweep", name, "--dim", "batch=1,2", "--html", page)
        self.assertEqual(self.read("1.html"), self.read("2.html"))

    def page_data(self, name):
        import base64
        import gzip
        packed = re.search(r'id="stowage-data">\s*(.*?)\s*</script>', self.read(name), re.DOTALL).group(1)
        return json.loads(gzip.decompress(base64.b64decode(packed)))


class Stopped(SweepTest):
    def test_ctrl_c_writes_the_rows_that_are_ready(self):
        quick = self.write("quick.csv", table_of([(0, 2, 100)]))
        hard = self.write("hard.csv", table_of(hard_rows()))
        self.write("t.csv", OLD)
        command = [support.STOWAGE, "sweep", quick, hard, "--time-limit", "10m", "--jobs", "2", "--out", "t.csv"]
        process = subprocess.Popen(command, cwd=self.dir, env=self.environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(process.kill)
        self.assertRegex(process.stderr.readline().decode(), r"^stowage: planning \d of 2, \S+ … 1 s\n$")
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130)
        self.assertIn("stopped: 1 row ready", err.decode())
        rows = list(csv.DictReader(io.StringIO(self.read("t.csv"))))
        self.assertEqual([(row["input"], row["peak"]) for row in rows], [(quick, "100")])


if __name__ == "__main__":
    main(__doc__)
