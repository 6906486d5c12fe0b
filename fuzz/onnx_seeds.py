#!/usr/bin/env python3
"""Writes the seeds of fuzz_onnx: the smallest models that reach each part of the importer.

Usage: fuzz/onnx_seeds.py
"""

import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tests" / "cli"))
from onnx_bytes import BOOL, FLOAT, INT64, field, graph_attribute, integer_attribute, model, node, tensor, value  # noqa: E402


def given(name, dims, dtype=FLOAT):
    return field(11, value(name, dims, dtype))


def result(name, dims, dtype=FLOAT):
    return field(12, value(name, dims, dtype))


def between(name, dims, dtype=FLOAT):
    return field(13, value(name, dims, dtype))


def element_wise():
    return model(given("x", [4, 8]), tensor("w", [8], FLOAT, field(4, bytes(32))), node("Add", ["x", "w"], ["a"]), between("a", [4, 8]),
                 node("Clip", ["a", "", "w"], ["y"]), result("y", [4, 8]))


def views():
    numbers = tensor("s", [1], INT64, field(7, b"\x01")) + tensor("e", [1], INT64, field(9, bytes([3] + [0] * 7)))
    values = [between(name, dims) for name, dims in (("a", [4, 16]), ("b", [64]), ("c", [2, 16]), ("d", [1, 16]), ("f", [1, 16]), ("g", [1, 16]))]
    return model(given("x", [4, 16]), numbers, *values, node("Exp", ["x"], ["a"]), node("Reshape", ["a", "s"], ["b"]),
                 node("Slice", ["a", "s", "e"], ["c"]), node("Split", ["c"], ["d", "f"]), node("Gather", ["a", "s"], ["g"], integer_attribute("axis", 0)),
                 node("Add", ["d", "f"], ["y"]), result("y", [1, 16]), result("b", [64]), result("g", [1, 16]))


def branch():
    branches = graph_attribute("then_branch", node("Neg", ["x"], ["t"]), result("t", [16])) + graph_attribute("else_branch", result("x", [16]))
    return model(given("x", [16]), given("c", [], BOOL), node("If", ["c"], ["y"], branches), result("y", [16]))


def loop():
    body = graph_attribute("body", given("i", [], INT64), given("go", [], BOOL), given("v", [16]), node("Add", ["v", "x"], ["w"]),
                           node("Identity", ["go"], ["on"]), result("on", [], BOOL), result("w", [16]), result("v", [16]))
    return model(given("n", [], INT64), given("x", [16]), node("Loop", ["n", "", "x"], ["y", "ys"], body), result("y", [16]), result("ys", [3, 16]))


def scan():
    body = graph_attribute("body", given("h", [16]), given("e", [16]), node("Add", ["h", "e"], ["g"]), result("g", [16]), result("e", [16]))
    attributes = body + integer_attribute("num_scan_inputs", 1)
    return model(given("h", [16]), given("xs", [3, 16]), node("Scan", ["h", "xs"], ["y", "ys"], attributes), result("y", [16]), result("ys", [3, 16]))


def function():
    inner = field(7, field(1, "a") + field(2, "t") + field(4, "Neg")) + field(7, field(1, "t") + field(2, "b") + field(4, "Relu"))
    declared = field(12, value("t", [16]))
    body = field(1, "F") + field(10, "my") + field(4, "a") + field(5, "b") + inner + field(9, field(1, "") + field(2, 20)) + declared
    call = field(1, field(1, "x") + field(2, "y") + field(4, "F") + field(7, "my"))
    return model(given("x", [16]), call, result("y", [16])) + field(25, body)


def types():
    names = [(f"t{dtype}", dtype) for dtype in (1, 9, 10, 16, 17, 21, 22, 23, 26, 27)]
    return model(given("x", [3, 3]), *(node("Cast", ["x"], [name]) + result(name, [3, 3], dtype) for name, dtype in names))


def symbolic():
    return model(given("x", ["batch", 8]), node("Relu", ["x"], ["y"]), result("y", ["batch", 8]))


if __name__ == "__main__":
    folder = HERE / "corpus" / "fuzz_onnx"
    folder.mkdir(parents=True, exist_ok=True)
    for make in (element_wise, views, branch, loop, scan, function, types, symbolic):
        (folder / f"{make.__name__}.onnx").write_bytes(make())
