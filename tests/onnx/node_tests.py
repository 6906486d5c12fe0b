#!/usr/bin/env python3
"""Compares shape inference with onnx's own, on the models of onnx's node tests; or writes these models.

  node_tests.py FACTS_BINARY     compares
  node_tests.py --write FOLDER   writes the models, for scripts/try_models.sh

Every model is written without the types of its outputs. What onnx.shape_inference says must be inferred, and inferred so; what is
inferred must be what the outputs in the test data are. Exit code 77 (and a loud line) when the package is missing: nothing was tested.
"""

import collections
import pathlib
import subprocess
import sys
import tempfile
import warnings

try:
    import numpy as np
    import onnx
except ImportError as missing:
    print(f"** NOT TESTED: {missing}. Shape inference was not compared on onnx's node tests (pip install onnx).")
    sys.exit(77)

# What onnx infers and we do not, on purpose. Each must still differ, or it has to go from this list.
NOT_INFERRED = {
    "test_dft_irfft_opset19": "runtimes follow another rule for inverse one-sided transforms before version 20",
    "test_optional_get_element_optional_tensor": "optional values are not planned",
    "test_scan_sum": "Scan of opset 8 is another operator",
}


def node_tests():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from onnx.backend.test.case.node import collect_testcases

        return {test.name: test for test in collect_testcases(None)}


def without_outputs(model):
    bare = onnx.ModelProto()
    bare.CopyFrom(model)
    for output in bare.graph.output:
        if output.type.HasField("tensor_type"):
            output.ClearField("type")
    return bare


def type_name(element_type):
    return onnx.TensorProto.DataType.Name(element_type).lower()


def inferred_by_onnx(model):
    """(type, dims) of the values that onnx.shape_inference knows completely."""
    try:
        inferred = onnx.shape_inference.infer_shapes(model, data_prop=True)
    except Exception:  # the package has exceptions of many kinds; all mean that there is no answer
        return {}
    result = {}
    for value in list(inferred.graph.value_info) + list(inferred.graph.output):
        tensor = value.type.tensor_type
        if tensor.elem_type and tensor.HasField("shape") and all(d.HasField("dim_value") for d in tensor.shape.dim):
            result[value.name] = (type_name(tensor.elem_type), [d.dim_value for d in tensor.shape.dim])
    return result


def computed(test):
    """The dims of outputs in the test's data; those that are no arrays are left out."""
    found = {}
    for _, outputs in test.data_sets or []:
        for info, value in zip(test.model.graph.output, outputs):
            if isinstance(value, (np.ndarray, np.generic)):
                found[info.name] = list(value.shape)
    return found


def read_facts(binary, folder, files):
    """(type, dims or None, reason) by file and value of the main graph."""
    text = subprocess.run([binary, *files], cwd=folder, capture_output=True, text=True, errors="replace").stdout
    facts = collections.defaultdict(dict)
    for line in text.splitlines():
        fields = line.split("\t")
        if fields[1] == "error":
            facts[fields[0]][""] = fields[2]
        elif len(fields) == 7:
            dims = None if fields[4] == "?" else [int(n) for n in fields[4][1:-1].split(", ") if n]
            facts[fields[0]].setdefault(fields[2], (fields[3], dims, fields[6]))
    return facts


def faults_of(test, facts, counts):
    if "" in facts:
        yield f"error: {facts['']}"
        return
    expected, data = inferred_by_onnx(without_outputs(test.model)), computed(test)
    for output in test.model.graph.output:
        if output.name not in facts or not output.type.HasField("tensor_type"):
            continue
        found, dims, reason = facts[output.name]
        counts["by onnx" if output.name in expected else "not by onnx"] += 1
        if dims is None:
            if output.name in expected:
                yield f"{output.name} not inferred, but is {expected[output.name]}: {reason}"
            continue
        if output.name in expected and dims != expected[output.name][1]:
            yield f"{output.name}: {found} {dims}, but onnx infers {expected[output.name]}"
        elif output.name in data and dims != data[output.name]:
            yield f"{output.name}: {dims}, but is {data[output.name]} in the data"
        else:
            counts["equal"] += 1


def write(tests, folder, change=lambda model: model):
    folder.mkdir(parents=True, exist_ok=True)
    for name, test in tests.items():
        (folder / f"{name}.onnx").write_bytes(change(test.model).SerializeToString())


def compare(binary, tests):
    counts, faults = collections.Counter(), collections.defaultdict(list)
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        write(tests, folder, without_outputs)
        facts = read_facts(binary, folder, [f"{name}.onnx" for name in tests])
        for name, test in tests.items():
            for fault in faults_of(test, facts[f"{name}.onnx"], counts):
                faults[name].append(fault)
    print(f"{len(tests)} node tests of onnx {onnx.__version__}, outputs: " + ", ".join(f"{n} {what}" for what, n in sorted(counts.items())))
    for name in NOT_INFERRED:
        if not faults.pop(name, None):
            faults[name].append("is inferred now: take it from the list")
    for name, found in faults.items():
        for fault in found:
            print("FAULT", name, fault)
    print(f"{len(faults)} tests with faults, {len(NOT_INFERRED)} known differences")
    return faults or not counts["equal"]


def main():
    if len(sys.argv) == 3 and sys.argv[1] == "--write":
        write(node_tests(), pathlib.Path(sys.argv[2]))
        return 0
    if len(sys.argv) != 2:
        print(__doc__)
        return 2
    return 1 if compare(str(pathlib.Path(sys.argv[1]).resolve()), node_tests()) else 0


if __name__ == "__main__":
    sys.exit(main())
