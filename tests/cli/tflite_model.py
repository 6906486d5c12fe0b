"""Small TFLite models without any library: a flatbuffer writer, and models to test with.

Usage: tflite_model.py FOLDER    writes the models there, as seeds for the fuzzer
"""

import pathlib
import struct
import sys

F32, I32, BOOL, I8 = 0, 2, 6, 9
ADD, RESHAPE, LESS, NEG, IF, WHILE = 0, 22, 58, 59, 118, 119
IF_OPTIONS, WHILE_OPTIONS = 92, 93


class Writer:
    """Parents come before their children, since references point forward."""

    def __init__(self):
        self.bytes = bytearray()

    def pad(self, alignment, ahead=0):
        self.bytes += bytes(-(len(self.bytes) + ahead) % alignment)

    def reference(self, at, write):
        """Writes a child and lets the reference at `at` point to it."""
        position = write(self)
        struct.pack_into("<I", self.bytes, at, position - at)

    def table(self, fields):
        """`fields`: id -> (format of a scalar, value), or a function that writes the child."""
        sizes = {id: 4 if callable(value) else struct.calcsize(value[0]) for id, value in fields.items()}
        count = max(fields, default=-1) + 1
        inline, at = 4, {}
        for id in sorted(fields, key=lambda id: -sizes[id]):
            inline += -inline % sizes[id]
            at[id] = inline
            inline += sizes[id]
        self.pad(8, 4 + 2 * count)
        vtable = len(self.bytes)
        self.bytes += struct.pack(f"<HH{count}H", 4 + 2 * count, inline, *(at.get(id, 0) for id in range(count)))
        table = len(self.bytes)
        self.bytes += struct.pack("<i", table - vtable) + bytes(inline - 4)
        for id, value in fields.items():
            if not callable(value):
                struct.pack_into("<" + value[0], self.bytes, table + at[id], value[1])
        for id, value in fields.items():
            if callable(value):
                self.reference(table + at[id], value)
        return table


def table(fields):
    return lambda writer: writer.table(fields)


def text(value):
    def write(writer):
        writer.pad(4)
        position = len(writer.bytes)
        writer.bytes += struct.pack("<I", len(value)) + value.encode() + b"\0"
        return position
    return write


def data(content):
    def write(writer):
        writer.pad(16, 4)
        position = len(writer.bytes)
        writer.bytes += struct.pack("<I", len(content)) + content
        return position
    return write


def numbers(values):
    def write(writer):
        writer.pad(4)
        position = len(writer.bytes)
        writer.bytes += struct.pack(f"<I{len(values)}i", len(values), *values)
        return position
    return write


def tables(children):
    def write(writer):
        writer.pad(4)
        position = len(writer.bytes)
        writer.bytes += struct.pack("<I", len(children)) + bytes(4 * len(children))
        for i, child in enumerate(children):
            writer.reference(position + 4 + 4 * i, child)
        return position
    return write


def tensor(name, shape, type=F32, buffer=0, variable=False):
    return table({0: numbers(shape), 1: ("b", type), 2: ("I", buffer), 3: text(name), 5: ("B", variable), 8: ("B", 1)})


def operator(code, inputs, outputs, options=None):
    """`options`: (type, the two subgraphs)."""
    fields = {0: ("I", code), 1: numbers(inputs), 2: numbers(outputs)}
    if options:
        fields |= {3: ("B", options[0]), 4: table({0: ("i", options[1][0]), 1: ("i", options[1][1])})}
    return table(fields)


def subgraph(tensors, inputs, outputs, operators):
    return table({0: tables(tensors), 1: numbers(inputs), 2: numbers(outputs), 3: tables(operators)})


def model(codes, subgraphs, constants=(), metadata=()):
    """Operators name positions in `codes`; buffer 0 has no data, 1… are the constants, then those of the metadata (name, bytes)."""
    buffers = [table({})] + [table({0: data(content)}) for content in [*constants, *(content for _, content in metadata)]]
    entries = [table({0: text(name), 1: ("I", 1 + len(constants) + i)}) for i, (name, _) in enumerate(metadata)]
    root = {0: ("I", 3), 1: tables([table({0: ("b", min(code, 127)), 2: ("i", 1), 3: ("i", code)}) for code in codes]),
            2: tables(subgraphs), 3: text("written by hand"), 4: tables(buffers)}
    if entries:
        root[6] = tables(entries)
    writer = Writer()
    writer.bytes += bytes(4) + b"TFL3"
    writer.reference(0, table(root))
    return bytes(writer.bytes)


def chain(metadata=()):
    """x -> RESHAPE y -> NEG z -> ADD with itself: 64 bytes each."""
    return model([RESHAPE, NEG, ADD],
                 [subgraph([tensor("x", [16]), tensor("y", [4, 4]), tensor("z", [4, 4]), tensor("out", [4, 4]), tensor("shape", [2], I32, 1)],
                           [0], [3], [operator(0, [0, 4], [1]), operator(1, [1], [2]), operator(2, [2, 2], [3])])],
                 [struct.pack("<2i", 4, 4)], metadata)


def loop():
    """Doubles x ten times, with a counter; the condition reads the counter only."""
    counter = lambda name, buffer=0: tensor(name, [], I32, buffer)
    return model([WHILE, LESS, ADD, NEG], [
        subgraph([counter("i", 1), tensor("x", [64]), tensor("start", [64]), counter("n"), tensor("y", [64]), tensor("out", [64])], [1], [5],
                 [operator(3, [1], [2]), operator(0, [0, 2], [3, 4], (WHILE_OPTIONS, (1, 2))), operator(3, [4], [5])]),
        subgraph([counter("i"), tensor("v", [64]), counter("limit", 2), tensor("again", [], BOOL)], [0, 1], [3], [operator(1, [0, 2], [3])]),
        subgraph([counter("i"), tensor("v", [64]), counter("one", 3), counter("next"), tensor("w", [64])], [0, 1], [3, 4],
                 [operator(2, [1, 1], [4]), operator(2, [0, 2], [3])])],
        [struct.pack("<i", value) for value in (0, 10, 1)])


def branch():
    """Negates or doubles x, by a flag; the first branch gets a constant too."""
    flag = tensor("flag", [1], BOOL)
    return model([IF, NEG, ADD], [
        subgraph([flag, tensor("x", [64]), tensor("k", [64], F32, 1), tensor("y", [64]), tensor("out", [64])], [0, 1], [4],
                 [operator(0, [0, 1, 2], [3], (IF_OPTIONS, (1, 2))), operator(1, [3], [4])]),
        subgraph([tensor("a", [64]), tensor("b", [64]), tensor("t", [64]), tensor("r", [64])], [0, 1], [3],
                 [operator(1, [0], [2]), operator(2, [2, 1], [3])]),
        subgraph([tensor("a", [64]), tensor("b", [64]), tensor("r", [64])], [0, 1], [2], [operator(2, [0, 0], [2])])],
        [struct.pack("<64f", *range(64))])


MODELS = {"chain": chain, "loop": loop, "branch": branch}


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    for name, make in MODELS.items():
        (pathlib.Path(sys.argv[1]) / f"{name}.tflite").write_bytes(make())
    with_plan = chain(metadata=[("OfflineMemoryAllocation", struct.pack("<8i", 1, 1, 5, 0, 0, 0, 0, -1))])
    (pathlib.Path(sys.argv[1]) / "planned.tflite").write_bytes(with_plan)
