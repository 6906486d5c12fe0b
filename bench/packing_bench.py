#!/usr/bin/env python3
"""Compares programs and peers on the problems of packing_sets.py, side by side in one run; prints a Markdown table.

  bench/packing_bench.py FOLDER NAME=PROGRAM… [--time 1] [--only WORD] [--capacity BYTES] [--cp-sat] [--omnimalloc] [--each]

Each PROGRAM is a `stowage` command line. Per family (the word before the first "_"): how many answers are proven optimal; how far peaks are above the
best known, which is the lowest peak of anyone in this run, on average and at worst; CPU seconds of whole processes; the largest resident memory. With
--capacity: how many fit. CP-SAT (ortools, PyPI) has one worker and the same time, and is asked about problems of at most 60 items. OmniMalloc (PyPI) knows no
alignments: problems with alignments are left out, and its time is its own.
"""

import argparse
import collections
import csv
import json
import os
import pathlib
import subprocess
import sys
import time

Answer = collections.namedtuple("Answer", "peak proven cpu mib")


def read(path):
    with open(path, newline="") as file:
        return [tuple(int(row[key]) for key in ("lower", "upper", "size", "alignment")) for row in csv.DictReader(file)]


def ask_stowage(program, path, options):
    command = [program, "plan", str(path), "--json", "--time-limit", f"{options.time}s"]
    if options.capacity:
        command += ["--capacity", str(options.capacity)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    text = process.stdout.read()
    _, _, usage = os.wait4(process.pid, 0)
    process.returncode = 0
    result = json.loads(text)
    return Answer(result["peak_bytes"], result["proven_optimal"], usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def ask_cp_sat(rows, options):
    from ortools.sat.python import cp_model

    model = cp_model.CpModel()
    top = sum(size + alignment for _, _, size, alignment in rows)
    peak = model.new_int_var(0, top, "peak")
    lives, bytes_of = [], []
    for i, (lower, upper, size, alignment) in enumerate(rows):
        offset = alignment * model.new_int_var(0, top // alignment, f"offset_{i}")
        end = model.new_int_var(0, 2 * top, f"end_{i}")
        lives.append(model.new_fixed_size_interval_var(lower, upper - lower, f"life_{i}"))
        bytes_of.append(model.new_interval_var(offset, size, end, f"bytes_{i}"))
        model.add(end <= peak)
    model.add_no_overlap_2d(lives, bytes_of)
    for step in {row[0] for row in rows}:
        model.add_no_overlap([bytes_of[i] for i, row in enumerate(rows) if row[0] <= step < row[1]])
    model.minimize(peak)
    solver = cp_model.CpSolver()
    solver.parameters.max_time_in_seconds = options.time
    solver.parameters.num_workers = 1
    begin = time.process_time()
    status = solver.solve(model)
    found = status in (cp_model.OPTIMAL, cp_model.FEASIBLE)
    return Answer(int(solver.objective_value) if found else None, status == cp_model.OPTIMAL, time.process_time() - begin, 0)


def ask_omnimalloc(rows, _):
    import omnimalloc

    begin = time.process_time()
    items = [omnimalloc.Allocation(i, size, lower, upper) for i, (lower, upper, size, _) in enumerate(rows)]
    placed = omnimalloc.allocate(items, validate=True)
    return Answer(max(each.offset + each.size for each in placed), False, time.process_time() - begin, 0)


def ask_all(path, options):
    answers = {name: ask_stowage(program, path, options) for name, program in options.programs}
    if not (options.cp_sat or options.omnimalloc):
        return answers
    rows = read(path)
    if options.cp_sat and len(rows) <= 60:
        answers["CP-SAT"] = ask_cp_sat(rows, options)
    if options.omnimalloc and all(row[3] == 1 for row in rows) and len(rows) <= 100_000:
        answers["OmniMalloc"] = ask_omnimalloc(rows, options)
    return answers


def print_row(family, name, asked, options):
    known = [(answers[name], min(each.peak for each in answers.values() if each.peak)) for answers in asked if name in answers]
    if not known:
        return
    excess = [100 * (answer.peak / best - 1) for answer, best in known if answer.peak]
    fit = sum(1 for answer, _ in known if answer.peak and answer.peak <= (options.capacity or 0))
    cells = [family, name, len(known), fit if options.capacity else "–", sum(answer.proven for answer, _ in known)]
    cells += [f"{sum(excess) / len(excess):.2f}", f"{max(excess):.2f}"] if excess else ["–", "–"]
    cells += [f"{sum(answer.cpu for answer, _ in known):.2f}", f"{max(answer.mib for answer, _ in known):.0f}"]
    print("| " + " | ".join(map(str, cells)) + " |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("programs", nargs="+", type=lambda text: tuple(text.split("=", 1)))
    parser.add_argument("--time", type=float, default=1)
    parser.add_argument("--only", default="")
    parser.add_argument("--capacity", type=int)
    parser.add_argument("--cp-sat", action="store_true")
    parser.add_argument("--omnimalloc", action="store_true")
    parser.add_argument("--each", action="store_true", help="also one line per problem, on standard error")
    options = parser.parse_args()
    families = collections.defaultdict(list)
    for path in sorted(options.folder.glob("*.csv")):
        if options.only in path.name:
            answers = ask_all(path, options)
            families[path.name.split("_")[0]].append(answers)
            if options.each:
                print(path.stem, *(f"{name} {each.peak}{'*' if each.proven else ''}" for name, each in answers.items()), file=sys.stderr, flush=True)
    print("| family | program | problems | fit | proven | % above best, mean | worst | CPU s | MiB |")
    print("|---|---|---:|---:|---:|---:|---:|---:|---:|")
    for family, asked in families.items():
        for name in [name for name, _ in options.programs] + ["CP-SAT", "OmniMalloc"]:
            print_row(family, name, asked, options)


if __name__ == "__main__":
    main()
