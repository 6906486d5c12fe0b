#!/usr/bin/env python3
"""Writes files that are small but could be expensive to plan: each makes one part of the work as large as its bytes allow.

Usage: fuzz/costly_files.py [--size BYTES] FOLDER [KIND…]

Every KIND is a function below that is registered with @kind; without names, all are written, each as large as fits into --size (1 MB).
fuzz/measure_costly_files.py writes them and measures what the command line needs for each.
"""

import argparse
import gzip
import json
import pathlib
import random
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tests" / "cli"))
from onnx_bytes import field, integer_attribute, model, node, value  # noqa: E402

KINDS = {}  # name -> (suffix, size -> bytes)


def kind(suffix=".json", packed=False):
    """Registers `make`, which takes a count: the largest count is used whose file is within the size. `packed`: the size counts after gzip."""

    def register(make):
        def write(size):
            def encode(count):
                made = make(count)
                if isinstance(made, dict):
                    give_inputs(made)
                    made = json.dumps({"schema": "stowage.graph/1", **made}, separators=(",", ":"))
                content = made.encode() if isinstance(made, str) else made
                return gzip.compress(content, mtime=0) if packed else content

            low, high = 1, 2
            while high < 2**27 and len(encode(high)) <= size:
                low, high = high, high * 2
            while high - low > max(1, low // 50):
                middle = (low + high) // 2
                low, high = (middle, high) if len(encode(middle)) <= size else (low, middle)
            return encode(low)

        KINDS[make.__name__] = (suffix + (".gz" if packed else ""), write)
        return make

    return register


def give_inputs(graph):
    """Tensors that are read before anything writes them become inputs."""
    of, written = graph.get("tensors", []), set()
    for op in graph.get("ops", []):
        for tensor in op.get("inputs", []):
            if tensor not in written and "view_of" not in of[tensor] and "flags" not in of[tensor]:
                of[tensor] = {**of[tensor], "flags": ["input"]}
        written.update(op.get("outputs", []))


def tensors(count, size=1, **fields):
    return [{"size": size, **fields} for _ in range(count)]


def chain(count, **fields):
    """Ops 0 → 1 → 2 …, each with `fields`."""
    return [{"inputs": [i], "outputs": [i + 1], **fields} for i in range(count - 1)]


# In-place pairs, views and aliases

@kind()
def in_place_all_pairs(n):
    return {"tensors": tensors(2 * n), "ops": [{"outputs": list(range(n))}, {"inputs": list(range(n)), "outputs": list(range(n, 2 * n)),
                                                                         "in_place": [[i, j] for i in range(n) for j in range(n)]}]}


@kind()
def in_place_long_paths(n):
    pairs = [[i, j] for i in range(n) for j in (i, i + 1) if j < n]
    return {"tensors": tensors(2 * n), "ops": [{"outputs": list(range(n))}, {"inputs": list(range(n)), "outputs": list(range(n, 2 * n)), "in_place": pairs[::-1]}]}


@kind()
def in_place_chain(n):
    return {"tensors": tensors(n, 64), "ops": chain(n, in_place=[[0, 0]])}


@kind()
def in_place_rows(n):
    """Rows of ops, each with ten outputs that may overwrite any of ten inputs."""
    ops = [{"inputs": [10 * i + j for j in range(10)], "outputs": [10 * i + 10 + j for j in range(10)], "in_place": [[j, k] for j in range(10) for k in range(10)]}
           for i in range(n)]
    return {"tensors": [{"size": 1 + i * 37 % 64} for i in range(10 * n + 10)], "ops": ops}


@kind()
def in_place_one_input(n):
    """One input, which every output of every op may overwrite."""
    ops = [{"outputs": [0]}] + [{"inputs": [0], "outputs": [i + 1], "in_place": [[0, 0]]} for i in range(n)]
    return {"tensors": tensors(n + 1, 8), "ops": ops}


@kind()
def views_of_one(n):
    views = [{"size": 1, "view_of": {"tensor": 0, "offset": i}} for i in range(n)]
    return {"tensors": [{"size": n}] + views, "ops": [{"outputs": [i + 1]} for i in range(n)]}


@kind()
def overlapping_views(n):
    views = [{"size": n, "view_of": {"tensor": 0, "offset": i}} for i in range(n)]
    return {"tensors": [{"size": 2 * n}] + views, "ops": [{"outputs": [i + 1]} for i in range(n)]}


@kind()
def view_chain(n):
    views = [{"size": n - i, "view_of": {"tensor": i, "offset": 1}} for i in range(n)]
    return {"tensors": [{"size": n + 1}] + views, "ops": [{"outputs": [n]}, {"inputs": [0]}]}


@kind()
def alias_chain(n):
    return {"tensors": tensors(n, 8), "ops": chain(n, alias=[[0, 0, 0]])}


@kind()
def aliases_of_one_op(n):
    return {"tensors": tensors(2 * n, 8), "ops": [{"outputs": list(range(n))}, {"inputs": list(range(n)), "outputs": list(range(n, 2 * n)), "alias": [[i, i, 0] for i in range(n)]}]}


@kind()
def repeated_inputs(n):
    return {"tensors": tensors(2), "ops": [{"outputs": [0]}, {"inputs": [0] * n, "outputs": [1]}]}


@kind()
def inputs_of_rows(n):
    """As many ops as each has inputs."""
    return {"tensors": tensors(2 * n), "ops": [{"outputs": list(range(n))}] + [{"inputs": list(range(n)), "outputs": [n + i]} for i in range(n)]}


# Batches

@kind()
def shared_by_batches(n):
    return {"tensors": tensors(2 * n), "ops": [{"outputs": list(range(n))}] + [{"inputs": list(range(n)), "outputs": [n + i], "batch": f"{i}"} for i in range(n)]}


@kind()
def batches_and_moments(n):
    labelled = [{"outputs": [i], "batch": f"{i}"} for i in range(n)]
    return {"tensors": tensors(2 * n), "ops": labelled + [{"outputs": [n + i], "inputs": [i]} for i in range(n)]}


@kind()
def batches_between(n):
    """Each batch has an op at every other moment."""
    return {"tensors": tensors(1), "ops": [{"inputs": [0], "batch": f"{i % 700}"} if i % 2 else {} for i in range(n)]}


@kind()
def batches_of_views(n):
    return {"tensors": [{"size": 8}] + [{"size": 8, "view_of": {"tensor": 0}} for _ in range(n)], "ops": [{"outputs": [i + 1], "batch": f"{i}"} for i in range(n)] + [{"inputs": [0]}]}


# Bodies

@kind()
def nested_loops(n):
    """Loops nested 20 deep, and the innermost has as many ops as fit."""
    body = {"tensors": tensors(2), "ops": [{"inputs": [0], "outputs": [1]}] + [{"inputs": [0]} for _ in range(n)], "inputs": [[0, 0]], "carried": [[1, 0]], "outputs": [[1, 1]]}
    for _ in range(20):
        body = {"tensors": tensors(2), "ops": [{"control": "loop", "inputs": [0], "outputs": [1], "bodies": [body]}], "inputs": [[0, 0]], "carried": [[1, 0]], "outputs": [[1, 1]]}
    return {"tensors": tensors(2), "ops": body["ops"]}


@kind()
def rows_of_nested_loops(n):
    def loop(depth):
        ops = [loop(depth - 1) if depth else {"inputs": [0], "outputs": [1]}]
        body = {"tensors": tensors(2), "ops": ops, "inputs": [[0, 0]], "carried": [[1, 0]], "outputs": [[1, 1]]}
        return {"control": "loop", "inputs": [0], "outputs": [1], "bodies": [body]}

    rows = []
    for i in range(n):
        row = loop(20)
        row["inputs"], row["outputs"] = [i], [i + 1]
        row["bodies"][0]["inputs"], row["bodies"][0]["outputs"] = [[i, 0]], [[1, i + 1]]
        rows.append(row)
    return {"tensors": tensors(n + 1), "ops": rows}


@kind()
def rows_of_loops(n):
    body = lambda i: {"tensors": tensors(2), "ops": [{"inputs": [0], "outputs": [1]}], "inputs": [[i, 0]], "carried": [[1, 0]], "outputs": [[1, i + 1]]}
    return {"tensors": tensors(n + 1), "ops": [{"control": "loop", "inputs": [i], "outputs": [i + 1], "bodies": [body(i)]} for i in range(n)]}


@kind()
def tree_of_loops(n):
    """A loop in a loop, twelve deep, and two loops one after another in each."""
    def ops(depth):
        if depth == 0:
            return [{"inputs": [0], "outputs": [1]}, {"inputs": [1], "outputs": [2]}] + [{"inputs": [2]}] * n
        row = []
        for i in range(2):
            body = {"tensors": tensors(3), "ops": ops(depth - 1), "inputs": [[i, 0]], "carried": [[2, 0]], "outputs": [[2, i + 1]]}
            row.append({"control": "loop", "inputs": [i], "outputs": [i + 1], "bodies": [body]})
        return row

    return {"tensors": tensors(3), "ops": ops(10)}


@kind()
def loops_read_outside(n):
    """Each loop reads all values of the root."""
    body = {"tensors": tensors(n), "ops": [{"inputs": list(range(n))}], "inputs": [[i, i] for i in range(n)]}
    return {"tensors": tensors(n), "ops": [{"outputs": list(range(n))}] + [{"control": "loop", "inputs": list(range(n)), "bodies": [body]} for _ in range(max(1, n // 20))]}


@kind()
def carried(n):
    body = {"tensors": tensors(2 * n), "ops": [{"inputs": list(range(n)), "outputs": list(range(n, 2 * n))}], "inputs": [[i, i] for i in range(n)],
            "carried": [[n + i, i] for i in range(n)], "outputs": [[n + i, n + i] for i in range(n)]}
    return {"tensors": tensors(2 * n), "ops": [{"outputs": list(range(n))}, {"control": "loop", "inputs": list(range(n)), "outputs": list(range(n, 2 * n)), "bodies": [body]}]}


@kind()
def branches(n):
    body = {"tensors": tensors(2), "ops": [{"inputs": [0], "outputs": [1]}], "inputs": [[0, 0]], "outputs": [[1, 1]]}
    return {"tensors": tensors(2), "ops": [{"control": "branch", "inputs": [0], "outputs": [1], "bodies": [body] * n}]}


@kind()
def empty_bodies(n):
    return {"ops": [{"control": "branch", "bodies": [{}] * n}]}


@kind()
def memories_and_bodies(n):
    return {"memories": [{}] * n, "ops": [{"control": "branch", "bodies": [{}] * n}]}


@kind()
def streams_and_bodies(n):
    """Bodies with streams of their own, on as many streams as there may be."""
    return {"ops": [{"stream": i % 1000, "control": "call", "bodies": [{"ops": [{"stream": (i + 1) % 1000}]}]} for i in range(n)]}


@kind()
def streams_inside_bodies(n):
    return {"ops": [{"control": "branch", "bodies": [{"ops": [{"stream": i % 1000}]} for i in range(n)]}]}


# Streams

@kind()
def streams(n):
    return {"tensors": tensors(n), "ops": [{"stream": i % 1024, "inputs": [i - 1] if i else [], "outputs": [i]} for i in range(n)]}


@kind()
def streams_by_turns(n):
    """700 streams, and each op reads what ops of others wrote."""
    ops = [{"stream": i * 7919 % 700, "inputs": [j for j in (i - 1, i - 13) if j >= 0], "outputs": [i]} for i in range(n)]
    return {"tensors": tensors(n, 16), "ops": ops}


@kind()
def batches_on_streams(n):
    return {"tensors": tensors(n, 16), "ops": [{"stream": i % 100, "batch": f"{i % 300}", "outputs": [i]} for i in range(n)]}


@kind()
def two_streams_apart(n):
    """Two streams that nothing orders: each value of one may meet each of the other."""
    return {"tensors": tensors(n, 16), "ops": [{"stream": i % 2, "inputs": [i - 2] if i > 1 else [], "outputs": [i]} for i in range(n)]}


@kind()
def after_all(n):
    return {"ops": [{"stream": i % 1024, "after": list(range(i))} for i in range(n)]}


@kind()
def after_one(n):
    return {"ops": [{"stream": 1}, {"after": [0] * n}]}


@kind()
def variable_on_streams(n):
    ops = [{"stream": i % 100, "inputs": [0], "outputs": [0], **({"after": [i - 1]} if i else {})} for i in range(n)]
    return {"tensors": tensors(1, flags=["variable"]), "ops": ops}


# Groups

@kind()
def tree_of_concats(n):
    leaves = 1 << max(0, n.bit_length() - 1)
    sizes, ops = [], []

    def whole(count):
        if count == 1:
            sizes.append(8)
            ops.append({"outputs": [len(sizes) - 1]})
            return len(sizes) - 1
        parts = [whole(count // 2), whole(count - count // 2)]
        sizes.append(8 * count)
        ops.append({"inputs": parts, "outputs": [len(sizes) - 1], "contiguous_inputs": "packed"})
        return len(sizes) - 1

    whole(max(1, n) if leaves else 1)
    return {"tensors": [{"size": size} for size in sizes], "ops": ops}


@kind()
def chain_of_concats(n):
    """Each concat appends one value to the one before."""
    sizes, ops = [8], [{"outputs": [0]}]
    for i in range(n):
        sizes += [8, 8 * (i + 2)]
        ops += [{"outputs": [2 * i + 1]}, {"inputs": [2 * i, 2 * i + 1], "outputs": [2 * i + 2], "contiguous_inputs": "packed"}]
    return {"tensors": [{"size": size} for size in sizes], "ops": ops}


@kind()
def chain_of_splits(n):
    sizes, ops = [8 * n + 8], [{"outputs": [0]}]
    for i in range(n):
        sizes += [8, 8 * (n - i)]
        ops.append({"inputs": [2 * i], "outputs": [2 * i + 1, 2 * i + 2], "contiguous_outputs": "packed"})
    return {"tensors": [{"size": size} for size in sizes], "ops": ops + [{"inputs": [0]}]}


@kind()
def groups_of_pairs(n):
    """A chain of padded groups: (0, 1), (1, 2), …"""
    return {"tensors": tensors(n + 1, 8), "ops": [{"outputs": [i]} for i in range(n + 1)] + [{"inputs": [i, i + 1], "contiguous_inputs": "padded"} for i in range(n)]}


@kind()
def groups_in_two_orders(n):
    """Many padded groups with the same two members, in turns in either order."""
    return {"tensors": tensors(2, 8), "ops": [{"outputs": [0]}, {"outputs": [1]}] + [{"inputs": [i % 2, 1 - i % 2], "contiguous_inputs": "padded"} for i in range(n)]}


@kind()
def one_large_group(n):
    return {"tensors": tensors(n, 8), "ops": [{"outputs": [i]} for i in range(n)] + [{"inputs": list(range(n)), "contiguous_inputs": "padded"}]}


@kind()
def groups_that_conflict(n):
    """As many groups as each has members, each in another order."""
    rows = [random.Random(i).sample(range(n), n) for i in range(n)]
    return {"tensors": tensors(n, 8), "ops": [{"outputs": list(range(n))}] + [{"inputs": row, "contiguous_inputs": "padded"} for row in rows]}


@kind()
def concat_of_aliases(n):
    ops = [{"outputs": [0]}] + [{"inputs": [0], "outputs": [i + 1], "alias": [[0, 0, 0]]} for i in range(n)]
    return {"tensors": tensors(n + 1, 8) + [{"size": 8 * n}], "ops": ops + [{"inputs": list(range(1, n + 1)), "outputs": [n + 1], "contiguous_inputs": "packed"}]}


# Memory

@kind()
def regions(n):
    return {"memories": [{"max_size": 8}], "tensors": tensors(n, 8, flags=["input"]), "ops": [{"inputs": [i]} for i in range(n)]}


@kind()
def regions_of_random_items(n):
    draw = random.Random(1)
    ops = [{"outputs": [i], **({"inputs": [draw.randrange(i)]} if i else {})} for i in range(n)]
    return {"memories": [{"max_size": 100}], "tensors": [{"size": draw.randint(1, 60)} for _ in range(n)], "ops": ops}


@kind()
def memories(n):
    return {"memories": [{"alignment": 64}] * n, "tensors": [{"size": 8, "memory": i} for i in range(n)], "ops": [{"outputs": list(range(n))}]}


@kind()
def user_buffers(n):
    flags = ["input", "zero_copy", "reusable"]
    ops = [{"inputs": [i], "outputs": [n + i]} for i in range(n)] + [{"inputs": [n + i]} for i in range(n)]
    return {"tensors": tensors(n, 8, flags=flags) + tensors(n, 8), "ops": ops}


@kind()
def workspaces(n):
    return {"ops": [{"workspaces": [{"size": 1 + i % 9} for i in range(n)]}]}


@kind()
def session_workspaces(n):
    return {"ops": [{"workspaces": [{"size": 1 + i % 9, "scope": "session"}]} for i in range(n)]}


@kind()
def fills(n):
    return {"tensors": tensors(n, 8), "ops": [{"outputs": [i], "zero_fill": {"outputs": [0], "value": i % 256}} for i in range(n)]}


@kind()
def constants(n):
    return {"tensors": tensors(n, 8, flags=["constant"]), "ops": [{"inputs": list(range(n))}]}


@kind()
def no_reuse(n):
    return {"tensors": tensors(n, 8, flags=["no_reuse"]), "ops": [{"outputs": [i]} for i in range(n)]}


@kind()
def ring(n):
    ops = []
    for i in range(n):
        ops += [{"outputs": [i], "prefetch": {"pool": 0}, "stream": 1}, {"inputs": [i]}]
    return {"pools": [{"name": "p", "size": 64}], "tensors": tensors(n, 24), "ops": ops}


@kind()
def wide_ring(n):
    """A ring that holds everything once, and tensors of 1 byte that wrap around over large ones."""
    ops = [{"outputs": [i], "prefetch": {"pool": 0}, "stream": 1 + i % 50} for i in range(n)] + [{"inputs": list(range(n))}]
    return {"pools": [{"name": "p", "size": n}], "tensors": tensors(n, 1), "ops": ops}


@kind()
def rings(n):
    return {"pools": [{"name": f"{i}", "size": 8} for i in range(n)], "tensors": tensors(n, 8), "ops": [{"outputs": [i], "prefetch": {"pool": i}} for i in range(n)]}


@kind()
def apart_pairs(n):
    """All pairs of the first tensors."""
    count = max(2, int((2 * n) ** 0.5))
    pairs = [[i, j] for i in range(count) for j in range(i)]
    return {"tensors": tensors(count, 8), "ops": [{"outputs": [i]} for i in range(count)], "apart": pairs}


@kind()
def apart_chain(n):
    return {"tensors": tensors(n, 8), "ops": [{"outputs": [i]} for i in range(n)], "apart": [[i, i + 1] for i in range(n - 1)]}


# Packing

@kind()
def all_alive(n):
    draw = random.Random(2)
    return {"tensors": [{"size": draw.randint(1, 2**40)} for _ in range(n)], "ops": [{"outputs": list(range(n))}, {"inputs": list(range(n))}]}


@kind()
def random_lives(n):
    draw = random.Random(3)
    ops = [{"outputs": [i], **({"inputs": [draw.randrange(i), draw.randrange(i)]} if i else {})} for i in range(n)]
    return {"tensors": [{"size": draw.randint(1, 2**30)} for _ in range(n)], "ops": ops}


@kind()
def random_alignments(n):
    draw = random.Random(4)
    ops = [{"outputs": [i], **({"inputs": [draw.randrange(i)]} if i else {})} for i in range(n)]
    return {"tensors": [{"size": draw.randint(1, 999), "alignment": 1 << draw.randrange(30)} for _ in range(n)], "ops": ops}


@kind()
def nested_lives(n):
    return {"tensors": tensors(n, 8), "ops": [{"outputs": [i]} for i in range(n)] + [{"inputs": [i]} for i in reversed(range(n))]}


@kind()
def empty_ops(n):
    return '{"schema":"stowage.graph/1","ops":[' + ",".join(["{}"] * n) + "]}"


@kind()
def empty_tensors(n):
    return {"tensors": [{"size": 0}] * n}


@kind()
def huge_alignment(n):
    return {"tensors": [{"size": 1, "alignment": 2**40}] * n, "ops": [{"outputs": list(range(n))}, {"inputs": list(range(n))}]}


# Text

@kind()
def long_name(n):
    return {"name": "x" * n, "tensors": tensors(2), "ops": chain(2)}


@kind()
def long_name_of_many(n):
    """The half of the file is one name, of a tensor that all ops access."""
    return {"tensors": [{"name": "ä" * (n * 4), "size": 8}] + tensors(n), "ops": [{"inputs": [0], "outputs": [i + 1]} for i in range(n)]}


@kind()
def same_names(n):
    return {"tensors": [{"name": "x", "size": 8}] * n, "ops": [{"name": "y", "outputs": [i]} for i in range(n)]}


@kind()
def long_shape(n):
    return {"tensors": [{"size": 1, "shape": [1] * n}], "ops": [{"outputs": [0]}]}


@kind()
def kinds_and_scopes(n):
    ops = [{"outputs": [i], "kind": f"k{i}", "scope": ".".join(["a"] * (i % 50)) + f"/{i}"} for i in range(n)]
    return {"tensors": tensors(n, 8), "ops": ops + [{"inputs": list(range(n))}]}


@kind()
def deep_lists(n):
    return "[" * n


@kind()
def deep_objects(n):
    return '{"a":' * n


@kind()
def unknown_fields(n):
    return "{" + ",".join(f'"a{i}":{i}' for i in range(n)) + "}"


@kind()
def escapes(n):
    return '{"schema":"stowage.graph/1","name":"' + "\\u00e4" * n + '"}'


@kind()
def long_number(n):
    return '{"schema":"stowage.graph/1","tensors":[{"size":' + "1" * n + "}]}"


@kind(packed=True)
def bomb_of_spaces(n):
    return " " * (n * 1000)


def bomb(open_list, element, close):
    """A list as long as unpacking allows: with names that do not compress, every so many bytes."""

    def make(n):
        draw = random.Random(8)
        parts = [element * (300 // len(element)) + '{"name":"%x"},' % draw.getrandbits(64) for _ in range(n)]
        return open_list + "".join(parts) + close

    return make


@kind(packed=True)
def bomb_of_lists(n):
    return bomb('{"schema":"stowage.graph/1","ops":[', "[],", "{}]}")(n)


@kind(packed=True)
def bomb_of_ops(n):
    return bomb('{"schema":"stowage.graph/1","ops":[', "{},", "{}]}")(n)


@kind(packed=True)
def bomb_of_tensors(n):
    return bomb('{"schema":"stowage.graph/1","tensors":[', '{"size":8},', '{"size":8}]}')(n).replace('"},', '","size":8},')


# Tables

def table(rows, columns="id,lower,upper,size"):
    return columns + "\n" + "".join(",".join(map(str, row)) + "\n" for row in rows)


@kind(".csv")
def rows_alive(n):
    return table((i, 0, 9, 1 + i * 7919 % 1000) for i in range(n))


@kind(".csv")
def rows_random(n):
    draw = random.Random(5)
    starts = [draw.randrange(n) for _ in range(n)]
    return table((i, start, start + draw.randint(1, n), draw.randint(1, 2**20)) for i, start in enumerate(starts))


@kind(".csv")
def many_gaps(n):
    gaps = " ".join(f"{2 * i + 1}-{2 * i + 2}" for i in range(n))
    return table([(0, 0, 2 * n + 2, 8, gaps)] + [(i + 1, 2 * i + 1, 2 * i + 2, 4, "") for i in range(n // 3)], "id,lower,upper,size,gaps")


@kind(".csv")
def rows_with_gaps(n):
    draw = random.Random(6)
    rows = []
    for i in range(n):
        start = draw.randrange(10 * n)
        gaps = " ".join(f"{start + 20 * k + 3}-{start + 20 * k + 13}@0:{draw.randint(1, 9)}" for k in range(8))
        rows.append((i, start, start + 200, draw.randint(10, 99), gaps))
    return table(rows, "id,lower,upper,size,gaps")


@kind(".csv")
def rows_apart(n):
    others = " ".join(str(i) for i in range(1, n))
    return table([(0, 0, 1, 8, others)] + [(i, i, i + 1, 8, "") for i in range(1, n)], "id,lower,upper,size,apart")


@kind(".csv")
def pinned_rows(n):
    return table(((i, i % 100, i % 100 + 1, 8, 8 * (i // 100)) for i in range(n)), "id,lower,upper,size,offset")


# ONNX

def graph_value(number, name, dims=(16,)):
    return field(number, value(name, list(dims)))


@kind(".onnx")
def onnx_many_outputs(n):
    return model(graph_value(11, "x", [n]), node("Split", ["x"], [f"{i}" for i in range(n)], integer_attribute("num_outputs", n)), graph_value(12, "0", [1]))


@kind(".onnx")
def onnx_same_value_info(n):
    return model(graph_value(11, "x"), *[graph_value(13, "a") for _ in range(n)], node("Neg", ["x"], ["a"]), graph_value(12, "a"))


@kind(".onnx")
def onnx_value_infos(n):
    return model(graph_value(11, "x"), *[graph_value(13, f"{i}") for i in range(n)], node("Neg", ["x"], ["a"]), graph_value(12, "a"))


def called(function, calls):
    return model(graph_value(11, "x"), *calls, graph_value(12, "y")) + field(25, field(1, "F") + field(10, "my") + function + field(9, field(1, "") + field(2, 20)))


def function_call(inputs, output):
    return field(1, b"".join(field(1, name) for name in inputs) + field(2, output) + field(4, "F") + field(7, "my"))


@kind(".onnx")
def onnx_function_inputs(n):
    """A function of many inputs, called as often as fits."""
    body = b"".join(field(4, f"{i}") for i in range(20 * n)) + field(5, "b") + field(7, field(1, "0") + field(2, "b") + field(4, "Neg"))
    return called(body, [function_call(["x"], f"c{i}") for i in range(20 * n)] + [function_call(["x"], "y")])


@kind(".onnx")
def onnx_function_value_infos(n):
    infos = b"".join(field(12, value(f"v{i}", [16])) for i in range(n))
    body = field(4, "a") + field(5, "b") + field(7, field(1, "a") + field(2, "b") + field(4, "Neg")) + infos
    return called(body, [function_call(["x"], f"c{i}") for i in range(n)] + [function_call(["x"], "y")])


@kind(".onnx")
def onnx_function_nodes(n):
    nodes = b"".join(field(7, field(1, "a") + field(2, f"n{i}") + field(4, "Neg")) for i in range(n))
    body = field(4, "a") + field(5, "b") + nodes + field(7, field(1, "a") + field(2, "b") + field(4, "Neg"))
    return called(body, [function_call(["x"], f"c{i}") for i in range(n)] + [function_call(["x"], "y")])


@kind(".onnx")
def onnx_functions_of_functions(n):
    """Each function calls the one before twice."""
    functions = b""
    for i in range(min(n, 60)):
        if i == 0:
            nodes = field(7, field(1, "a") + field(2, "b") + field(4, "Neg"))
        else:
            nodes = (field(7, field(1, "a") + field(2, "m") + field(4, f"F{i - 1}") + field(7, "my"))
                     + field(7, field(1, "m") + field(2, "b") + field(4, f"F{i - 1}") + field(7, "my")))
        functions += field(25, field(1, f"F{i}") + field(10, "my") + field(4, "a") + field(5, "b") + nodes + field(9, field(1, "") + field(2, 20)))
    call_last = field(1, field(1, "x") + field(2, "y") + field(4, f"F{min(n, 60) - 1}") + field(7, "my"))
    return model(graph_value(11, "x"), call_last, graph_value(12, "y")) + functions + field(6, " " * 1000 * n)


@kind(".onnx")
def onnx_unsorted(n):
    nodes = [node("Neg", [f"{i + 1}"], [f"{i}"]) for i in range(n)]
    return model(graph_value(11, f"{n}"), *nodes, graph_value(12, "0"))


@kind(".onnx")
def onnx_reshapes(n):
    nodes = [node("Identity", [f"{i}"], [f"{i + 1}"]) for i in range(n)]
    return model(graph_value(11, "0"), *nodes, graph_value(12, f"{n}"))


@kind(".onnx")
def onnx_long_shape(n):
    return model(graph_value(11, "x", [1] * n), node("Neg", ["x"], ["a"]), node("Relu", ["a"], ["y"]), graph_value(12, "y", [1] * n))


# Traces

def trace(rows):
    return table(rows, "op,id,size,stream")


@kind(".trace.csv")
def trace_sizes(n):
    draw = random.Random(7)
    rows = []
    for i in range(n):
        rows.append(("a", i, draw.randint(1, 2**22), 0))
    for i in range(0, n, 2):
        rows.append(("f", i, rows[i][2], 0))
    return trace(rows)


@kind(".trace.csv")
def trace_streams(n):
    rows = []
    for i in range(n):
        rows += [("a", i, 512 * (1 + i % 64), i), ("f", i, 512 * (1 + i % 64), i)]
    return trace(rows)


@kind(".trace.csv")
def trace_freed_elsewhere(n):
    rows = []
    for i in range(n):
        rows += [("a", i, 2**20, i % 300), ("f", i, 2**20, i * 7 % 300)]
    return trace(rows)


@kind(".trace.csv")
def trace_growing(n):
    rows = []
    for i in range(n):
        rows += [("a", i, (i + 1) * 2**21, 0), ("f", i, (i + 1) * 2**21, 0)]
    return trace(rows)


@kind(".trace.csv")
def trace_holes(n):
    """Every other allocation is freed, then ever larger ones ask for what the holes make together."""
    rows = [("a", i, 2**21, 0) for i in range(n)] + [("f", i, 2**21, 0) for i in range(0, n, 2)]
    return trace(rows + [("a", n + i, 2**21 * (2 + i % 50), 0) for i in range(n // 4)])


@kind(".trace.csv")
def trace_huge(n):
    return trace(("a", i, 2**44 + i, 0) for i in range(n))


# Just within the limits

@kind()
def within_batches(n):
    """As many batches as the limit allows, with ops between them that all of them run."""
    count = max(2, min(n, 4000))
    batches = max(1, 2**23 // (3 * count) - 2)
    return {"tensors": tensors(count), "ops": [{"outputs": [i], "batch": f"{i % batches}"} if i % 2 else {"outputs": [i]} for i in range(count)]}


@kind()
def within_streams(n):
    count = min(n, 16000)
    ops = [{"stream": i % 1000, "inputs": [j for j in (i - 1, i - 1001) if j >= 0], "outputs": [i]} for i in range(count)]
    return {"name": "x" * (n - count), "tensors": tensors(count, 16), "ops": ops}


@kind()
def within_branch(n):
    body = {"tensors": tensors(2), "ops": [{"inputs": [0], "outputs": [1]}], "inputs": [[0, 0]], "outputs": [[1, 1]]}
    count = min(n, 3300)
    return {"name": "x" * (n - count), "tensors": tensors(2), "ops": [{"control": "branch", "inputs": [0], "outputs": [1], "bodies": [body] * count}]}


@kind()
def within_buffers(n):
    count = min(n, 1400)
    flags = ["input", "zero_copy", "reusable"]
    ops = [{"inputs": [i], "outputs": [count + i]} for i in range(count)] + [{"inputs": [count + i]} for i in range(count)]
    return {"name": "x" * (n - count), "tensors": [{"size": 8 + i, "flags": flags} for i in range(count)] + tensors(count, 8), "ops": ops}


@kind()
def within_nesting(n):
    """Chains of 120 packed concats."""
    sizes, ops = [], []
    for i in range(n):
        if i % 120 == 0:
            sizes.append(8)
            ops.append({"outputs": [len(sizes) - 1]})
        whole = len(sizes) - 1
        sizes += [8, sizes[whole] + 8]
        ops += [{"outputs": [whole + 1]}, {"inputs": [whole, whole + 1], "outputs": [whole + 2], "contiguous_inputs": "packed"}]
    return {"tensors": [{"size": size} for size in sizes], "ops": ops}


@kind(packed=True)
def within_objects(n):
    """As many ops as the limit allows, packed."""
    return '{"schema":"stowage.graph/1","ops":[' + "{}," * min(n, 11 * 2**16 - 2) + "{}]}"


@kind(packed=True)
def within_objects_of_tensors(n):
    """Half a million tensors, all alive, packed."""
    count = min(n, 2**19)
    return ('{"schema":"stowage.graph/1","tensors":[' + '{"size":8},' * count + '{"size":8}],"ops":[{"outputs":['
            + ",".join(str(i) for i in range(count)) + "]}]}")


@kind(".trace.csv")
def within_streams_of_a_trace(n):
    rows = []
    for i in range(n):
        rows += [("a", i, 512 * (1 + i % 64), i % 1024), ("f", i, 512 * (1 + i % 64), i % 1024)]
    return trace(rows)


@kind(".trace.csv")
def trace_refused(n):
    """Requests that no device serves, again and again."""
    rows = []
    for i in range(n):
        rows += [("a", i, 2**45, 0), ("f", i, 2**45, 0)]
    return trace(rows)


@kind(".trace.csv")
def trace_large(n):
    """Large requests that are served, each larger than what was freed before."""
    rows = []
    for i in range(n):
        rows += [("a", i, 2**40 + i * 2**21, 0), ("f", i, 2**40 + i * 2**21, 0)]
    return trace(rows)


def write(folder, names, size):
    """Writes the kinds and returns their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for name in names or KINDS:
        suffix, make = KINDS[name]
        path = folder / (name + suffix)
        path.write_bytes(make(size))
        paths.append(path)
    return paths


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--size", type=int, default=10**6)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("kinds", nargs="*", choices=[[], *KINDS], metavar="KIND")
    arguments = parser.parse_args()
    for path in write(arguments.folder, arguments.kinds, arguments.size):
        print(f"{path} {path.stat().st_size}")
