"""Random small ONNX models for shapes_test.py: a generator for each family of operators.

Each generator takes a `Draft` and adds nodes to it; it knows the types and ranks that its operators want, not the shapes that come
out. Whether a model is valid at all is decided by whoever runs it.
"""

import random

import numpy as np
from onnx import TensorProto, helper, numpy_helper

FLOAT, INT64, BOOL, INT32, UINT8, INT8 = (
    TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL, TensorProto.INT32, TensorProto.UINT8, TensorProto.INT8)


class Draft:
    """A model of one or a few nodes in the making."""

    def __init__(self, rng: random.Random, opset: int):
        self.rng, self.opset = rng, opset
        self.nodes, self.inputs, self.constants, self.count = [], [], [], 0

    def name(self, stem="v"):
        self.count += 1
        return f"{stem}{self.count}"

    def input(self, dims, dtype=FLOAT):
        name = self.name("x")
        self.inputs.append(helper.make_tensor_value_info(name, dtype, dims))
        return name

    def constant(self, values, dtype=np.int64):
        """An initializer, or the output of a Constant node."""
        name, array = self.name("c"), np.asarray(values, dtype=dtype)
        if self.rng.random() < 0.3:
            self.nodes.append(helper.make_node("Constant", [], [name], value=numpy_helper.from_array(array)))
        else:
            self.constants.append(numpy_helper.from_array(array, name))
        return name

    def node(self, kind, inputs, outputs=1, domain="", **attributes):
        names = [self.name("y") for _ in range(outputs)]
        while inputs and inputs[-1] == "":
            inputs = inputs[:-1]
        self.nodes.append(helper.make_node(kind, inputs, names, domain=domain, **attributes))
        return names[0] if outputs == 1 else names

    def dims(self, low=1, high=4, sizes=(1, 2, 3, 4, 5)):
        return [self.rng.choice(sizes) for _ in range(self.rng.randint(low, high))]

    def axis(self, rank):
        return self.rng.randint(-rank, rank - 1)

    def axes(self, rank, low=0):
        chosen = self.rng.sample(range(rank), self.rng.randint(low, rank))
        return [a - rank if self.rng.random() < 0.3 else a for a in chosen]

    def maybe(self, **attributes):
        """Some of these attributes."""
        return {k: v for k, v in attributes.items() if self.rng.random() < 0.6}

    def model(self):
        made = {n for node in self.nodes for n in node.output if n}
        outputs = [helper.make_empty_tensor_value_info(n) for n in sorted(made)]
        graph = helper.make_graph(self.nodes, "g", self.inputs, outputs, self.constants)
        imports = [helper.make_opsetid("", self.opset), helper.make_opsetid("com.microsoft", 1), helper.make_opsetid("ai.onnx.ml", 3)]
        return helper.make_model(graph, opset_imports=imports, ir_version=min(11, max(6, self.opset - 5)))


def broadcastable(d, dims):
    """Dims that go with `dims`: some ones, some left out in front."""
    other = [1 if d.rng.random() < 0.3 else n for n in dims]
    return other[d.rng.randint(0, len(other)):] if d.rng.random() < 0.4 else other


def elementwise(d):
    kinds = ["Abs", "Ceil", "Exp", "Floor", "Identity", "Neg", "Relu", "Sigmoid", "Tanh", "Sqrt", "Softmax", "LogSoftmax", "Elu",
             "Selu", "LeakyRelu", "HardSigmoid", "Softplus", "Softsign", "Erf", "Sign", "Reciprocal", "Cos", "Round", "Clip"]
    kinds += ["HardSwish"] if d.opset >= 14 else []
    kinds += ["Mish"] if d.opset >= 18 else []
    kinds += ["Gelu"] if d.opset >= 20 else []
    d.node(d.rng.choice(kinds), [d.input(d.dims())])
    d.node(d.rng.choice(["IsNaN", "IsInf"]), [d.input(d.dims())])
    d.node("Dropout", [d.input(d.dims())], d.rng.randint(1, 2))
    if d.opset >= 14:
        d.node("Trilu", [d.input(d.dims(2))])
    d.node("CumSum", [d.input([2, 3]), d.constant(0)])


def broadcasting(d):
    dims = d.dims(0, 4)
    a, b = d.input(broadcastable(d, dims)), d.input(broadcastable(d, dims))
    d.node(d.rng.choice(["Add", "Sub", "Mul", "Div", "Pow"]), [a, b])
    flag = d.node(d.rng.choice(["Equal", "Less", "Greater"]), [a, b])
    both = d.node(d.rng.choice(["And", "Or", "Xor"]), [flag, d.node("Not", [flag])])
    d.node("Where", [both, a, d.input(broadcastable(d, dims))])
    d.node(d.rng.choice(["Max", "Min", "Sum", "Mean"]), [d.input(broadcastable(d, dims)) for _ in range(d.rng.randint(1, 3))])
    d.node("PRelu", [d.input(dims + [3]), d.input([3])])


def reduction(d):
    dims = d.dims()
    kind = d.rng.choice(["Sum", "Mean", "Max", "Min", "Prod", "L1", "L2", "LogSum", "LogSumExp", "SumSquare"])
    axes, extra = d.axes(len(dims)), d.maybe(keepdims=d.rng.randint(0, 1))
    by_input = d.opset >= (13 if kind == "Sum" else 18)
    if by_input:
        extra |= d.maybe(noop_with_empty_axes=d.rng.randint(0, 1))
        d.node("Reduce" + kind, [d.input(dims)] + ([d.constant(axes)] if d.rng.random() < 0.8 else []), **extra)
    else:
        d.node("Reduce" + kind, [d.input(dims)], **(extra | ({"axes": axes} if axes else {})))
    dims = d.dims()
    d.node(d.rng.choice(["ArgMax", "ArgMin"]), [d.input(dims)], **d.maybe(axis=d.axis(len(dims)), keepdims=d.rng.randint(0, 1)))
    axis = d.axis(len(dims))
    d.node("TopK", [d.input(dims), d.constant([d.rng.randint(0, dims[axis])])], 2, axis=axis)


def convolution(d):
    axes, groups = d.rng.choice([(1, 1), (2, 1), (2, 2), (3, 1)])
    kernel = [d.rng.randint(1, 3) for _ in range(axes)]
    image = [d.rng.randint(1, 2), 2 * groups] + [d.rng.randint(4, 9) for _ in range(axes)]
    window = d.maybe(kernel_shape=kernel, strides=[d.rng.randint(1, 3) for _ in range(axes)],
                     dilations=[d.rng.randint(1, 2) for _ in range(axes)])
    if d.rng.random() < 0.5:
        window["pads"] = [d.rng.randint(0, 2) for _ in range(2 * axes)]
    elif d.rng.random() < 0.7:
        window["auto_pad"] = d.rng.choice(["SAME_UPPER", "SAME_LOWER", "VALID", "NOTSET"])
    if groups > 1:
        window["group"] = groups
    d.node("Conv", [d.input(image), d.input([4, 2] + kernel)], **window)
    if d.rng.random() < 0.5:
        window |= d.maybe(output_padding=[d.rng.randint(0, s - 1) for s in window.get("strides", [1] * axes)])
        d.node("ConvTranspose", [d.input(image), d.input([2 * groups, 3] + kernel)], **window)
    else:
        x, w = d.input(image, UINT8), d.input([4, 2] + kernel, UINT8)
        d.node("ConvInteger", [x, w], **window)
        one, zero = d.constant(0.5, np.float32), d.constant(3, np.uint8)
        d.node("QLinearConv", [x, one, zero, w, one, zero, one, zero], **window)


def pooling(d):
    axes = d.rng.randint(1, 3)
    kernel = [d.rng.randint(1, 4) for _ in range(axes)]
    image = [d.rng.randint(1, 2), 3] + [d.rng.randint(7, 9) for _ in range(axes)]  # or runtimes pool less than there is
    kind = d.rng.choice(["MaxPool", "AveragePool", "LpPool"])
    window = d.maybe(strides=[d.rng.randint(1, 3) for _ in range(axes)])
    if d.rng.random() < 0.5:
        window["pads"] = [d.rng.randint(0, k - 1) for k in kernel * 2]
    elif d.rng.random() < 0.5:
        window["auto_pad"] = d.rng.choice(["SAME_UPPER", "SAME_LOWER", "VALID"])
    if kind == "MaxPool" or d.opset >= {"AveragePool": 19, "LpPool": 18}[kind]:
        holes = 1 if window.get("auto_pad", "").startswith("SAME") else 2  # with which runtimes and the standard pad differently
        window |= d.maybe(ceil_mode=d.rng.randint(0, 1), dilations=[d.rng.randint(1, holes) for _ in range(axes)])
    d.node(kind, [d.input(image)], d.rng.randint(1, 2) if kind == "MaxPool" else 1, kernel_shape=kernel, **window)
    d.node(d.rng.choice(["GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool"]), [d.input(image)])


def image(d):
    rank = d.rng.randint(1, 4)
    dims = [d.rng.randint(1, 6) for _ in range(rank)]
    x = d.input(dims)
    chosen = {"mode": "nearest"}
    axes = list(range(rank))
    if d.opset >= 18 and d.rng.random() < 0.5:
        axes = d.axes(rank, 1)
        chosen["axes"] = axes
    if d.rng.random() < 0.5:
        scales = [d.rng.choice([0.5, 0.6, 1.0, 1.5, 2.0, 1.7, 2.3]) for _ in axes]
        d.node("Resize", [x, "", d.constant(scales, np.float32)] + ([""] if d.rng.random() < 0.5 else []), **chosen)
    else:
        if d.opset >= 18 and d.rng.random() < 0.6:
            chosen["keep_aspect_ratio_policy"] = d.rng.choice(["stretch", "not_larger", "not_smaller"])
            if "axes" in chosen:  # runtimes leave negative ones as they are here
                chosen["axes"] = axes = [a % rank for a in axes]
        d.node("Resize", [x, "", "", d.constant([d.rng.randint(1, 9) for _ in axes])], **chosen)
    block = d.rng.randint(1, 3)
    d.node("SpaceToDepth", [d.input([1, 2, 2 * block, 3 * block])], blocksize=block)
    d.node("DepthToSpace", [d.input([1, 2 * block * block, 2, 3])], blocksize=block)
    if d.opset >= 16:
        d.node("GridSample", [d.input([2, 3, 4, 5]), d.input([2, d.rng.randint(1, 5), d.rng.randint(1, 5), 2])])
    d.node("RoiAlign", [d.input([2, 3, 8, 8]), d.input([d.rng.randint(1, 4), 4]), d.constant([0])],
           **d.maybe(output_height=3, output_width=2))
    if d.opset >= 18:
        d.node("Col2Im", [d.input([1, 2 * 4, 9]), d.constant([6, 6]), d.constant([2, 2])], strides=[2, 2])
        d.node("CenterCropPad", [d.input([4, 6, 3]), d.constant([5, 5])], axes=[0, 1])
    if d.opset >= 20:
        d.node("AffineGrid", [d.input([2, 2, 3]), d.constant([2, 1, 5, 4])])


def product(d):
    batch, (m, k, n) = d.dims(0, 2), [d.rng.randint(1, 5) for _ in range(3)]
    shape = d.rng.choice(["matrices", "row", "column", "vectors"])
    a = [k] if shape in ("row", "vectors") else broadcastable(d, batch) + [m, k]
    b = [k] if shape in ("column", "vectors") else broadcastable(d, batch) + [k, n]
    d.node("MatMul", [d.input(a), d.input(b)])
    d.node("MatMulInteger", [d.input([m, k], UINT8), d.input([k, n], UINT8)])
    ta, tb = d.rng.randint(0, 1), d.rng.randint(0, 1)
    c = [d.input(d.rng.choice([[n], [m, n], [1], [1, n]]))] if d.rng.random() < 0.7 else []
    d.node("Gemm", [d.input([k, m] if ta else [m, k]), d.input([n, k] if tb else [k, n])] + c, transA=ta, transB=tb)
    if d.opset >= 12:
        equation, shapes = d.rng.choice([
            ("bij,bjk->bik", [[2, 3, 4], [2, 4, 5]]), ("...ij->...ji", [[2, 3, 4]]), ("ii->i", [[3, 3]]), ("ij,jk", [[2, 3], [3, 4]]),
            ("i,j->ij", [[2], [3]]), ("bhqd,bhkd->bhqk", [[1, 2, 3, 4], [1, 2, 5, 4]]), ("ij->", [[2, 3]]), ("...i,...i->...", [[2, 3], [2, 3]])])
        d.node("Einsum", [d.input(s) for s in shapes], equation=equation)
    one, zero = d.constant(0.5, np.float32), d.constant(3, np.uint8)
    d.node("QLinearMatMul", [d.input([m, k], UINT8), one, zero, d.input([k, n], UINT8), one, zero, one, zero])
    d.node("Det", [d.input(batch + [k, k])])


def view(d):
    dims = d.dims(1, 4)
    x, rank, size = d.input(dims), len(dims), int(np.prod(dims))
    target = d.rng.choice([[-1], [1, -1], [size], [-1, 1, 1], [0, -1], dims[::-1], [0] * rank])
    d.node("Reshape", [x, d.constant(target)])
    d.node("Flatten", [x], **d.maybe(axis=d.rng.randint(-rank, rank)))
    d.node("Transpose", [x], **d.maybe(perm=d.rng.sample(range(rank), rank)))
    ones = [i for i, n in enumerate(dims) if n == 1]
    new = d.rng.sample(range(-rank - 2, rank + 2), 2)
    if (new[0] - new[1]) % (rank + 2) == 0:
        new = [0, -1]
    if d.opset < 13:
        d.node("Squeeze", [x], **(d.maybe(axes=ones) if ones else {}))
        d.node("Unsqueeze", [x], axes=new)
    else:
        d.node("Squeeze", [x] + ([d.constant(ones)] if ones and d.rng.random() < 0.5 else []))
        d.node("Unsqueeze", [x, d.constant(new)])
    d.node("Expand", [x, d.constant(d.dims(0, 1) + [n if n > 1 else d.rng.randint(1, 3) for n in dims])])
    d.node("Tile", [x, d.constant([d.rng.randint(0, 3) for _ in dims])])
    ends = d.maybe(start=d.rng.randint(-6, 6), end=d.rng.randint(-6, 6)) if d.opset >= 15 else {}
    d.node("Shape", [x], **ends)
    d.node("Size", [x])


def slicing(d):
    dims = d.dims(1, 4, (1, 3, 5, 7))
    x, rank = d.input(dims), len(dims)
    axes = d.axes(rank, 1)
    limits = lambda: [d.rng.choice([-100, -9, -3, -1, 0, 1, 2, 5, 9, 2**63 - 1, -2**63]) for _ in axes]
    steps = [d.rng.choice([1, 1, 2, 3, -1, -2, 100, -100]) for _ in axes]
    kind = d.rng.choice([np.int64, np.int64, np.int32])
    numbers = lambda values: d.constant(np.clip(values, np.iinfo(kind).min, np.iinfo(kind).max), kind)
    ends = limits()
    if 2**63 - 1 in ends:  # backwards, runtimes take that to mean something else than the standard does
        steps = [abs(step) for step in steps]
    d.node("Slice", [x, numbers(limits()), numbers(ends), numbers(axes)] + ([numbers(steps)] if d.rng.random() < 0.7 else []))
    axis = d.axis(rank)
    parts = d.rng.randint(1, 3)
    y = d.input([parts * 2 if i == axis % rank else n for i, n in enumerate(dims)])
    sizes = [2] * (parts - 1) + [2]
    if d.opset < 13:
        d.node("Split", [y], max(parts, 1), axis=axis, **d.maybe(split=sizes))
    elif d.rng.random() < 0.5 or d.opset < 18:
        d.node("Split", [y, d.constant(sizes)], parts, axis=axis)
    else:
        d.node("Split", [d.input([parts * 2 + d.rng.randint(0, 1)])], parts, axis=0, num_outputs=parts)
    joined = [d.input([d.rng.randint(0, 3) if i == axis % rank else n for i, n in enumerate(dims)]) for _ in range(d.rng.randint(1, 3))]
    d.node("Concat", joined, axis=axis)
    some = d.axes(rank, 1)
    if d.opset >= 18 and d.rng.random() < 0.5:
        d.node("Pad", [x, d.constant([d.rng.randint(-1, 2) for _ in some * 2]), "", d.constant(some)])
    else:
        d.node("Pad", [x, d.constant([d.rng.randint(-1, 2) for _ in dims * 2])])


def gathering(d):
    dims = d.dims(1, 4)
    x, rank = d.input(dims), len(dims)
    d.node("Gather", [x, d.constant(np.zeros(d.dims(0, 2)))], **d.maybe(axis=d.axis(rank)))
    index = d.constant(np.zeros([d.rng.randint(1, n) for n in dims]))
    axis = d.axis(rank)
    d.node("GatherElements", [x, index], axis=axis)
    batch = d.rng.randint(0, rank - 1) if d.opset >= 12 else 0
    depth = d.rng.randint(1, rank - batch)
    d.node("GatherND", [x, d.constant(np.zeros(dims[:batch] + d.dims(0, 2) + [depth]))], **({"batch_dims": batch} if batch else {}))
    d.node("ScatterND", [x, d.constant([[0]]), d.input([1] + dims[1:])])
    d.node("ScatterElements", [x, index, d.node("GatherElements", [x, index], axis=axis)], axis=axis)
    flags = d.rng.choices([True, False], k=dims[0])
    d.node("Compress", [x, d.constant(flags, np.bool_)], axis=0)


def generating(d):
    dims = d.dims(0, 3, (0, 1, 2, 3))
    value = {"value": numpy_helper.from_array(np.array([7], d.rng.choice([np.int64, np.float32, np.bool_])))}
    d.node("ConstantOfShape", [d.constant(dims)], **(value if d.rng.random() < 0.6 else {}))
    if d.rng.random() < 0.5:
        d.node("Range", [d.constant(v) for v in (d.rng.randint(-5, 5), d.rng.randint(-5, 20), d.rng.choice([-2, -1, 1, 3]))])
    else:
        d.node("Range", [d.constant(v, np.float32) for v in (d.rng.uniform(-2, 2), d.rng.uniform(-2, 5), d.rng.choice([-0.5, 0.3, 0.1]))])
    d.node("EyeLike", [d.input(d.dims(2, 2))], **d.maybe(dtype=INT64))
    x = d.constant(np.zeros(d.dims(0, 3)))
    d.node("OneHot", [x, d.constant(d.rng.randint(1, 5), d.rng.choice([np.int64, np.float32])), d.constant([0, 1], np.float32)])
    d.node("RandomNormal", [], shape=d.dims())
    d.node("RandomUniformLike", [d.input(d.dims())])
    d.node("NonZero", [d.constant(np.array([[1, 0, 2], [0, 3, 0]]))])


def normalizing(d):
    dims = [2, 4] + d.dims(1, 2)
    x = d.input(dims)
    d.node("BatchNormalization", [x] + [d.input([4]) for _ in range(4)])
    d.node("InstanceNormalization", [x, d.input([4]), d.input([4])])
    d.node("LRN", [d.input([1, 4, 3, 3])], size=3)
    d.node("LpNormalization", [x], axis=d.axis(len(dims)))
    if d.opset >= 17:
        axis = d.axis(len(dims))
        d.node("LayerNormalization", [x, d.input(dims[axis:] if axis < 0 else dims[axis:])], d.rng.choice([1, 3]), axis=axis)
    if d.opset >= 21:
        d.node("GroupNormalization", [x, d.input([4]), d.input([4])], num_groups=2)


def quantizing(d):
    x = d.input(d.dims())
    y = d.node("Cast", [x], to=d.rng.choice([INT64, INT32, BOOL, TensorProto.FLOAT16, TensorProto.DOUBLE, UINT8]))
    if d.opset >= 15:
        d.node("CastLike", [x, y])
    zero = d.constant(3, d.rng.choice([np.uint8, np.int8]))
    one = d.constant(0.5, np.float32)
    q = d.node("QuantizeLinear", [x, one] + ([zero] if d.rng.random() < 0.7 else []))
    d.node("DequantizeLinear", [q, one])
    d.node("DynamicQuantizeLinear", [x], 3)


def recurring(d):
    kind, gates = d.rng.choice([("LSTM", 4), ("GRU", 3), ("RNN", 1)])
    hidden, features, steps, batch = [d.rng.randint(1, 4) for _ in range(4)]
    direction = d.rng.choice(["forward", "reverse", "bidirectional"])
    ways = 2 if direction == "bidirectional" else 1
    d.node(kind, [d.input([steps, batch, features]), d.input([ways, gates * hidden, features]), d.input([ways, gates * hidden, hidden])],
           d.rng.randint(2, 3) if kind == "LSTM" else 2, hidden_size=hidden, direction=direction)


def signals(d):
    if d.opset < 17:
        return
    n = d.rng.randint(4, 9)
    x = d.input([2, n, 1])
    extra = d.maybe(onesided=d.rng.randint(0, 1))
    d.node("DFT", [x, d.constant(d.rng.randint(3, 9))] if d.rng.random() < 0.5 else [x], **extra)
    frame = d.rng.randint(2, 4)
    d.node("STFT", [d.input([1, 16, 1]), d.constant(d.rng.randint(1, 4)), d.input([frame])])
    d.node(d.rng.choice(["HannWindow", "HammingWindow", "BlackmanWindow"]), [d.constant(d.rng.randint(2, 9))])


def shape_arithmetic(d):
    """Shapes that are computed from shapes, as exporters of dynamic models write it."""
    dims = d.dims(3, 4, (2, 3, 4, 6))
    x = d.input(dims)
    shape = d.node("Shape", [x])
    pick = lambda i: d.node("Gather", [shape, d.constant(i if d.rng.random() < 0.5 else [i])], axis=0)
    flat = lambda v: d.node("Reshape", [v, d.constant([-1])])
    a, b = flat(pick(0)), flat(pick(1))
    rest = d.node("Slice", [shape, d.constant([2]), d.constant([2**63 - 1]), d.constant([0])])
    both = d.node("Mul", [a, b])
    joined = d.node("Concat", [both, rest], axis=0)
    d.node("Reshape", [x, joined])
    d.node("Expand", [d.input([1]), d.node("Concat", [d.node(d.rng.choice(["Add", "Max", "Min"]), [a, b]), rest], axis=0)])
    filled = d.node("ConstantOfShape", [d.node("Shape", [shape])], value=numpy_helper.from_array(np.array([-1])))
    which = d.node("Equal", [shape, filled])
    d.node("Expand", [x, d.node("Where", [which, d.node("ConstantOfShape", [d.node("Shape", [shape])],
                                                       value=numpy_helper.from_array(np.array([1]))), shape])])
    scale = d.node("Mul", [d.node("Cast", [rest], to=FLOAT), d.constant([d.rng.choice([0.5, 1.5, 2.0])], np.float32)])
    grown = d.node("Cast", [d.node(d.rng.choice(["Floor", "Ceil"]), [scale])], to=INT64)
    d.node("Resize", [x, "", "", d.node("Concat", [a, b, grown], axis=0)], mode="nearest")
    d.node("Range", [d.constant(0), d.node("Squeeze", [a]), d.constant(1)])
    total = d.node("ReduceProd", [shape], keepdims=d.rng.randint(0, 1))
    d.node("ConstantOfShape", [flat(d.node("Div", [total, d.node("Size", [x])]))])
    halves = d.node("Div", [b, d.constant([d.rng.choice([2, -3, 4])])])
    d.node("Slice", [x, halves, d.constant([100]), d.constant([1])])
    rest_of = d.node("Mod", [d.node("Neg", [a]), d.constant([d.rng.choice([3, -4, 5])])])
    d.node("ConstantOfShape", [d.node("Abs", [rest_of])])
    d.node("Tile", [x, d.node("Concat", [d.node("Sub", [a, d.constant([1])]), d.constant([1] * (len(dims) - 1))], axis=0)])


def control(d):
    info = helper.make_tensor_value_info
    x = d.input([2, 3])
    kind = d.rng.choice(["If", "Loop", "Scan"])
    if kind == "If":
        then = helper.make_graph([helper.make_node("Relu", [x], ["then_y"])], "then", [], [helper.make_empty_tensor_value_info("then_y")])
        other = helper.make_graph([helper.make_node("Neg", [x], ["else_y"])], "else", [], [helper.make_empty_tensor_value_info("else_y")])
        d.node("If", [d.input([], BOOL)], then_branch=then, else_branch=other)
    elif kind == "Loop":
        body = helper.make_graph(
            [helper.make_node("Identity", ["go"], ["go_on"]), helper.make_node("Add", ["state", x], ["next"]),
             helper.make_node("Transpose", ["next"], ["row"])],
            "body", [info("turn", INT64, []), info("go", BOOL, []), helper.make_tensor_value_info("state", FLOAT, None)],
            [info("go_on", BOOL, None), info("next", FLOAT, None), info("row", FLOAT, None)])
        d.node("Loop", [d.constant(d.rng.randint(1, 4)), d.constant(True, np.bool_) if d.rng.random() < 0.5 else "", x], 2, body=body)
    else:
        steps = d.rng.randint(1, 4)
        body = helper.make_graph(
            [helper.make_node("Add", ["state", "slice"], ["next"]), helper.make_node("Exp", ["next"], ["row"])],
            "body", [info("state", FLOAT, None), info("slice", FLOAT, None)], [info("next", FLOAT, None), info("row", FLOAT, None)])
        axis = d.rng.randint(0, 2)
        dims = [2, 3]
        dims.insert(axis, steps)
        d.node("Scan", [x, d.input(dims)], 2, body=body, num_scan_inputs=1, scan_input_axes=[axis], scan_output_axes=[d.rng.randint(0, 2)])


def contributed(d):
    """Operators of com.microsoft, which only onnxruntime knows."""
    m = "com.microsoft"
    x, w, b = d.input([2, 3, 8]), d.input([8]), d.input([8])
    d.node("SkipLayerNormalization", [x, d.input([2, 3, 8]), w, b], domain=m)
    d.node(d.rng.choice(["Gelu", "QuickGelu"]), [x], domain=m)
    d.node("BiasGelu", [x, b], domain=m)
    d.node("FastGelu", [x, b], domain=m)
    d.node("FusedMatMul", [x, d.input([2, 8, 5]) if d.rng.random() < 0.5 else d.input([8, 5])], domain=m, alpha=0.5)
    d.node("FusedMatMul", [x, d.input([5, 8])], domain=m, transB=1)
    d.node("MultiHeadAttention", [x, d.input([2, 4, 8]), d.input([2, 4, 8])], domain=m, num_heads=2)
    d.node("Attention", [x, d.input([8, 24]), d.input([24])], domain=m, num_heads=2)
    d.node("Attention", [x, d.input([8, 24]), d.input([24])], 2, domain=m, num_heads=2, unidirectional=1)
    d.node("Attention", [x, d.input([8, 24]), d.input([24]), "", d.input([2, 2, 2, 5, 4])], 2, domain=m, num_heads=2, unidirectional=1)
    past = [d.input([2, 2, 5, 4]) for _ in range(2)] if d.rng.random() < 0.5 else []
    d.node("MultiHeadAttention", [x, d.input([2, 3, 8]), d.input([2, 3, 8]), "", "", "", *past], 3, domain=m, num_heads=2)


def learned(d):
    """Classical machine learning, ai.onnx.ml."""
    ml = "ai.onnx.ml"
    x = d.input([d.rng.randint(1, 5), 3])
    d.node("ArrayFeatureExtractor", [x, d.constant([0, 2])], domain=ml)
    d.node("Binarizer", [x], domain=ml, threshold=0.5)
    d.node("FeatureVectorizer", [x, x], domain=ml, inputdimensions=[3, 3])
    d.node("Imputer", [x], domain=ml, imputed_value_floats=[1.0], replaced_value_float=0.0)
    d.node("LabelEncoder", [x], domain=ml, keys_floats=[1.0], values_int64s=[3])
    d.node("LinearRegressor", [x], domain=ml, coefficients=[1.0] * 6, intercepts=[0.0] * 2, targets=2)
    classes = d.rng.choice([2, 3])
    d.node("LinearClassifier", [x], 2, domain=ml, coefficients=[1.0] * 3 * classes, intercepts=[0.0] * classes, classlabels_ints=list(range(classes)))
    d.node("Normalizer", [x], domain=ml, norm="L2")
    d.node("OneHotEncoder", [x], domain=ml, cats_int64s=[0, 1, 2, 3], zeros=1)
    d.node("Scaler", [x], domain=ml, offset=[0.0], scale=[2.0])
    d.node("SVMRegressor", [x], domain=ml, coefficients=[1.0], kernel_type="LINEAR", kernel_params=[0.5, 0.0, 3.0], n_supports=1, rho=[0.0], support_vectors=[1.0] * 3)
    tree = {"nodes_treeids": [0] * 3, "nodes_nodeids": [0, 1, 2], "nodes_featureids": [1, 0, 0], "nodes_modes": ["BRANCH_LEQ", "LEAF", "LEAF"],
            "nodes_values": [0.5, 0.0, 0.0], "nodes_truenodeids": [1, 0, 0], "nodes_falsenodeids": [2, 0, 0]}
    d.node("TreeEnsembleRegressor", [x], domain=ml, n_targets=2, target_treeids=[0, 0], target_nodeids=[1, 2], target_ids=[0, 1], target_weights=[1.0, 2.0], **tree)
    d.node("TreeEnsembleClassifier", [x], 2, domain=ml, classlabels_int64s=list(range(3)), class_treeids=[0, 0], class_nodeids=[1, 2],
           class_ids=[0, 2], class_weights=[1.0, 2.0], **tree)
    d.node("TfIdfVectorizer", [d.input([d.rng.randint(1, 3), 6], INT64)], mode="TF", min_gram_length=2, max_gram_length=2, max_skip_count=0,
           ngram_counts=[0, 4], ngram_indexes=[0, 1, 2, 3, 4, 5, 6], pool_int64s=[2, 3, 5, 4, 5, 6, 7, 8, 6, 7])


def attending(d):
    d.opset = 23
    batch, heads, groups, steps, keys, size, width = 2, 4, d.rng.choice([1, 2, 4]), 3, 5, 8, d.rng.choice([8, 6])
    past = [d.input([batch, groups, 2, n]) for n in (size, width)] if d.rng.random() < 0.5 else []
    if d.rng.random() < 0.5:
        q, k, v = [batch, heads, steps, size], [batch, groups, keys, size], [batch, groups, keys, width]
        counts = {}
    else:
        q, k, v = [batch, steps, heads * size], [batch, keys, groups * size], [batch, keys, groups * width]
        counts = {"q_num_heads": heads, "kv_num_heads": groups}
    inputs = [d.input(q), d.input(k), d.input(v)] + (["", *past] if past else [])
    d.node("Attention", inputs, d.rng.choice([3, 4]) if past else 1, **counts)
    d.node("RMSNormalization", [d.input([2, 3, 8]), d.input([8])])
    d.node("RotaryEmbedding", [d.input([2, 4, 3, 8]), d.input([10, 4]), d.input([10, 4]), d.constant(np.zeros([2, 3]))])


FAMILIES = [attending, elementwise, broadcasting, reduction, convolution, pooling, image, product, view, slicing, gathering, generating,
            normalizing, quantizing, recurring, signals, shape_arithmetic, control, contributed, learned]
