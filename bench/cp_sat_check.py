#!/usr/bin/env python3
"""Looks for contradictions between `solve` and CP-SAT on small random problems.

  bench/cp_sat_check.py PROGRAM [--problems 3000] [--seed 1] [--time 2]

Each problem has 3 to 14 items, and perhaps alignments, uneven sizes, gaps (several pieces), pins. PROGRAM, a `stowage` command line, plans it as a table;
CP-SAT (ortools, PyPI) solves the same problem, modelled from the definition. A contradiction: a peak that is called optimal and is not the one CP-SAT
proved; a bound above a peak that CP-SAT found; "does not fit" where it does; or an answer that CP-SAT proved impossible. Exits with 1 if there is any.
"""

import argparse
import csv
import json
import pathlib
import random
import subprocess
import sys
import tempfile

from ortools.sat.python import cp_model


def make_problem(numbers):
    """Rows of (lower, upper, size, alignment, gaps, pin); a gap is (lower, upper, first, last): only these bytes are occupied then."""
    steps = numbers.randrange(3, 16)
    gaps, pins, coarse = (numbers.random() < chance for chance in (0.4, 0.3, 0.6))
    rows = []
    for _ in range(numbers.randrange(3, 15)):
        lower = numbers.randrange(steps)
        upper = lower + 1 + numbers.randrange(6)
        size = 1 + numbers.randrange(24)
        alignment = 1 << numbers.randrange(6) if coarse else 1
        gap = []
        if gaps and upper - lower > 2 and numbers.random() < 0.5:
            begin = numbers.randrange(lower + 1, upper - 1)
            first, last = sorted((numbers.randrange(size + 1), numbers.randrange(size + 1)))
            gap = [(begin, numbers.randrange(begin + 1, upper), first, last)]
        pin = alignment * numbers.randrange(4) if pins and numbers.random() < 0.15 else None
        rows.append((lower, upper, size, alignment, gap, pin))
    return rows


def write(path, rows):
    with open(path, "w", newline="") as file:
        out = csv.writer(file)
        out.writerow(["id", "lower", "upper", "size", "alignment", "gaps", "offset"])
        for i, (lower, upper, size, alignment, gaps, pin) in enumerate(rows):
            text = " ".join(f"{a}-{b}" + (f"@{first}:{last}" if first < last else "") for a, b, first, last in gaps)
            out.writerow([i, lower, upper, size, alignment, text, -1 if pin is None else pin])


def pieces(row):
    lower, upper, size, _, gaps, _ = row
    begin = lower
    for a, b, first, last in gaps:
        yield begin, a, 0, size
        if first < last:
            yield a, b, first, last
        begin = b
    yield begin, upper, 0, size


def solve(rows, seconds):
    """Status, peak, and lower bound according to CP-SAT."""
    model = cp_model.CpModel()
    top = sum(row[2] + row[3] + (row[5] or 0) for row in rows)
    peak = model.new_int_var(0, top, "peak")
    lives, bytes_of = [], []
    for i, row in enumerate(rows):
        offset = row[3] * model.new_int_var(0, top // row[3], f"offset_{i}")
        model.add(offset + row[2] <= peak)
        if row[5] is not None:
            model.add(offset == row[5])
        for k, (begin, end, first, last) in enumerate(pieces(row)):
            lives.append(model.new_fixed_size_interval_var(begin, end - begin, f"life_{i}_{k}"))
            bytes_of.append(model.new_fixed_size_interval_var(offset + first, last - first, f"bytes_{i}_{k}"))
    model.add_no_overlap_2d(lives, bytes_of)
    model.minimize(peak)
    solver = cp_model.CpSolver()
    solver.parameters.max_time_in_seconds = seconds
    solver.parameters.num_workers = 1
    status = solver.solve(model)
    found = status in (cp_model.OPTIMAL, cp_model.FEASIBLE)
    return status, int(solver.objective_value) if found else None


def plan(program, path, seconds, capacity=None):
    command = [program, "plan", path, "--json", "--time-limit", f"{seconds}s"]
    if capacity is not None:
        command += ["--capacity", str(capacity)]
    process = subprocess.run(command, capture_output=True, text=True, check=False)
    return process.returncode, json.loads(process.stdout) if process.stdout.startswith("{") else None


def contradiction(program, path, rows, seconds):
    """A sentence, or None; and whether both sides proved the same optimum."""
    status, peak = solve(rows, seconds)
    code, planned = plan(program, path, seconds)
    if status == cp_model.INFEASIBLE:
        return ("an answer to a problem without one" if code == 0 else None), False
    if code == 4:
        return ("no answer, but there is one" if peak is not None else None), False
    if code != 0 or not planned:
        return f"exit code {code}", False
    optimal = status == cp_model.OPTIMAL
    if planned["proven_optimal"] and peak is not None and planned["peak_bytes"] > peak:
        return f"proven {planned['peak_bytes']}, but {peak} is possible", False
    if peak is not None and planned["lower_bound_bytes"] > peak:
        return f"bound {planned['lower_bound_bytes']}, but {peak} is possible", False
    if optimal and planned["peak_bytes"] < peak:
        return f"peak {planned['peak_bytes']}, but {peak} is the least", False
    if optimal and plan(program, path, seconds, peak)[0] == 4:
        return f"said not to fit into {peak}", False
    if optimal and peak > 0 and plan(program, path, seconds, peak - 1)[0] == 0:
        return f"said to fit into {peak - 1}", False
    return None, optimal and planned["proven_optimal"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--problems", type=int, default=3000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--time", type=float, default=2)
    options = parser.parse_args()
    numbers = random.Random(options.seed)
    confirmed = wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        path = str(pathlib.Path(folder) / "problem.csv")
        for k in range(options.problems):
            rows = make_problem(numbers)
            write(path, rows)
            found, both = contradiction(options.program, path, rows, options.time)
            confirmed += both
            if found:
                wrong += 1
                print(f"problem {k}: {found}\n{pathlib.Path(path).read_text()}")
    print(f"{options.problems} problems: {confirmed} optima proven by both, {wrong} contradictions")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
