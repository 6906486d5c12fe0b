#!/usr/bin/env python3
"""Writes packing problems as CSV files, always the same ones: what packing_bench.py measures.

  bench/packing_sets.py FOLDER [--data ../shared/data] [--large]

  lowered_X_SEED    MiniMalloc's file X, each size lowered by 0 to 1,023 bytes, at alignment 1,024 (needs --data); fits the file's 1 MiB
  uneven_N          10 to 40 items of uneven size at alignments of 1,024 to 4,096
  coarse_N          10 to 40 items of uneven size at alignments of 1,024 to 8,192, most of which meet
  pinwheel_X_ITEMS  a square, cut into four rectangles around a hole again and again; X: always the largest rectangle, or any
  dense_ITEMS       random lives, so that a third of all pairs meet
  uniform_ITEMS     with --large: sizes up to 1 MiB and lives up to 200 of as many steps as there are items, equally often
  loguniform_ITEMS  with --large: sizes and lives of every order of magnitude, equally often
"""

import argparse
import csv
import math
import pathlib
import random


def write(folder, name, rows):
    with open(folder / f"{name}.csv", "w", newline="") as file:
        out = csv.writer(file)
        out.writerow(["id", "lower", "upper", "size", "alignment"])
        out.writerows([i, *row] for i, row in enumerate(rows))


def lowered(path, seed):
    numbers = random.Random(f"{path.name[0]}{seed}")
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file))
    return [(row["lower"], row["upper"], max(1, int(row["size"]) - numbers.randrange(1024)), 1024) for row in rows]


def uneven(items, numbers):
    largest, alignments = numbers.choice([40, 4000]), numbers.choice([1, 3])
    for _ in range(items):
        begin = numbers.randrange(items)
        life = 1 + numbers.randrange(items // 2)
        yield begin, begin + life, 1 + numbers.randrange(largest), 1024 << numbers.randrange(alignments)


def coarse(items, numbers):
    steps, largest = max(6, items * 2 // 3), numbers.choice([100, 3000, 9000])
    alignments = [1024 << numbers.randrange(4) for _ in range(4)]
    for _ in range(items):
        begin = numbers.randrange(steps)
        life = 1 + numbers.randrange(1 + steps // 2)
        yield begin, begin + life, 1 + numbers.randrange(largest), numbers.choice(alignments)


def pinwheel(items, numbers, largest):
    boxes = [(0, 1 << 20, 0, 1 << 20)]
    while len(boxes) < items:
        area = [(x1 - x0) * (y1 - y0) for x0, x1, y0, y1 in boxes]
        chosen = area.index(max(area)) if largest else numbers.randrange(len(boxes))
        x0, x1, y0, y1 = boxes[chosen]
        if min(x1 - x0, y1 - y0) < 5:
            continue
        boxes[chosen] = boxes[-1]
        boxes.pop()
        a, b = sorted(numbers.sample(range(x0 + 1, x1), 2))
        c, d = sorted(numbers.sample(range(y0 + 1, y1), 2))
        parts = [(x0, b, y0, c), (b, x1, y0, d), (a, x1, d, y1), (x0, a, c, y1), (a, b, c, d)]
        if numbers.random() < 0.5:
            parts = [(x0 + x1 - right, x0 + x1 - left, low, high) for left, right, low, high in parts]
        boxes += parts
    numbers.shuffle(boxes)
    return [(x0, x1, y1 - y0, 1) for x0, x1, y0, y1 in boxes]


def dense(items, numbers):
    for _ in range(items):
        begin, end = sorted(numbers.choices(range(2 * items), k=2))
        yield begin, end + 1, 1024 * (1 + numbers.randrange(1000)), 1


def uniform(items, numbers):
    for _ in range(items):
        begin = numbers.randrange(items)
        yield begin, begin + 1 + numbers.randrange(200), 1 + numbers.randrange(1 << 20), 1


def loguniform(items, numbers):
    for _ in range(items):
        begin = numbers.randrange(items)
        yield begin, begin + int(math.exp(numbers.random() * math.log(items / 10))), int((1 << 24) ** numbers.random()), 1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--data", type=pathlib.Path)
    parser.add_argument("--large", action="store_true")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    for path in sorted(options.data.glob("csv/?.1048576.csv")) if options.data else []:
        for seed in range(1, 6):
            write(options.folder, f"lowered_{path.name[0]}_{seed}", lowered(path, seed))
    for family, make in (("uneven", uneven), ("coarse", coarse)):
        numbers = random.Random(family)
        for k in range(105):
            write(options.folder, f"{family}_{k:03}", make(10 + k * 30 // 104, numbers))
    for items in (257, 1025, 2049):
        write(options.folder, f"pinwheel_largest_{items}", pinwheel(items, random.Random(items), True))
        write(options.folder, f"pinwheel_any_{items}", pinwheel(items, random.Random(items), False))
    for items in (1000, 2000):
        write(options.folder, f"dense_{items}", dense(items, random.Random(items)))
    for items in (100_000, 1_000_000) if options.large else ():
        write(options.folder, f"uniform_{items}", uniform(items, random.Random(items)))
        write(options.folder, f"loguniform_{items}", loguniform(items, random.Random(items)))


if __name__ == "__main__":
    main()
