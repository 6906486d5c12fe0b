"""explain, diff, and the timelines that plan writes.

Usage: report_test.py PATH/TO/stowage [unittest's arguments]

Every test runs the program in a directory of its own, with inputs that it wrote there.
"""

import copy
import json
import pickle
import unittest

from support import EXAMPLES, PROJECT, CliTest, chain, main, table_of

TRAINING = PROJECT / "examples" / "training_step.json"
PROVEN = ("--base", "refreshable")  # with it, every plan of TRAINING is proven at once, so that figures do not depend on time


def two_peaks():
    """a is needed at one peak and c at another: neither alone gains anything."""
    tensors = [{"name": "x", "size": 100, "flags": ["input"]}, {"name": "a", "size": 1000}, {"name": "b", "size": 200},
               {"name": "c", "size": 1000}, {"name": "y", "size": 200, "flags": ["output"]}]
    ops = [{"name": f"op{k}", "kind": kind, "inputs": [k], "outputs": [k + 1]} for k, kind in enumerate(("UP", "DOWN", "UP", "DOWN"))]
    return {"schema": "stowage.graph/1", "name": "two_peaks", "memories": [{"name": "cpu"}], "tensors": tensors, "ops": ops}


def shrunk(graph, tensors, workspaces=()):
    """The graph with these tensors and workspaces at size 0. Root scope only."""
    graph = copy.deepcopy(graph)
    for t in tensors:
        graph["tensors"][t]["size"] = 0
        if "view_of" in graph["tensors"][t]:
            graph["tensors"][t]["view_of"]["offset"] = 0
    for op in graph["ops"]:
        for alias in op.get("alias", []):
            if op["outputs"][alias[0]] in tensors:
                alias[2:] = [0]
    for w in workspaces:
        graph["ops"][w["op"]]["workspaces"][w["index"]]["size"] = 0
    return graph


class Explain(CliTest):
    def explained(self, name, *options):
        return json.loads(self.expect(0, "explain", name, "--json", *options).out)

    def test_one_alone_gains_nothing_and_both_gain(self):
        found = self.explained(self.write("two.json", two_peaks()))
        self.assertEqual((found["schema"], found["peak_bytes"]), ("stowage.explain/1", 1200))
        best = found["gains"][0]
        self.assertEqual(sorted(holder["name"] for holder in best["holders"]), ["a", "c"])
        self.assertEqual((best["alone"], best["gain_bytes"], best["smallest"]), ([0, 0], 1000, True))

    def test_gains_equal_plans_of_the_shrunk_graph(self):
        for path in (TRAINING, PROJECT / "examples" / "transformer_block.json", PROJECT / "examples" / "small_cnn.json"):
            graph = json.loads(path.read_text())
            found = self.explained(path, *PROVEN)
            self.assertEqual(found["peak_bytes"], self.peak(path, *PROVEN))
            self.assertGreater(len(found["gains"]), 0)
            for gain in found["gains"]:
                with self.subTest(graph=path.name, gain=[holder["name"] for holder in gain["holders"]]):
                    name = self.write("shrunk.json", shrunk(graph, gain["tensors"], gain["workspaces"]))
                    self.assertEqual(self.peak(name, *PROVEN), gain["peak_bytes"])
                    self.assertEqual(gain["gain_bytes"], found["peak_bytes"] - gain["peak_bytes"])
                    for holder, alone in zip(gain["holders"], gain["alone"]):
                        if alone is None:
                            continue
                        workspaces = [holder["workspace"]] if "workspace" in holder else []
                        one = self.write("one.json", shrunk(graph, holder.get("tensors", []), workspaces))
                        self.assertEqual(found["peak_bytes"] - self.peak(one, *PROVEN), alone)

    def test_costs_equal_plans_without_the_constraint(self):
        graph = json.loads(TRAINING.read_text())
        costs = {cost["constraint"]: cost for cost in self.explained(TRAINING, *PROVEN)["costs"]}

        def changed(change):
            other = copy.deepcopy(graph)
            for op in other["ops"]:
                change(other, op)
            return other

        def without(*fields):
            return changed(lambda _, op: [op.pop(field, None) for field in fields])

        aligned = copy.deepcopy(graph)
        aligned["memories"][0]["alignment"] = 1
        kept = copy.deepcopy(graph)
        for tensor in kept["tensors"]:
            tensor["flags"] = [flag for flag in tensor.get("flags", []) if flag != "output"]
        cases = {"contiguous groups, padded": (without("contiguous_inputs", "contiguous_outputs"), []),
                 "several streams": (without("stream"), []), "alignment": (aligned, []), "outputs kept to the end": (kept, []),
                 "zero fill at the start": (graph, ["--zero-fill", "separate"]), "in place where allowed": (graph, ["--in-place", "off"])}
        tried = 0
        for constraint, (other, options) in cases.items():
            if constraint not in costs:
                continue
            with self.subTest(constraint=constraint):
                tried += 1
                self.assertEqual(self.peak(self.write("other.json", other), *PROVEN, *options), costs[constraint]["peak_bytes"])
        self.assertGreaterEqual(tried, 5)

    def test_only_constraints_that_are_there_are_listed(self):
        found = self.explained(self.write("chain.json", chain()))
        self.assertEqual({cost["constraint"] for cost in found["costs"]}, {"alignment", "outputs kept to the end", "in place where allowed"})
        found = self.explained("chain.json", "--keep-inputs", "--in-place", "off", "--no-reuse")
        self.assertLessEqual({"inputs kept to the end", "no reuse", "nothing in place"}, {cost["constraint"] for cost in found["costs"]})

    def test_budget(self):
        name = self.write("two.json", two_peaks())
        self.assertTrue(self.explained(name, "--capacity", "1200")["budget"]["fits"])
        self.assertEqual(self.explained(name, "--budget", "1200"), self.explained(name, "--capacity", "1200"), "its old spelling")
        answer = self.explained(name, "--capacity", "500")["budget"]
        self.assertFalse(answer["fits"])
        self.assertEqual(sorted(holder["name"] for holder in answer["shrink"]["holders"]), ["a", "c"])
        self.assertLessEqual(answer["shrink"]["peak_bytes"], 500)
        text = " ".join(self.expect(0, "explain", name, "--capacity", "500").out.split())
        self.assertIn("does not fit", text)
        self.assertIn("none suffices", text)
        self.assertIn("no plan fits", text, "one op alone needs more")

    def test_a_total_capacity_counts_the_weights(self):
        graph = two_peaks()
        graph["tensors"].append({"name": "w", "size": 300, "flags": ["constant"]})
        graph["ops"][0]["inputs"].append(len(graph["tensors"]) - 1)
        name = self.write("weighted.json", graph)
        self.assertTrue(self.explained(name, "--capacity-total", "1500")["budget"]["fits"])
        answer = self.explained(name, "--capacity-total", "1499")["budget"]
        self.assertEqual((answer["fits"], answer["budget_bytes"], answer["capacity_bytes"], answer["capacity_total_bytes"]), (False, 1199, None, 1499))
        self.assertLessEqual(answer["shrink"]["peak_bytes"], 1199)
        text = self.expect(0, "explain", name, "--capacity", "1300", "--capacity-total", "299").out
        self.assertIn("Capacity 1300, total capacity 299: does not fit.", text)
        self.assertIn("the weights alone take more", text)

    def test_text_is_for_people(self):
        for path in (*EXAMPLES, self.write("two.json", two_peaks())):
            text = self.expect(0, "explain", path, *PROVEN, "--capacity", "1KiB").out
            with self.subTest(graph=path):
                self.assertLessEqual(max(map(len, text.splitlines())), 100)
                self.assertRegex(text.splitlines()[0], r"^[\w ]+ needs .* because( |$)")
                maps = [line for line in text.splitlines() if line.startswith("  |")]
                self.assertTrue(maps and all(len(line) == 82 for line in maps))

    def test_sizes_have_units_on_a_terminal(self):
        self.assertIn("KiB", self.on_terminal("explain", str(TRAINING), *PROVEN, TERM="xterm").split("\n\n")[1])
        self.assertNotIn("KiB", self.expect(0, "explain", TRAINING, *PROVEN).out.split("\n\n")[1])

    def test_numbers_of_the_text_are_in_the_json(self):
        text = self.expect(0, "explain", TRAINING, *PROVEN).out
        known = json.dumps(self.explained(TRAINING, *PROVEN))
        for word in text.split():
            if word.isdigit() and int(word) > 999:
                self.assertIn(word, known)

    def test_the_peaks_that_are_found_depend_on_within(self):
        graph = two_peaks()
        graph["tensors"][3]["size"] = 900
        name = self.write("uneven.json", graph)
        live = lambda *options: [peak["live_bytes"] for peak in self.explained(name, *options)["arenas"][0]["peaks"]]
        self.assertEqual(live(), [1200])
        self.assertEqual(live("--within", "9%"), [1100, 1200, 1100, 1100])
        self.expect(2, "explain", name, "--within", "1")
        self.expect(2, "explain", name, "--within", "120%")

    def test_without_time_nothing_is_claimed(self):
        found = self.explained(TRAINING, *PROVEN, "--total-time", "0")
        self.assertEqual((found["gains"], found["replans"]), ([], 0))
        self.assertGreater(found["skipped"], 0)
        self.assertTrue(all(cost["cost_bytes"] is None for cost in found["costs"]))

    def test_errors(self):
        self.assertIn("table", self.expect(2, "explain", self.write("table.csv", table_of([(0, 2, 3)]))).err)
        self.expect(1, "explain", "nowhere.json")
        self.expect(2, "explain")

    def test_an_empty_graph(self):
        graph = {"schema": "stowage.graph/1", "name": "empty", "tensors": [], "ops": []}
        self.assertTrue(self.expect(0, "explain", self.write("empty.json", graph)).out.startswith("empty needs no memory"))


class Diff(CliTest):
    def test_of_a_graph_with_itself_nothing_changed(self):
        name = self.write("chain.json", chain())
        found = json.loads(self.expect(0, "diff", name, name, "--json", "--fail-if-grows", "0%").out)
        self.assertEqual((found["schema"], found["entries"], found["growth_bytes"]), ("stowage.diff/1", [], 0))
        self.assertIn("the same", self.expect(0, "diff", name, name).out)

    def test_what_changed_is_found_by_name(self):
        before, after = two_peaks(), two_peaks()
        after["tensors"].insert(0, {"name": "new", "size": 50, "flags": ["input"]})
        for op in after["ops"]:
            op["inputs"] = [t + 1 for t in op["inputs"]]
            op["outputs"] = [t + 1 for t in op["outputs"]]
        after["ops"][3]["inputs"].append(0)
        after["tensors"][2]["size"] = 1500
        after["tensors"][3].update(name="bee")
        found = json.loads(self.expect(0, "diff", self.write("before.json", before), self.write("after.json", after), "--json").out)
        changes = {(entry["change"], entry["name"]) for entry in found["entries"]}
        self.assertLessEqual({("grew", "a"), ("appeared", "new"), ("appeared", "bee"), ("vanished", "b")}, changes)
        self.assertNotIn("c", {entry["name"] for entry in found["entries"] if entry["change"] != "moved"})
        self.assertEqual(found["growth_bytes"], found["peak_after"] - found["peak_before"])
        self.assertEqual(found["peak_after"], self.peak("after.json"))

    def test_what_a_run_costs_is_compared(self):
        def crossing(stream):
            return {"schema": "stowage.graph/1", "name": "crossing", "tensors": [{"name": "a", "size": 64}], "ops": [
                {"name": "a", "kind": "X", "outputs": [0], "zero_fill": {"outputs": [0]}},
                {"name": "b", "kind": "X", "inputs": [0], "stream": stream}]}
        names = self.write("one.json", json.dumps(crossing(0))), self.write("two.json", json.dumps(crossing(1)))
        found = json.loads(self.expect(0, "diff", *names, "--json").out)
        cost = {"waits": 0, "fills": 1, "filled_bytes": 64, "copies": 0, "copied_bytes": 0}
        self.assertEqual((found["run_before"], found["run_after"]), (cost, cost | {"waits": 1}))
        text = self.expect(0, "diff", *names).out
        self.assertRegex(text, r"\n  waits in a run +0 +1 +\+1\n  fills in a run +1 +1 +0\n  filled in a run +64 +64 +0\n")
        self.assertNotIn("copies", text)
        self.expect(0, "plan", names[1], "-o", "plan.json")
        plan = json.loads(self.read("plan.json"))
        del plan["program"]
        old = self.write("old.json", json.dumps(plan | {"graph": "other"}))
        self.assertIsNone(json.loads(self.expect(0, "diff", old, old, "--json").out)["run_before"])

    def test_growth_is_judged(self):
        before, after = two_peaks(), two_peaks()
        after["tensors"][1]["size"] += 12  # 1% of the peak
        names = self.write("before.json", before), self.write("after.json", after)
        for limit, code in (("1%", 0), ("0.9%", 6), ("12", 0), ("11", 6), ("1MiB", 0), ("0%", 6)):
            self.expect(code, "diff", *names, "--fail-if-grows", limit)
        self.assertIn("grew", self.expect(6, "diff", *names, "--fail-if-grows", "0.5%").err)
        self.expect(0, "diff", *reversed(names), "--fail-if-grows", "0%")
        for bad in ("2", "-1%", "x", "%"):
            self.expect(0 if bad == "2" else 2, "diff", names[0], names[0], "--fail-if-grows", bad)
        self.expect(2, "diff", *names, "--fail-if-grows")

    def test_plans_are_compared_by_number_unless_there_are_names(self):
        before, after = two_peaks(), two_peaks()
        after["tensors"][1]["size"] = 1100
        self.write("before.json", before), self.write("after.json", after)
        for name in ("before", "after"):
            self.expect(0, "plan", f"{name}.json", "-o", f"{name}.plan.json")
        found = json.loads(self.expect(0, "diff", "before.plan.json", "after.plan.json", "--json").out)
        self.assertFalse(found["by_number"])
        self.assertIn(("grew", "a"), {(entry["change"], entry["name"]) for entry in found["entries"]})
        for name in ("before", "after"):
            plan = json.loads(self.read(f"{name}.plan.json"))
            for entry in plan["placements"] + plan["workspaces"]:
                del entry["name"]
            self.write(f"{name}.plan.json", plan)
        found = json.loads(self.expect(0, "diff", "before.plan.json", "after.plan.json", "--json").out)
        self.assertTrue(found["by_number"])
        self.assertIn(("grew", "tensor 1"), {(entry["change"], entry["name"]) for entry in found["entries"]})
        self.assertIn("by number", self.expect(0, "diff", "before.plan.json", "after.plan.json").out)
        graphs = ("--graph-a", "before.json", "--graph-b", "after.json")
        for arguments in (("before.plan.json", "after.plan.json", *graphs), ("before.plan.json", "after.json")):
            found = json.loads(self.expect(0, "diff", *arguments, "--json").out)
            self.assertFalse(found["by_number"])
            self.assertIn(("grew", "a"), {(entry["change"], entry["name"]) for entry in found["entries"]})

    def test_graphs_of_other_names_are_pointed_out(self):
        other = two_peaks() | {"name": "other"}
        text = self.expect(0, "diff", self.write("a.json", two_peaks()), self.write("b.json", other)).out
        self.assertIn("'two_peaks' and 'other'", text)

    def test_text_keeps_to_100_columns(self):
        graph = json.loads(TRAINING.read_text())
        for tensor in graph["tensors"]:
            tensor["name"] = "a/very/long/name/of/a/tensor/" + tensor["name"] + "/behind/which/more/follows/for/no/good/reason"
        text = self.expect(0, "diff", TRAINING, self.write("long.json", graph)).out
        self.assertLessEqual(max(map(len, text.splitlines())), 100)

    def test_errors(self):
        name = self.write("chain.json", chain())
        self.expect(1, "diff", name, "nowhere.json")
        self.expect(1, "diff", name, self.write("broken.json", "{"))
        self.expect(2, "diff", name)
        self.assertIn("table", self.expect(2, "diff", name, self.write("table.csv", table_of([(0, 2, 3)]))).err)


class Timeline(CliTest):
    def planned(self, graph, *options):
        self.expect(0, "plan", graph, "--trace", "trace.json", "--snapshot", "memory.pickle", "-o", "plan.json", *options)
        return json.loads(self.read("trace.json")), pickle.loads((self.dir / "memory.pickle").read_bytes()), json.loads(self.read("plan.json"))

    def test_slices_of_a_lane_do_not_overlap_and_counters_reach_the_live_bytes(self):
        for graph in EXAMPLES:
            trace, _, plan = self.planned(graph)
            events = trace["traceEvents"]
            names = {event["pid"]: event["args"]["name"] for event in events if event["name"] == "process_name"}
            self.assertEqual(set(names.values()), {"ops"} | {f"{arena['name']} ({arena['kind']})" for arena in plan["arenas"] if arena["kind"] != "user"})
            lanes = {}
            for event in events:
                if event["ph"] == "X":
                    lanes.setdefault((event["pid"], event["tid"]), []).append((event["ts"], event["ts"] + event["dur"]))
            for spans in lanes.values():
                spans.sort()
                for (_, end), (begin, _) in zip(spans, spans[1:]):
                    self.assertLessEqual(end, begin)
            for pid, name in names.items():
                size = {f"{arena['name']} ({arena['kind']})": arena["size"] for arena in plan["arenas"]}.get(name)
                slices = [event["args"] for event in events if event["ph"] == "X" and event["pid"] == pid and "args" in event]
                live = [event["args"]["live"] for event in events if event["ph"] == "C" and event["pid"] == pid]
                if size:
                    self.assertEqual(max(entry["offset"] + entry["bytes"] for entry in slices), size)
                    self.assertLessEqual(max(live), size)
                    self.assertEqual(live[-1], 0)

    def test_the_snapshot_is_what_viewers_need(self):
        for graph, options in [(path, ()) for path in EXAMPLES] + [(TRAINING, ("--region-limit", "256KiB"))]:
            with self.subTest(graph=graph, options=options):
                self.check_snapshot(graph, options)

    def check_snapshot(self, graph, options):
        _, snapshot, plan = self.planned(graph, *options)
        self.assertLessEqual({"segments", "device_traces", "allocator_settings", "external_annotations"}, set(snapshot))
        regions = sorted(size for arena in plan["arenas"] if arena["kind"] != "user" for size in arena["regions"] if size)
        self.assertEqual(sorted(segment["total_size"] for segment in snapshot["segments"]), regions)
        for segment in snapshot["segments"]:
            end = segment["address"]
            for block in segment["blocks"]:
                self.assertEqual(block["address"], end)
                self.assertIn(block["state"], ("active_allocated", "inactive"))
                end += block["size"]
            self.assertEqual(end, segment["address"] + segment["total_size"])
            allocated = sum(block["size"] for block in segment["blocks"] if block["state"] == "active_allocated")
            self.assertEqual(segment["allocated_size"], allocated)
        left, most = self.replay(snapshot)
        self.assertLessEqual(most, sum(regions))
        blocks = {block["address"]: block["size"] for segment in snapshot["segments"] for block in segment["blocks"] if block["state"] == "active_allocated"}
        self.assertEqual(left, blocks)

    def replay(self, snapshot):
        """Follows the events as an allocator would: nothing overlaps, every free has its allocation."""
        live, most = {}, 0
        for trace in snapshot["device_traces"]:
            segments, time = [], 0
            for event in trace:
                self.assertGreaterEqual(event["time_us"], time)
                time = event["time_us"]
                begin, end = event["addr"], event["addr"] + event["size"]
                if event["action"] == "segment_alloc":
                    segments.append((begin, end))
                elif event["action"] == "alloc":
                    self.assertTrue(any(low <= begin and end <= high for low, high in segments))
                    self.assertFalse(any(begin < other + size and other < end for other, size in live.items()))
                    self.assertEqual(len(event["frames"]), 1)
                    live[begin] = event["size"]
                    most = max(most, sum(live.values()))
                elif event["action"] == "free_completed":
                    self.assertEqual(live.pop(begin), event["size"])
                else:
                    self.assertEqual(event["action"], "free_requested")
                    self.assertIn(begin, live)
        return live, most

    def test_only_opcodes_that_every_viewer_knows_are_used(self):
        import pickletools
        self.planned(TRAINING)
        known = {"PROTO", "STOP", "EMPTY_DICT", "EMPTY_LIST", "MARK", "APPENDS", "SETITEMS", "BININT", "BININT1", "LONG1", "BINFLOAT",
                 "NEWTRUE", "NEWFALSE", "NONE", "SHORT_BINUNICODE", "BINUNICODE", "TUPLE2"}
        used = {opcode.name for opcode, _, _ in pickletools.genops((self.dir / "memory.pickle").read_bytes())}
        self.assertEqual(used - known, set())

    def test_names_that_are_no_text_do_not_break_them(self):
        graph = chain()
        graph["name"] = 'a "quoted" \u00e4 name'
        graph["tensors"][1]["name"] = "x" * 300
        _, snapshot, _ = self.planned(self.write("names.json", graph), "--in-place", "off")
        frames = [frame for event in snapshot["device_traces"][0] for frame in event["frames"]]
        self.assertEqual({frame["filename"] for frame in frames}, {graph["name"]})
        self.assertIn("x" * 300 + " (NEG)", {frame["name"] for frame in frames})

    def test_tables_have_none(self):
        self.expect(2, "plan", self.write("table.csv", table_of([(0, 2, 3)])), "--trace", "trace.json")
        self.assertFalse((self.dir / "trace.json").exists())


if __name__ == "__main__":
    main(__doc__)
