#!/usr/bin/env python3
"""scripts/mutate.py and the changes that it draws (scripts/cpp_changes.py), on sources made up here; nothing is compiled."""

import contextlib
import io
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
PROJECT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(PROJECT / "scripts"))
import cpp_changes
import mutate

SOURCE = """\
#include <vector>  // a < b
#define WIDE(x) \\
  (x + 1)
namespace demo {
/* one && two */
constexpr int kDepth = 16;
struct Range {
  int lower = 0;
  explicit Range(int from);
  virtual int size() = 0;
};
template <class T>
bool pick(const std::vector<T>& list, int limit) {
  const std::lock_guard lock(mutex());
  // if (list.empty()) return false;
  if (list.size() < 3 && limit > 0 && ready(list)) return true;
  STOWAGE_CHECK(limit == 2, "limit == 2");
  items.reserve(limit + 1);
  for (int i = 0; i < limit; ++i) count += weigh(list[i]);
  const auto text = "done; x == y" + name;
  Range range{1};
  if (const auto found = find(limit)) return *found;
  return range.lower == limit;
}
}  // namespace demo
"""


def changes(source=SOURCE):
    return cpp_changes.changes_of("src/demo/a.cpp", source)


def results_of(source, kind):
    return [each.apply(source) for each in changes(source) if each.kind == kind]


def body(text):
    return f"void f() {{ {text} }}\n"


class ChangesTest(unittest.TestCase):
    def test_each_differs_from_the_source_and_from_all_others(self):
        texts = [each.apply(SOURCE) for each in changes()]
        self.assertGreater(len(texts), 20)
        self.assertEqual(len(set(texts)), len(texts))
        for each, text in zip(changes(), texts):
            self.assertNotEqual(text.split(), SOURCE.split(), each)
            self.assertNotEqual(each.before, each.after)

    def test_comments_strings_and_the_preprocessor_are_left_alone(self):
        for untouched in ("// a < b", "(x + 1)", "/* one && two */", "// if (list.empty()) return false;", '"done; x == y"', "// namespace demo"):
            for text in (each.apply(SOURCE) for each in changes()):
                self.assertIn(untouched, text)

    def test_checks_reserve_signatures_and_named_constants_are_left_alone(self):
        for untouched in ('STOWAGE_CHECK(limit == 2, "limit == 2");', "items.reserve(limit + 1);", "kDepth = 16;", "template <class T>",
                          "explicit Range(int from);", "virtual int size() = 0;", "if (const auto found = find(limit)) return"):
            for text in (each.apply(SOURCE) for each in changes()):
                self.assertIn(untouched, text)

    def test_relations_move_by_one_or_turn_round(self):
        self.assertEqual(results_of(body("if (a < b) g(); return;"), "relation"), [body("if (a <= b) g(); return;")])
        self.assertEqual(results_of(body("x = a == b;"), "relation"), [body("x = a != b;")])
        self.assertEqual(results_of(body("std::vector<int> list(3);"), "relation"), [])

    def test_conditions_are_negated_or_never_true(self):
        self.assertEqual(results_of(body("if (a) g();"), "condition"), [body("if (!(a)) g();")])
        self.assertEqual(results_of(body("if (a) g();"), "never"), [body("if (false && (a)) g();")])
        self.assertEqual(results_of(body("if (int a = h(); a) g();"), "never"), [body("if (int a = h(); false && (a)) g();")])
        self.assertEqual(results_of(body("x = a ? b : c;"), "condition"), [body("x = !(a) ? b : c;")])

    def test_of_two_operands_the_operator_changes_and_each_is_dropped(self):
        self.assertEqual(results_of(body("x = a && f(b);"), "logic"), [body("x = a || f(b);")])
        self.assertEqual(sorted(results_of(body("x = a && f(b);"), "operand")), sorted([body("x = f(b);"), body("x = a;")]))

    def test_of_three_operands_each_is_dropped(self):
        """Another operator among equal ones would only make the compiler ask for parentheses."""
        self.assertEqual(results_of(body("return a && b && c;"), "logic"), [])
        self.assertEqual(sorted(results_of(body("return a && b && c;"), "operand")),
                         sorted([body("return b && c;"), body("return a && c;"), body("return a && b;")]))
        self.assertEqual(sorted(results_of(body("if (a && (b || c)) g();"), "operand")),
                         sorted([body("if ((b || c)) g();"), body("if (a) g();"), body("if (a && (c)) g();"), body("if (a && (b)) g();")]))

    def test_calls_and_assignments_are_dropped_but_no_declarations(self):
        for statement in ("g(1);", "a.b->c(2).d();", "x = 3;", "list[i] += h();", "++x;", "*p = 4;", "std::sort(a, b);", "call<int>(5);", "continue;"):
            self.assertIn(body("{}"), results_of(body(statement), "statement"), statement)
        for statement in ("int x = 3;", "Range r(1);", "std::vector<int> v(2);", "auto [a, b] = g();", "return g();", "using A = B;", "const T& x = g();"):
            self.assertEqual(results_of(body(statement), "statement"), [], statement)
        self.assertIn(body("if (a) {} else h();"), results_of(body("if (a) g(); else h();"), "statement"))

    def test_locks_are_a_kind_of_their_own(self):
        self.assertEqual(results_of(body("const std::lock_guard lock(m);"), "lock"), [body("{}")])
        self.assertEqual(results_of(body("m.lock();"), "lock"), [body("{}")])

    def test_numbers_change_by_one(self):
        self.assertEqual(sorted(results_of(body("g(7U);"), "constant")), sorted([body("g(6U);"), body("g(8U);")]))
        self.assertEqual(results_of(body("g(0);"), "constant"), [body("g(1);")])
        self.assertEqual(results_of(body("g(1.5, 0x10);"), "constant"), [])

    def test_results_become_the_default(self):
        self.assertEqual(results_of("int f() { return g(1); }\n", "return"), ["int f() { return {}; }\n"])
        self.assertEqual(results_of("Status f() { return Done{}; }\n", "return"), [])

    def test_ends_of_ranges_are_confused(self):
        self.assertEqual(results_of(body("g(bytes.lower);"), "word"), [body("g(bytes.upper);")])
        self.assertEqual(results_of(body("const int lower = h;"), "word"), [])

    def test_a_change_knows_its_line_and_what_it_looks_like_wherever_it_moves(self):
        one = [each for each in changes() if each.kind == "logic"] + [each for each in changes() if each.kind == "operand"]
        moved = cpp_changes.changes_of("src/demo/a.cpp", "\n\n" + SOURCE.replace("  if (list", "      if (list"))
        for each in one:
            self.assertEqual(SOURCE.splitlines()[each.line - 1].split(), each.before.split()[:len(SOURCE.splitlines()[each.line - 1].split())])
            self.assertIn((each.before, each.after, each.line + 2), {(other.before, other.after, other.line) for other in moved})


class Project:
    """A folder that looks like the project, with a git repository around it."""

    def __init__(self, folder):
        self.root = pathlib.Path(folder) / "project"
        for module, count in (("pack", 60), ("verify", 20), ("io", 2)):
            self.write(f"src/{module}/a.cpp", "".join(f"void f{i}() {{\n  g({i});\n}}\n" for i in range(count)))
        self.write("src/pack/a_test.cpp", body("g(1);"))
        subprocess.run(["git", "init", "-q"], cwd=self.root, check=True)

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def texts(self):
        return {path: path.read_text() for path in self.root.rglob("src/**/*.cpp")}


class FakeTree:
    """A tree whose tests answer as a function of the sources says; notes what was built and run."""

    def __init__(self, folder, answer):
        self.folder, self.answer, self.calls, self.log = folder, answer, [], ""

    def build(self, target):
        self.calls.append(f"build {target}")
        return self.answer(target, "build")

    def test(self, target, timeout):
        self.calls.append(f"test {target}")
        self.timeout = timeout
        return self.answer(target, "test")

    changed = mutate.Tree.changed


class InProject(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.project = Project(folder.name)
        self.root = self.project.root

    def draw(self, count, seed, modules=("pack", "verify", "io")):
        return mutate.draw(self.root, list(modules), count, seed)


class DrawTest(InProject):
    def test_the_seed_decides(self):
        self.assertEqual(self.draw(20, 1), self.draw(20, 1))
        self.assertNotEqual(self.draw(20, 1), self.draw(20, 2))

    def test_lines_weigh_and_no_module_goes_without(self):
        modules = [module for module, _ in self.draw(20, 1)]
        self.assertEqual({module: modules.count(module) for module in modules}, {"pack": 14, "verify": 5, "io": 1})

    def test_as_many_as_asked_for_each_at_another_line(self):
        for count in (1, 2, 3, 7, 50, 82):
            places = {(change.file, change.line) for _, change in self.draw(count, 5)}
            self.assertEqual(len(places), count)
        self.assertEqual(len(self.draw(1000, 5)), 82)

    def test_tests_are_not_changed(self):
        self.assertEqual({change.file for _, change in self.draw(82, 1)}, {"src/pack/a.cpp", "src/verify/a.cpp", "src/io/a.cpp"})

    def test_a_module_does_not_depend_on_the_others(self):
        alone = self.draw(14, 1, ["pack"])
        self.assertEqual(alone, [each for each in self.draw(20, 1) if each[0] == "pack"])

    def test_a_place_gives_all_its_changes(self):
        found = mutate.changes_at(self.root, "src/pack/a.cpp:5")
        self.assertEqual({change.line for _, change in found}, {5})
        self.assertEqual(len(found), 3)
        self.assertRaises(SystemExit, mutate.changes_at, self.root, "src/pack/b.cpp")


class TreeTest(InProject):
    def test_a_copy_gets_what_is_new_and_loses_what_is_gone_or_changed(self):
        copy = self.root / "build" / "mutate"
        self.project.write(".gitignore", "/build/\n")
        tree = mutate.Tree(self.root, copy, "dev", 1)
        tree.synchronise()
        kept = (copy / "src/io/a.cpp").stat().st_mtime_ns
        (copy / "src/pack/a.cpp").write_text("left by a run that was stopped")
        (self.root / "src/verify/a.cpp").unlink()
        self.project.write("src/verify/b.cpp", "new")
        tree.synchronise()
        names = {path.relative_to(copy).as_posix() for path in copy.rglob("*.cpp")}
        self.assertEqual(names, {"src/pack/a.cpp", "src/pack/a_test.cpp", "src/verify/b.cpp", "src/io/a.cpp"})
        self.assertEqual((copy / "src/pack/a.cpp").read_text(), (self.root / "src/pack/a.cpp").read_text())
        self.assertEqual((copy / "src/io/a.cpp").stat().st_mtime_ns, kept, "what is equal is not compiled again")

    def test_a_test_passes_fails_crashes_or_takes_too_long(self):
        for name, script, verdict in (("good", "echo fine", "passed"), ("bad", "exit 1", "failed"), ("dead", "kill -SEGV $$", "failed"),
                                      ("slow", "sleep 60 & wait", "timeout")):
            self.project.write(f"build/dev/src/pack/{name}", f"#!/bin/sh\n{script}\n")
            (self.root / f"build/dev/src/pack/{name}").chmod(0o755)
            tree = mutate.Tree(self.root, self.root, "dev", 1)
            self.assertEqual(tree.test(name, 0.5 if name == "slow" else 20), verdict, name)
        self.assertRaises(mutate.Broken, tree.test, "absent", 1)

    def test_a_change_is_undone_whatever_happens(self):
        before = self.project.texts()
        tree = mutate.Tree(self.root, self.root, "dev", 1)
        _, change = self.draw(1, 1)[0]
        for failure in (None, KeyboardInterrupt, RuntimeError):
            with contextlib.suppress(BaseException):
                with tree.changed(change):
                    now = self.project.texts()
                    self.assertEqual([path for path in now if now[path] != before[path]], [self.root / change.file])
                    if failure:
                        raise failure
            self.assertEqual(self.project.texts(), before)


class JudgeTest(InProject):
    LAYERS = {"pack": ("quick", "slow")}

    def judge(self, answer):
        """Judges one change; `answer` says what happens to the changed sources. Without a change all is well."""
        original = (self.root / "src/pack/a.cpp").read_text()
        is_changed = lambda: (self.root / "src/pack/a.cpp").read_text() != original
        right = lambda target, what: True if what == "build" else "passed"
        self.tree = FakeTree(self.root, lambda target, what: (answer if is_changed() else right)(target, what))
        outcome = mutate.Judge(self.tree, self.LAYERS, 5).judge("pack", self.draw(1, 1, ["pack"])[0][1])
        self.assertFalse(is_changed())
        return outcome

    def test_the_first_test_that_fails_is_the_last_that_runs(self):
        self.assertEqual(self.judge(lambda target, what: True if what == "build" else "failed"), ("caught", "quick"))
        self.assertEqual(self.tree.calls, ["build quick", "test quick"] * 2, "without the change and with it; the slow one is not even built")

    def test_what_passes_goes_on_to_the_slower_tests(self):
        slow = {"quick": "passed", "slow": "timeout"}
        self.assertEqual(self.judge(lambda target, what: True if what == "build" else slow[target]), ("caught", "slow, out of time"))
        self.assertEqual(self.judge(lambda target, what: True if what == "build" else "passed"), ("survived", ""))
        self.assertEqual(self.tree.timeout, mutate.LEAST_TIMEOUT)

    def test_what_does_not_compile_says_nothing(self):
        self.assertEqual(self.judge(lambda target, what: False), ("does not compile", ""))

    def test_tests_that_fail_by_themselves_judge_nothing(self):
        for answer in (lambda target, what: False, lambda target, what: True if what == "build" else "failed"):
            judge = mutate.Judge(FakeTree(self.root, answer), self.LAYERS, 5)
            self.assertRaises(mutate.Broken, judge.judge, "pack", self.draw(1, 1, ["pack"])[0][1])


class VerdictTest(InProject):
    def results(self, outcomes):
        drawn = self.draw(len(outcomes), 1, ["pack"])
        return [(module, change, outcome) for (module, change), outcome in zip(drawn, outcomes)]

    def entry(self, change, reason):
        return mutate.Entry(change.file, change.before, change.after, reason)

    def test_a_survivor_is_shown_as_the_list_has_it(self):
        results = self.results(["caught"] * 39 + ["survived"])
        status, text = mutate.verdict(results, {})
        self.assertEqual(status, 1, "97% are caught, but nobody said why the other is not")
        shown = text.split("\n\n")[-1] + "accepted: a reason"
        entries = mutate.read_listed(shown)
        self.assertEqual(list(entries), [(results[-1][1].file, results[-1][1].before, results[-1][1].after)])
        self.assertEqual(mutate.verdict(results, entries)[0], 0)

    def test_too_many_that_are_accepted_are_too_many(self):
        results = self.results(["caught"] * 18 + ["survived"] * 2)
        entries = {(c.file, c.before, c.after): self.entry(c, "accepted: x") for _, c, _ in results}
        self.assertEqual(mutate.verdict(results, entries)[0], 1)

    def test_what_is_equivalent_or_does_not_compile_does_not_count(self):
        status, text = mutate.verdict(self.results(["caught", "equivalent", "does not compile"]), {})
        self.assertEqual(status, 0)
        self.assertIn("| pack | 3 | 1 | 0 | 1 | 1 |", text)
        self.assertIn("1 of 1 caught (100%", text)

    def test_what_is_equivalent_is_not_built(self):
        drawn = self.draw(3, 1, ["pack"])
        change = drawn[1][1]
        entries = {(change.file, change.before, change.after): self.entry(change, "equivalent: x")}
        tree = FakeTree(self.root, lambda target, what: True if what == "build" else "passed")
        results = []
        with contextlib.redirect_stdout(io.StringIO()):
            mutate.try_all(mutate.Judge(tree, {"pack": ("quick",)}, 5), drawn, entries, mutate.Progress(3), results)
        self.assertEqual([outcome for _, _, outcome in results], ["survived", "equivalent", "survived"])
        self.assertEqual(tree.calls.count("test quick"), 1 + 2)

    def test_only_a_lock_that_survived_is_judged_by_threads(self):
        self.project.write("src/pack/a.cpp", body("\n  const std::lock_guard lock(m);\n  g(1);\n"))
        original = (self.root / "src/pack/a.cpp").read_text()
        results = [("pack", change, "survived") for change in cpp_changes.changes_of("src/pack/a.cpp", original)]
        results += [(module, change, "caught") for module, change, _ in results if change.kind == "lock"]
        tree = FakeTree(self.root, lambda target, what: True if what == "build" else "passed" if original == (
            self.root / "src/pack/a.cpp").read_text() else "failed")
        with contextlib.redirect_stdout(io.StringIO()):
            mutate.try_locks(mutate.Judge(tree, {"pack": ("threads",)}, 5), results, mutate.Progress(1))
        self.assertEqual({outcome for _, change, outcome in results if change.kind == "lock"}, {"caught"})
        self.assertEqual({outcome for _, change, outcome in results if change.kind != "lock"}, {"survived"})
        self.assertEqual(tree.calls.count("test threads"), 2, "without the lock and with it")

    def test_what_is_listed_as_equivalent_must_not_be_caught(self):
        self.assertEqual(mutate.verdict_of_listed(self.results(["survived", "does not compile"]))[0], 0)
        self.assertEqual(mutate.verdict_of_listed(self.results(["survived", "caught"]))[0], 1)

    def test_an_entry_whose_line_is_gone_is_stale(self):
        change = self.draw(1, 1, ["pack"])[0][1]
        kept = self.entry(change, "accepted: x")
        gone = mutate.Entry(change.file, "g(12345);", "{}", "equivalent: x")
        self.assertEqual(mutate.find_stale(self.root, {each.key: each for each in (kept, gone)}), [gone])

    def test_an_entry_without_a_reason_is_refused(self):
        for text in ("src/a.cpp\n- a\n+ b\n= ", "src/a.cpp\n- a\n+ b\n= because", "src/a.cpp\n- a\n= equivalent: x"):
            self.assertRaises(SystemExit, mutate.read_listed, text)


class ProjectTest(unittest.TestCase):
    """On the sources of the project itself."""

    def test_what_is_listed_can_be_drawn(self):
        self.assertEqual(mutate.find_stale(PROJECT, mutate.read_listed(mutate.LISTED.read_text(encoding="utf-8"))), [])

    def test_every_module_can_be_changed_and_every_test_exists(self):
        lists = "".join(file.read_text() for folder in ("src", "tests") for file in PROJECT.glob(f"{folder}/**/CMakeLists.txt"))
        for module, targets in {**mutate.LAYERS, **mutate.THREAD_TESTS}.items():
            self.assertGreater(len(mutate.draw(PROJECT, [module], 5, 1)), 4)
            for target in targets:
                own = f"stowage_module({target.removesuffix('_test')}\n" in lists or f"stowage_module({target.removesuffix('_test')} " in lists
                self.assertTrue(own or f"stowage_test({target}" in lists, target)


if __name__ == "__main__":
    unittest.main()
