"""ONNX models byte by byte: fields of protobuf messages, for tests and seeds that need no package."""

FLOAT, INT64, BOOL = 1, 7, 9


def varint(value):
    value &= 2**64 - 1
    text = b""
    while value > 127:
        text += bytes([value & 127 | 128])
        value >>= 7
    return text + bytes([value])


def field(number, value):
    """A number as a varint, text or bytes with their length."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    content = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(content)) + content


def shape(dims):
    return b"".join(field(1, field(2 if isinstance(dim, str) else 1, dim)) for dim in dims)


def value(name, dims, dtype=FLOAT):
    return field(1, name) + field(2, field(1, field(1, dtype) + field(2, shape(dims))))


def node(kind, inputs, outputs, attributes=b""):
    names = b"".join(field(1, name) for name in inputs) + b"".join(field(2, name) for name in outputs)
    return field(1, names + field(3, f"the {kind}") + field(4, kind) + attributes)


def tensor(name, dims, dtype=FLOAT, data=b""):
    return field(5, b"".join(field(1, dim) for dim in dims) + field(2, dtype) + field(8, name) + data)


def graph_attribute(name, *graph):
    return field(5, field(1, name) + field(6, b"".join(graph)) + field(20, 5))


def integer_attribute(name, number):
    return field(5, field(1, name) + field(3, number) + field(20, 2))


def model(*graph):
    return field(1, 10) + field(7, field(2, "net") + b"".join(graph)) + field(8, field(1, "") + field(2, 20))
