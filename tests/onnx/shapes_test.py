#!/usr/bin/env python3
"""Compares shape inference with PyPI's onnx and onnxruntime as oracles, on random small models.

  shapes_test.py FACTS_BINARY [--models N] [--seed N]

Every model is written without any type but its inputs'. What onnxruntime computes says the true types and shapes; where it does not
run a model, onnx.shape_inference may say them. A value that runs must be inferred, and inferred right. Exit code 77 (and a loud
line) when the packages are missing: nothing was tested.
"""

import argparse
import collections
import random
import subprocess
import sys
import tempfile
import pathlib

try:
    import numpy as np
    import onnx
    import onnxruntime
except ImportError as missing:
    print(f"** NOT TESTED: {missing}. Shape inference was not compared with onnx and onnxruntime (pip install onnx onnxruntime).")
    sys.exit(77)

import shape_models


def feed_of(model, rng):
    feed = {}
    for value in model.graph.input:
        dims = [d.dim_value for d in value.type.tensor_type.shape.dim]
        dtype = onnx.helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type)
        feed[value.name] = rng.uniform(0, 2, dims).astype(dtype)
    return feed


def part_of(model, output):
    """The model of one output only: the nodes it needs."""
    needed, nodes = {output}, []
    for node in reversed(model.graph.node):
        if needed & set(node.output):
            nodes.insert(0, node)
            needed |= set(node.input) | {v.name for v in model.graph.input}
    part = onnx.ModelProto()
    part.CopyFrom(model)
    del part.graph.node[:], part.graph.output[:]
    part.graph.node.extend(nodes)
    part.graph.output.add().name = output
    return part


def run(model, feed):
    """What onnxruntime makes of each output: (type, dims) by name; None when it does not take the model."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    try:
        session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        names = [o.name for o in session.get_outputs()]
        values = session.run(names, feed)
    except Exception:  # the packages have exceptions of many kinds; all mean that there is no answer
        return None
    return {n: (v.dtype.name, list(v.shape)) for n, v in zip(names, values)}


def run_parts(model, feed):
    """The same, one output at a time where some do not run."""
    whole = run(model, feed)
    if whole is not None:
        return whole
    result = {}
    for output in model.graph.output:
        result |= run(part_of(model, output.name), feed) or {}
    return result


def inferred_by_onnx(model):
    """(type, dims) of what onnx.shape_inference knows completely."""
    try:
        inferred = onnx.shape_inference.infer_shapes(model, data_prop=True)
    except Exception:
        return {}
    result = {}
    for value in list(inferred.graph.value_info) + list(inferred.graph.output):
        tensor = value.type.tensor_type
        if tensor.elem_type and tensor.HasField("shape") and all(d.HasField("dim_value") for d in tensor.shape.dim):
            name = onnx.helper.tensor_dtype_to_np_dtype(tensor.elem_type).name
            result[value.name] = (name, [d.dim_value for d in tensor.shape.dim])
    return result


def read_facts(binary, folder, files):
    """(type, dims or None, reason) by file and value."""
    lines = subprocess.run([binary] + files, cwd=folder, capture_output=True, text=True).stdout.splitlines()
    facts = collections.defaultdict(dict)
    for line in lines:
        fields = line.split("\t")
        if fields[1] == "error":
            facts[fields[0]]["error"] = fields[2]
        elif fields[1] == "g":
            dims = None if fields[4] == "?" else [int(n) for n in fields[4][1:-1].split(", ") if n]
            facts[fields[0]][fields[2]] = (fields[3], dims, fields[6])
    return facts


def compare(file, model, facts, counts, faults):
    kinds = {output: node.op_type for node in model.graph.node for output in node.output}
    truth = run_parts(model, feed_of(model, np.random.default_rng(0)))
    hints = inferred_by_onnx(model)
    if "error" in facts:
        faults.append(f"{file}: {facts['error']}")
        return
    for name, kind in kinds.items():
        found, dims, reason = facts[name]
        expected = truth.get(name)
        counts["by onnxruntime" if expected else "by onnx only" if name in hints else "not runnable"] += 1
        if expected is None:
            if dims is not None and name in hints and (found, dims) != hints[name]:
                faults.append(f"{file}: {kind} {name}: {found} {dims}, onnx says {hints[name]}")
            continue
        if dims is None:
            faults.append(f"{file}: {kind} {name} not inferred, but is {expected}: {reason}")
        elif (found, dims) != expected:
            faults.append(f"{file}: {kind} {name}: {found} {dims}, but is {expected}")
        counts["kind " + kind] += 1


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary")
    parser.add_argument("--models", type=int, default=20, help="of each family")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", help="folder that the models stay in")
    options = parser.parse_args()
    binary = str(pathlib.Path(options.binary).resolve())
    counts, faults, models = collections.Counter(), [], {}
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(options.keep or temporary)
        for family in shape_models.FAMILIES:
            for i in range(options.models):
                rng = random.Random(f"{options.seed} {family.__name__} {i}")
                draft = shape_models.Draft(rng, rng.randint(11, 22))
                family(draft)
                file = f"{family.__name__}_{i}_opset{draft.opset}.onnx"
                models[file] = draft.model()
                onnx.save(models[file], folder / file)
        facts = read_facts(binary, folder, list(models))
        for file, model in models.items():
            compare(file, model, facts[file], counts, faults)
    kinds = sum(1 for key in counts if key.startswith("kind "))
    print(f"{len(models)} models, {kinds} kinds of operators, values: "
          + ", ".join(f"{counts[k]} {k}" for k in ("by onnxruntime", "by onnx only", "not runnable")))
    for fault in faults[:40]:
        print("FAULT", fault)
    print(f"{len(faults)} faults")
    sys.exit(1 if faults or counts["by onnxruntime"] < 10 * options.models else 0)


if __name__ == "__main__":
    main()
