#!/usr/bin/env python3
"""Mutation testing: draws small changes to the library's sources (scripts/cpp_changes.py), builds each into the tests of its module, and says which changes no
test notices. Works on a copy in build/mutate; the sources themselves are never touched.

  make mutate                                        a hundred changes, spread over the modules by their lines
  scripts/mutate.py --count 20 --seed 7 --module pack
  scripts/mutate.py --at src/lower/clears.cpp:67 --quick     every change at one line, or in one file; only the module's own tests
  scripts/mutate.py --count 20 --list                only says what it would try

Each change ends as one of:
  caught            a test fails, crashes, or takes several times as long as usual
  survived          all tests pass. A lock that is not taken gets a second chance: the tests with threads, under ThreadSanitizer
  equivalent        listed in scripts/mutate_listed.txt with a reason why no test can notice it; not built, except with --listed
  does not compile  with warnings as errors; says nothing about the tests

Exit status 1 if fewer than 95% of caught and survived were caught, or a survivor is not listed, or the list names a line that is gone. The last
lines show the survivors in the form in which that file lists them. Environment: JOBS (2), STOWAGE_DATA, STOWAGE_PROPERTY_PROBLEMS as for the tests.
"""

import argparse
import collections
import contextlib
import dataclasses
import itertools
import os
import pathlib
import random
import resource
import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True
import cpp_changes

ROOT = pathlib.Path(__file__).resolve().parent.parent
LISTED = ROOT / "scripts" / "mutate_listed.txt"
GOAL = 0.95
OUTCOMES = ("caught", "survived", "equivalent", "does not compile")

# Which tests judge a module, the quickest first: its own, then those in tests/ that are about it.
LAYERS = {
    "files": ("files_test",),
    "liveness": ("liveness_test", "layout_test", "lower_test", "bodies_plan_test", "ge_streams_test", "streams_property_test", "constraints_property_test"),
    "layout": ("layout_test", "lower_test", "bodies_plan_test", "apart_plan_test", "choices_test", "ge_cases_test", "constraints_property_test"),
    "lower": ("lower_test", "bodies_plan_test", "apart_plan_test", "ge_cases_test", "ge_streams_test", "constraints_property_test", "program_run_test"),
    "verify": ("verify_test", "verify_mutation_test", "program_mutation_test"),
    "pack": ("pack_test", "contract_test", "property_test", "proof_property_test"),
    "planner": ("planner_test", "fold_plan_test", "choices_test", "apart_plan_test", "claims_property_test"),
    "alloc": ("alloc_test", "alloc_hot_path_test", "scheduler_faults_test", "partition_property_test", "graph_allocator_shadow_test", "program_run_test"),
    "runtime": ("runtime_test", "runtime_threads_test", "runtime_host_memory_test", "runtime_schedule_test"),
    "io": ("io_test", "formats_test", "onnx_data_test"),
}
THREAD_TESTS = {"runtime": ("runtime_threads_test",)}  # under ThreadSanitizer
MEMORY = 8 << 30  # of a test; a change may make it allocate for ever
LEAST_TIMEOUT = 20  # seconds


class Broken(Exception):
    """The tests cannot be had, or fail without any change."""


# ------------------------------------------------------------------------------------------------------------ what to try


def sources(root, modules):
    for module in modules:
        for file in sorted((root / "src" / module).rglob("*")):
            if file.suffix in (".cpp", ".hpp") and not file.name.endswith("_test.cpp"):
                yield module, file.relative_to(root).as_posix()


def quotas(lines, count):
    """Shares of `count` in proportion to the numbers of lines; each module gets one at least, as long as there are enough."""
    total = sum(lines.values())
    shares = {module: min(lines[module], max(count * lines[module] // total, 1)) for module in lines}
    by_rest = sorted(lines, key=lambda module: (-(count * lines[module] % total), module))
    for module in by_rest * 2:
        if sum(shares.values()) < count and shares[module] < lines[module]:
            shares[module] += 1
    for module in sorted(lines, key=lambda each: (lines[each], each)):
        shares[module] -= min(max(sum(shares.values()) - count, 0), shares[module])
    return shares


def draw(root, modules, count, seed):
    """[(module, change)]: a change each at so many lines, chosen by the seed alone."""
    by_line = collections.defaultdict(lambda: collections.defaultdict(list))
    for module, file in sources(root, modules):
        for change in cpp_changes.changes_of(file, (root / file).read_text(encoding="utf-8")):
            by_line[module][file, change.line].append(change)
    shares = quotas({module: len(by_line[module]) for module in by_line}, count)
    drawn = []
    for module in by_line:
        chance = random.Random(f"{seed} {module}")
        for line in sorted(chance.sample(sorted(by_line[module]), shares[module])):
            changes = by_line[module][line]
            kind = chance.choice(sorted({change.kind for change in changes}))  # else constants would be a fifth of all
            drawn.append((module, chance.choice([change for change in changes if change.kind == kind])))
    return drawn


def changes_at(root, place):
    file, _, line = place.partition(":")
    parts = pathlib.PurePosixPath(file).parts
    if len(parts) < 3 or parts[0] != "src" or parts[1] not in LAYERS or not (root / file).is_file():
        raise SystemExit(f"mutate: {file} is no source of {', '.join(LAYERS)}")
    changes = cpp_changes.changes_of(file, (root / file).read_text(encoding="utf-8"))
    return [(parts[1], change) for change in changes if not line or change.line == int(line)]


@dataclasses.dataclass(frozen=True)
class Entry:
    file: str
    before: str
    after: str
    reason: str  # begins with "equivalent: " or "accepted: "

    @property
    def key(self):
        return self.file, self.before, self.after


def read_listed(text):
    """Entries of four lines: a file, "- " the line as it is, "+ " the line as changed, "= " the reason; "#" begins a comment."""
    entries = {}
    for block in text.split("\n\n"):
        lines = [line for line in block.splitlines() if line and not line.startswith("#")]
        if not lines:
            continue
        marks = [line[:2] for line in lines[1:]]
        if marks != ["- ", "+ ", "= "] or not lines[3].startswith(("= equivalent: ", "= accepted: ")):
            raise SystemExit(f"mutate: not an entry of {LISTED.name}:\n{block}")
        entry = Entry(lines[0], *(line[2:] for line in lines[1:]))
        entries[entry.key] = entry
    return entries


def find_stale(root, entries):
    """The entries whose line is gone, or cannot be changed like that."""
    possible = {}
    for file in {entry.file for entry in entries.values()}:
        path = root / file
        possible[file] = {(c.before, c.after) for c in cpp_changes.changes_of(file, path.read_text(encoding="utf-8"))} if path.is_file() else set()
    return [entry for entry in entries.values() if (entry.before, entry.after) not in possible[entry.file]]


# --------------------------------------------------------------------------------------------------------------- the copy


class Tree:
    """A copy of the sources with a build folder of its own."""

    def __init__(self, root, folder, preset, jobs):
        self.root, self.folder, self.preset, self.jobs = root, folder, preset, jobs
        self.log = ""
        self.programs = {}
        self.environment = dict(os.environ, GTEST_FAIL_FAST="1", GTEST_BRIEF="1")
        self.environment.setdefault("STOWAGE_DATA", str(root.parent / "shared" / "data"))

    def synchronise(self):
        """Makes the copy equal to the sources, whatever an earlier run has left; unchanged files keep their times."""
        listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=self.root, check=True, capture_output=True)
        wanted = {name for name in listed.stdout.decode().split("\0") if name and (self.root / name).is_file()}
        for name in wanted:
            copy, content = self.folder / name, (self.root / name).read_bytes()
            if not copy.is_file() or copy.read_bytes() != content:
                copy.parent.mkdir(parents=True, exist_ok=True)
                copy.write_bytes(content)
                copy.chmod((self.root / name).stat().st_mode)
        for top in ("src", "tests", "include"):
            for copy in (self.folder / top).rglob("*"):
                if copy.is_file() and copy.relative_to(self.folder).as_posix() not in wanted:
                    copy.unlink()

    def configure(self):
        self.call(["cmake", "--preset", self.preset, "-DSTOWAGE_BENCH=OFF", "-DSTOWAGE_EXAMPLES=OFF"])

    def call(self, command):
        done = subprocess.run(command, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        self.log = done.stdout.decode(errors="replace")
        if done.returncode != 0:
            raise Broken(f"{' '.join(command)} fails:\n{self.log[-3000:]}")

    def build(self, target):
        """Whether it compiles."""
        command = ["cmake", "--build", "--preset", self.preset, "-j", str(self.jobs), "--target", target]
        with contextlib.suppress(Broken):
            self.call(command)
            return True
        return False

    def test(self, target, timeout):
        """"passed", "failed" or "timeout"."""
        program = self.find_program(target)
        limited = lambda: self.preset == "tsan" or resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
        process = subprocess.Popen([program], cwd=program.parent, env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, start_new_session=True, preexec_fn=limited)
        try:
            self.log = process.communicate(timeout=timeout)[0].decode(errors="replace")
            return "passed" if process.returncode == 0 else "failed"
        except subprocess.TimeoutExpired:
            return "timeout"
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)  # with what it has started
            process.wait()
            process.stdout.close()

    def find_program(self, target):
        if target not in self.programs:
            found = [path for path in (self.folder / "build" / self.preset).rglob(target) if path.is_file()]
            if not found:
                raise Broken(f"there is no program {target}")
            self.programs[target] = found[0]
        return self.programs[target]

    @contextlib.contextmanager
    def changed(self, change):
        """The copy with the change, and without it again afterwards."""
        file = self.folder / change.file
        source = file.read_text(encoding="utf-8")
        try:
            file.write_text(change.apply(source), encoding="utf-8")
            yield
        finally:
            file.write_text(source, encoding="utf-8")


# ---------------------------------------------------------------------------------------------------------------- judging


class Judge:
    """Builds and runs the tests of a module: with changes, and before a test judges for the first time, without."""

    def __init__(self, tree, layers, patience):
        self.tree, self.layers, self.patience = tree, layers, patience
        self.seconds = {}

    def prepare(self, target):
        """Measures how long the test takes without a change."""
        if not self.tree.build(target):
            raise Broken(f"{target} does not compile without any change:\n{self.tree.log[-3000:]}")
        begin = time.monotonic()
        if self.tree.test(target, None) != "passed":
            raise Broken(f"{target} fails without any change:\n{self.tree.log[-3000:]}")
        self.seconds[target] = time.monotonic() - begin

    def timeout(self, target):
        return max(LEAST_TIMEOUT, self.patience * self.seconds[target])

    def judge(self, module, change):
        """(outcome, the test that caught it). Slow tests are built only once something has survived the others."""
        targets = list(self.layers[module])
        while targets:
            if targets[0] not in self.seconds:
                self.prepare(targets[0])
            ready = list(itertools.takewhile(self.seconds.__contains__, targets))
            with self.tree.changed(change):
                outcome, by = self.judge_by(ready)
            if outcome != "survived":
                return outcome, by
            targets = targets[len(ready):]
        return "survived", ""

    def judge_by(self, targets):
        for target in targets:
            if not self.tree.build(target):
                return "does not compile", ""
            verdict = self.tree.test(target, self.timeout(target))
            if verdict != "passed":
                return "caught", target if verdict == "failed" else f"{target}, out of time"
        return "survived", ""


class Progress:
    """A line for each change, and where that is a terminal one that says how far it is."""

    def __init__(self, count):
        self.count, self.done, self.begin = count, 0, time.monotonic()
        self.outcomes = collections.Counter()
        self.is_terminal = sys.stderr.isatty()

    def say(self, text):
        if self.is_terminal:
            print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)

    def trying(self, change):
        passed = time.monotonic() - self.begin
        left = f", {passed / self.done * (self.count - self.done) / 60:.0f} min left" if self.done else ""
        figures = ", ".join(f"{self.outcomes[each]} {each}" for each in OUTCOMES if self.outcomes[each])
        self.say(f"{self.done}/{self.count}: {figures or 'none yet'}{left}; {change.file}:{change.line}"[:120])

    def tried(self, change, outcome, by):
        self.done += 1
        self.outcomes[outcome] += 1
        self.say("")
        print(f"{self.done}/{self.count} {outcome}{' by ' + by if by else ''}: {change.file}:{change.line} {change.kind}: {change.after[:100]}", flush=True)


def try_all(judge, drawn, entries, progress, results):
    """Appends (module, change, outcome) to `results`, so that an interrupted run has them too."""
    for module, change in drawn:
        progress.trying(change)
        entry = entries.get((change.file, change.before, change.after))
        if entry and entry.reason.startswith("equivalent: "):
            outcome, by = "equivalent", ""
        else:
            outcome, by = judge.judge(module, change)
        results.append((module, change, outcome))
        progress.tried(change, outcome, by)


def try_locks(judge, results, progress):
    """What survived of the locks that are not taken is judged again."""
    for index, (module, change, outcome) in enumerate(results):
        if outcome != "survived" or change.kind != "lock" or module not in judge.layers:
            continue
        progress.say(f"the tests with threads of {module}, under ThreadSanitizer")
        outcome, by = judge.judge(module, change)
        results[index] = (module, change, outcome)
        print(f"under ThreadSanitizer {outcome}{' by ' + by if by else ''}: {change.file}:{change.line}", flush=True)


# ---------------------------------------------------------------------------------------------------------------- results


def table(results):
    modules = list(dict.fromkeys(module for module, _, _ in results))
    counts = collections.Counter((module, outcome) for module, _, outcome in results)
    lines = ["| module | tried | " + " | ".join(OUTCOMES) + " |", "|---|" + "---:|" * (len(OUTCOMES) + 1)]
    for module in modules:
        row = [counts[module, outcome] for outcome in OUTCOMES]
        lines.append(f"| {module} | {sum(row)} | " + " | ".join(map(str, row)) + " |")
    sums = [sum(counts[module, outcome] for module in modules) for outcome in OUTCOMES]
    lines.append(f"| all | {sum(sums)} | " + " | ".join(map(str, sums)) + " |")
    return "\n".join(lines)


def verdict(results, entries):
    """(exit status, text)."""
    survivors = [change for _, change, outcome in results if outcome == "survived"]
    unlisted = [change for change in survivors if (change.file, change.before, change.after) not in entries]
    caught = sum(outcome == "caught" for _, _, outcome in results)
    judged = caught + len(survivors)
    share = caught / judged if judged else 1.0
    text = [table(results), "", f"{caught} of {judged} caught ({100 * share:.0f}%; the aim is {100 * GOAL:.0f}%)."]
    if unlisted:
        text += ["", f"Survived, and not in scripts/{LISTED.name}:"]
    for change in unlisted:
        text += ["", f"# line {change.line}, {change.kind}", change.file, f"- {change.before}", f"+ {change.after}", "= "]
    return (0 if share >= GOAL and not unlisted else 1), "\n".join(text)


def verdict_of_listed(results):
    """With --listed: what is said to be equivalent must not be caught."""
    wrong = [change for _, change, outcome in results if outcome == "caught"]
    text = [table(results)] + [f"listed, but caught: {change.file}: {change.after}" for change in wrong]
    return (1 if wrong else 0), "\n".join(text)


def listed_changes(root, entries):
    found = []
    for module, file in sources(root, LAYERS):
        if any(entry.file == file for entry in entries.values()):
            changes = cpp_changes.changes_of(file, (root / file).read_text(encoding="utf-8"))
            found += [(module, change) for change in changes if (file, change.before, change.after) in entries]
    return found


def parse(words):
    parser = argparse.ArgumentParser(prog="mutate.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=100, help="how many changes (100)")
    parser.add_argument("--seed", type=int, default=1, help="which (1); the same sources and seed give the same changes")
    parser.add_argument("--module", action="append", choices=LAYERS, help="only this one; may be repeated")
    parser.add_argument("--at", action="append", metavar="FILE[:LINE]", help="every change there instead; may be repeated")
    parser.add_argument("--quick", action="store_true", help="judge by the module's own tests only")
    parser.add_argument("--list", action="store_true", help="print the changes and build nothing")
    parser.add_argument("--listed", action="store_true", help=f"try what {LISTED.name} lists: exit status 1 if a test catches any of it")
    parser.add_argument("--preset", default="dev", help="of CMakePresets.json (dev)")
    parser.add_argument("--patience", type=float, default=5, help="tests that take so many times as long as unchanged count as failed (5)")
    return parser.parse_args(words)


def choose(arguments, entries):
    if arguments.listed:
        return listed_changes(ROOT, entries)
    if arguments.at:
        return [each for place in arguments.at for each in changes_at(ROOT, place)]
    return draw(ROOT, arguments.module or list(LAYERS), arguments.count, arguments.seed)


def own_tests(layers):
    return {module: tuple(target for target in targets if target.startswith(module)) for module, targets in layers.items()}


def run(arguments, drawn, entries, results):
    layers = own_tests(LAYERS) if arguments.quick else LAYERS
    jobs = int(os.environ.get("JOBS", "2"))
    progress = Progress(len(drawn))
    tree = Tree(ROOT, ROOT / "build" / "mutate", arguments.preset, jobs)
    progress.say("copying and configuring")
    tree.synchronise()
    tree.configure()
    try_all(Judge(tree, layers, arguments.patience), drawn, {} if arguments.listed else entries, progress, results)
    if any(outcome == "survived" and change.kind == "lock" for _, change, outcome in results):
        threads = Tree(ROOT, tree.folder, "tsan", jobs)
        threads.configure()
        try_locks(Judge(threads, THREAD_TESTS, arguments.patience), results, progress)


def main():
    arguments = parse(sys.argv[1:])
    entries = read_listed(LISTED.read_text(encoding="utf-8"))
    stale = find_stale(ROOT, entries)
    for entry in stale:
        print(f"mutate: {LISTED.name} lists a change that is not possible any more: {entry.file}: {entry.before}", file=sys.stderr)
    drawn = choose(arguments, entries)
    print(f"seed {arguments.seed}, {len(drawn)} changes")
    if arguments.list:
        for module, change in drawn:
            print(f"\n{module}: {change.kind}, line {change.line}\n{change.file}\n- {change.before}\n+ {change.after}")
        return 1 if stale else 0
    results = []
    try:
        run(arguments, drawn, entries, results)
    except Broken as broken:
        print(f"{table(results)}\nmutate: {broken}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(f"\n{verdict(results, entries)[1]}\nmutate: stopped after {len(results)} of {len(drawn)}", file=sys.stderr)
        return 130
    status, text = verdict_of_listed(results) if arguments.listed else verdict(results, entries)
    print(f"\n{text}")
    return 1 if stale else status


if __name__ == "__main__":
    sys.exit(main())
