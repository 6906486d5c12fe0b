#!/usr/bin/env python3
"""Measures what the command line needs for the files of costly_files.py, and fails where that is more than the limits.

Usage: fuzz/measure_costly_files.py STOWAGE [--size BYTES] [--jobs N] [--cpu SECONDS] [--memory MIB] [--table] [KIND…]

Graphs, models and tables go through plan, verify, explain and diff with --time-limit 1s, traces through replay with each allocator. A command is stopped
at the limits (10 s of CPU, 1024 MiB of memory in use), which is a failure, as is a crash; an error with a message is not. After a failure the other
commands of its kind are left out. With --table, the
result is a table for bench/README.md: of each kind the most CPU seconds and the most MiB of any command, and how the slowest one ended.
"""

import argparse
import concurrent.futures
import os
import pathlib
import resource
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import costly_files  # noqa: E402

ALLOCATORS = ("stream", "caching", "plan-ahead", "torch-native", "torch-expandable", "buffers")
ADDRESSES_PER_USE = 4  # addresses may be reserved without being used


class Run:
    """One command: its exit code, CPU seconds, MiB, and the last line that it printed."""

    def __init__(self, command, cpu, memory):
        def limit():
            resource.setrlimit(resource.RLIMIT_CPU, (cpu + 1, cpu + 1))
            resource.setrlimit(resource.RLIMIT_AS, (memory * ADDRESSES_PER_USE << 20,) * 2)
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

        with tempfile.TemporaryFile() as errors:
            process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=errors, preexec_fn=limit)
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            errors.seek(0)
            lines = errors.read().decode(errors="replace").strip().splitlines()
        self.command, self.code, self.message = command[1], process.returncode, lines[-1][:300] if lines else ""
        self.seconds, self.mebibytes = used.ru_utime + used.ru_stime, used.ru_maxrss / 1024
        self.bad = self.code < 0 or self.code in (3, 134, 139) or self.seconds > cpu or self.mebibytes > memory or "internal error" in self.message

    def ended(self):
        if self.code < 0:
            return f"stopped by signal {-self.code}"
        return f"exit {self.code}" + (f": {self.message.rsplit('/', 1)[-1][:150]}" if self.code else "")


def commands(stowage, path, plan):
    if ".trace" in path.suffixes:
        return [[stowage, "replay", path, "--allocator", name] for name in ALLOCATORS]
    limited = ["--time-limit", "1s"]
    if path.suffix == ".csv":
        return [[stowage, "plan", path, "-o", plan, *limited], [stowage, "verify", path, plan]]
    return [[stowage, "plan", path, "-o", plan, *limited], [stowage, "verify", path, plan], [stowage, "explain", path, "--total-time", "1s", *limited],
            [stowage, "diff", path, path, *limited], [stowage, "diff", plan, plan]]


def measure(stowage, path, limits):
    plan = path.with_name(path.name.split(".")[0] + (".plan.csv" if path.suffix == ".csv" else ".plan.json"))
    runs = []
    for command in commands(stowage, path, plan):
        if plan in command[2:] and command[1] != "plan" and not plan.exists():
            continue
        runs.append(Run([str(part) for part in command], *limits))
        if runs[-1].bad:
            break
    plan.unlink(missing_ok=True)
    return runs


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("stowage", type=pathlib.Path)
    parser.add_argument("--size", type=int, default=10**6)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--cpu", type=int, default=10)
    parser.add_argument("--memory", type=int, default=1024)
    parser.add_argument("--table", action="store_true")
    parser.add_argument("kinds", nargs="*", metavar="KIND")
    arguments = parser.parse_args()
    failed = []
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        names = arguments.kinds or list(costly_files.KINDS)

        def one(name):
            # In another process: what a process has used before it starts a command counts as the command's.
            subprocess.run([sys.executable, costly_files.__file__, "--size", str(arguments.size), folder, name], check=True, stdout=subprocess.DEVNULL)
            path = pathlib.Path(folder) / (name + costly_files.KINDS[name][0])
            runs = measure(arguments.stowage.resolve(), path, (arguments.cpu, arguments.memory))
            path.unlink()
            return runs

        for name, runs in zip(names, pool.map(one, names)):
            slowest, largest = max(runs, key=lambda run: run.seconds), max(runs, key=lambda run: run.mebibytes)
            bad = [run for run in runs if run.bad]
            failed += [name] * bool(bad)
            if arguments.table:
                print(f"| {name} | {slowest.seconds:.1f} | {largest.mebibytes:.0f} | {slowest.command}: {slowest.ended()} |", flush=True)
                continue
            print(f"{name:28} {slowest.seconds:6.1f} s in {slowest.command:8} {largest.mebibytes:6.0f} MiB in {largest.command:8} {'BAD' if bad else runs[0].ended() if runs[0].code else ''}", flush=True)
            for run in bad:
                print(f"    {run.command}: {run.seconds:.1f} s, {run.mebibytes:.0f} MiB, {run.ended()}", flush=True)
    print(f"{len(names)} kinds, {len(failed)} above the limits: {' '.join(failed)}" if failed else f"{len(names)} kinds, none above the limits")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
