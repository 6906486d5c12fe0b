#include "io/onnx/shape/operators.hpp"

#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/onnx/shape_graph.hpp"

namespace stowage::io::onnx {
namespace {

using namespace testing;

constexpr std::int64_t kLowest = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kHighest = std::numeric_limits<std::int64_t>::max();

// One rule a family; the families' breadth is tests/onnx/shapes_test.py's matter.

TEST(OnnxElementwise, OutputsAreLikeInputs) {
  EXPECT_EQ(outputs_of(operation("Relu", {"x"}, {"y"}), {{float_value("x", {2, 3})}, {}}), "float32 [2, 3]");
  EXPECT_EQ(outputs_of(operation("IsNaN", {"x"}, {"y"}), {{float_value("x", {2})}, {}}), "bool [2]");
}

TEST(OnnxElementwise, TheMaskOfDropoutIsOfBooleansSinceVersion10) {
  const Node node = operation("Dropout", {"x"}, {"y", "mask"});
  EXPECT_EQ(outputs_of(node, {{float_value("x", {2})}, {}}), "float32 [2], bool [2]");
  EXPECT_EQ(outputs_of(with_version(7, node), {{float_value("x", {2})}, {}}), "float32 [2], float32 [2]");
}

TEST(OnnxElementwise, OperatorsThatRuntimesStillReadAreKnown) {
  for (const char* kind : {"Affine", "ImageScaler", "ParametricSoftplus", "ScaledTanh"})
    EXPECT_EQ(outputs_of(operation(kind, {"x"}, {"y"}), {{float_value("x", {2, 3})}, {}}), "float32 [2, 3]") << kind;
  Node node = operation("BiasDropout", {"x", "b", "x"}, {"y", "mask"});
  node.domain = "com.microsoft";
  EXPECT_EQ(outputs_of(node, {{float_value("x", {2, 3}), float_value("b", {3})}, {}}), "float32 [2, 3], bool [2, 3]");
}

TEST(OnnxElementwise, OnlyAMatrixHasADiagonal) {
  const Node node = operation("EyeLike", {"x"}, {"y"});
  EXPECT_EQ(outputs_of(node, {{float_value("x", {2, 3})}, {}}), "float32 [2, 3]");
  for (const Dims& dims : {Dims{2}, Dims{2, 3, 4}})
    EXPECT_EQ(outputs_of(node, {{float_value("x", dims)}, {}}), "its input is not a matrix");
}

TEST(OnnxBroadcast, OnesAreRepeatedAndMissingDimsAreOnes) {
  const Setting setting{{float_value("a", {4, 1, 3}), float_value("b", {5, 1})}, {}};
  EXPECT_EQ(outputs_of(operation("Add", {"a", "b"}, {"y"}), setting), "float32 [4, 5, 3]");
  EXPECT_EQ(outputs_of(operation("Less", {"a", "b"}, {"y"}), setting), "bool [4, 5, 3]");
  EXPECT_EQ(outputs_of(operation("Max", {"a", "b", "a"}, {"y"}), setting), "float32 [4, 5, 3]");
}

TEST(OnnxBroadcast, NothingAgainstOneIsNothing) {
  EXPECT_EQ(outputs_of(operation("Add", {"a", "b"}, {"y"}), {{float_value("a", {0}), float_value("b", {1})}, {}}),
            "float32 [0]");
}

TEST(OnnxBroadcast, ShapesThatDoNotGoTogetherStop) {
  EXPECT_EQ(outputs_of(operation("Add", {"a", "b"}, {"y"}), {{float_value("a", {2, 3}), float_value("b", {4})}, {}}),
            "the shapes [2, 3] and [4] cannot be broadcast");
}

TEST(OnnxBroadcast, TheSecondOperandLaidAlongAnAxisBeforeVersion7) {
  const Node node =
      with_version(6, operation("Add", {"a", "b"}, {"y"}, {attribute("axis", 1), attribute("broadcast", 1)}));
  EXPECT_EQ(outputs_of(node, {{float_value("a", {2, 3, 4}), float_value("b", {3})}, {}}), "float32 [2, 3, 4]");
}

TEST(OnnxReduction, AxesAreAnAttributeOrAnInputByVersion) {
  const Setting setting{{float_value("x", {2, 3, 4})}, {integers("axes", {-1})}};
  EXPECT_EQ(outputs_of(operation("ReduceMean", {"x", "axes"}, {"y"}), setting), "float32 [2, 3, 1]");
  const Node old =
      with_version(13, operation("ReduceMean", {"x"}, {"y"}, {attribute("axes", Dims{0}), attribute("keepdims", 0)}));
  EXPECT_EQ(outputs_of(old, setting), "float32 [3, 4]");
  EXPECT_EQ(outputs_of(with_version(13, operation("ReduceSum", {"x", "axes"}, {"y"})), setting), "float32 [2, 3, 1]");
}

TEST(OnnxReduction, WithoutAxesAllOrNone) {
  const Setting setting{{float_value("x", {2, 3})}, {}};
  EXPECT_EQ(outputs_of(operation("ReduceMax", {"x"}, {"y"}), setting), "float32 [1, 1]");
  EXPECT_EQ(outputs_of(operation("ReduceMax", {"x"}, {"y"}, {attribute("noop_with_empty_axes", 1)}), setting),
            "float32 [2, 3]");
}

TEST(OnnxReduction, AnAxisThatIsNotThereOrTwiceStops) {
  const Setting beyond{{float_value("x", {2, 3})}, {integers("axes", {2})}};
  EXPECT_EQ(outputs_of(operation("ReduceMax", {"x", "axes"}, {"y"}), beyond), "the axis 2 is not one of 2 dims");
  const Setting twice{{float_value("x", {2, 3})}, {integers("axes", {1, -1})}};
  EXPECT_EQ(outputs_of(operation("ReduceMax", {"x", "axes"}, {"y"}), twice), "the axis -1 occurs twice");
}

TEST(OnnxReduction, TopKHasValuesAndIndices) {
  const Setting setting{{float_value("x", {5, 4})}, {integers("k", {2})}};
  EXPECT_EQ(outputs_of(operation("TopK", {"x", "k"}, {"v", "i"}, {attribute("axis", 0)}), setting),
            "float32 [2, 4], int64 [2, 4]");
  EXPECT_EQ(outputs_of(with_version(9, operation("TopK", {"x"}, {"v", ""}, {attribute("k", 3)})), setting),
            "float32 [5, 3]");
}

TEST(OnnxView, ReshapeCopiesZerosAndFillsOneRest) {
  const Setting setting{{float_value("x", {2, 3, 4})}, {integers("s", {0, -1})}};
  EXPECT_EQ(outputs_of(operation("Reshape", {"x", "s"}, {"y"}), setting), "float32 [2, 12]");
  const Node old = with_version(4, operation("Reshape", {"x"}, {"y"}, {attribute("shape", Dims{4, -1})}));
  EXPECT_EQ(outputs_of(old, setting), "float32 [4, 6]");
}

TEST(OnnxView, ReshapeToAShapeThatDoesNotHoldTheElementsStops) {
  const Setting setting{{float_value("x", {2, 3})},
                        {integers("s", {4, -1}), integers("t", {7}), integers("u", {-1, -1})}};
  EXPECT_EQ(outputs_of(operation("Reshape", {"x", "s"}, {"y"}), setting),
            "6 elements cannot be shaped by multiples of 4");
  EXPECT_EQ(outputs_of(operation("Reshape", {"x", "t"}, {"y"}), setting),
            "[2, 3] has a different number of elements than [7]");
  EXPECT_EQ(outputs_of(operation("Reshape", {"x", "u"}, {"y"}), setting), "its shape has more than one -1");
}

TEST(OnnxView, ReshapeOfNegativeDimsStops) {
  const Setting setting{{float_value("x", {2, 3})}, {integers("s", {-2, -3}), integers("t", {kHighest, kHighest})}};
  EXPECT_EQ(outputs_of(operation("Reshape", {"x", "s"}, {"y"}), setting), "its size is out of range");
  EXPECT_EQ(outputs_of(operation("Reshape", {"x", "t"}, {"y"}), setting), "its size is out of range");
}

TEST(OnnxView, SqueezeAndUnsqueezeHaveAxesByVersion) {
  const Setting setting{{float_value("x", {1, 3, 1})}, {integers("a", {0, -1})}};
  EXPECT_EQ(outputs_of(operation("Squeeze", {"x", "a"}, {"y"}), setting), "float32 [3]");
  EXPECT_EQ(outputs_of(operation("Squeeze", {"x"}, {"y"}), setting), "float32 [3]");
  EXPECT_EQ(outputs_of(operation("Unsqueeze", {"x", "a"}, {"y"}), setting), "float32 [1, 1, 3, 1, 1]");
  EXPECT_EQ(outputs_of(with_version(11, operation("Squeeze", {"x"}, {"y"}, {attribute("axes", Dims{2})})), setting),
            "float32 [1, 3]");
}

TEST(OnnxView, RanksBeyondTheLimitStop) {
  const std::vector<std::int64_t> many(100, 1);
  const Setting setting{{float_value("x", {1})}, {integers("s", many)}};
  EXPECT_EQ(outputs_of(operation("Reshape", {"x", "s"}, {"y"}), setting),
            "it has 100 dims, and more than 32 are not inferred");
  EXPECT_EQ(outputs_of(operation("Expand", {"x", "s"}, {"y"}), setting),
            "it has 100 dims, and more than 32 are not inferred");
  EXPECT_EQ(outputs_of(operation("Unsqueeze", {"x", "s"}, {"y"}), setting),
            "it has 101 dims, and more than 32 are not inferred");
}

TEST(OnnxView, SizesBeyondTheLimitStop) {
  const Setting setting{{float_value("x", {1, 1})}, {integers("s", {std::int64_t{1} << 31, std::int64_t{1} << 31})}};
  EXPECT_EQ(outputs_of(operation("Expand", {"x", "s"}, {"y"}), setting),
            "it has more than 2^62 bytes: [2147483648, 2147483648]");
  EXPECT_EQ(outputs_of(operation("Tile", {"x", "s"}, {"y"}), setting),
            "it has more than 2^62 bytes: [2147483648, 2147483648]");
}

TEST(OnnxSlice, PlacesAreClampedAndCountFromTheEnd) {
  const auto sliced = [](std::int64_t start, std::int64_t end, std::int64_t step) {
    const Setting setting{{float_value("x", {2, 10})},
                          {integers("s", {start}), integers("e", {end}), integers("a", {-1}), integers("t", {step})}};
    return outputs_of(operation("Slice", {"x", "s", "e", "a", "t"}, {"y"}), setting);
  };
  EXPECT_EQ(sliced(2, 5, 1), "float32 [2, 3]");
  EXPECT_EQ(sliced(-3, kHighest, 1), "float32 [2, 3]");
  EXPECT_EQ(sliced(kLowest, kHighest, 3), "float32 [2, 4]");
  EXPECT_EQ(sliced(-1, kLowest, -1), "float32 [2, 10]");
  EXPECT_EQ(sliced(kHighest, kLowest, kLowest), "float32 [2, 1]");
  EXPECT_EQ(sliced(5, 2, 1), "float32 [2, 0]");
  EXPECT_EQ(sliced(-100, kLowest, -1), "float32 [2, 1]");
  EXPECT_EQ(sliced(0, 1, 0), "it steps by 0");
  EXPECT_EQ(sliced(3, kHighest, -1), "runtimes differ about slicing backwards to 9223372036854775807");
}

TEST(OnnxSlice, BeforeVersion10EverythingIsAnAttribute) {
  const Node node =
      with_version(9, operation("Slice", {"x"}, {"y"}, {attribute("starts", Dims{1}), attribute("ends", Dims{-1})}));
  EXPECT_EQ(outputs_of(node, {{float_value("x", {5, 4})}, {}}), "float32 [3, 4]");
}

TEST(OnnxSlice, SplitsAreEqualOrGivenAndTheLastOneMayBeSmaller) {
  const Setting setting{{float_value("x", {7})}, {integers("p", {3, 4})}};
  EXPECT_EQ(outputs_of(operation("Split", {"x"}, {"a", "b"}, {attribute("num_outputs", 2)}), setting),
            "float32 [4], float32 [3]");
  EXPECT_EQ(outputs_of(operation("Split", {"x", "p"}, {"a", "b"}), setting), "float32 [3], float32 [4]");
  EXPECT_EQ(outputs_of(with_version(11, operation("Split", {"x"}, {"a", "b"})), setting),
            "7 elements cannot be split into 2 equal parts, 7 elements cannot be split into 2 equal parts");
}

TEST(OnnxSlice, JoinedTensorsDifferInOneDimOnly) {
  const Setting setting{{float_value("a", {2, 3}), float_value("b", {2, 4}), float_value("c", {1, 4})}, {}};
  EXPECT_EQ(outputs_of(operation("Concat", {"a", "b"}, {"y"}, {attribute("axis", 1)}), setting), "float32 [2, 7]");
  EXPECT_EQ(outputs_of(operation("Concat", {"a", "c"}, {"y"}, {attribute("axis", 1)}), setting),
            "[2, 3] and [1, 4] cannot be joined");
}

TEST(OnnxSlice, PadsMayTakeAwayButNotMoreThanThereIs) {
  const Setting setting{{float_value("x", {4, 4})}, {integers("p", {0, -1, 2, 0}), integers("q", {-3, 0, -2, 0})}};
  EXPECT_EQ(outputs_of(operation("Pad", {"x", "p"}, {"y"}), setting), "float32 [6, 3]");
  EXPECT_EQ(outputs_of(operation("Pad", {"x", "q"}, {"y"}), setting), "its size would be negative: [-1, 4]");
}

TEST(OnnxGather, IndicesTakeThePlaceOfTheAxis) {
  const Setting setting{{float_value("x", {5, 6, 7}), tensor_value("i", ElementType::int64, {2, 2})}, {}};
  EXPECT_EQ(outputs_of(operation("Gather", {"x", "i"}, {"y"}, {attribute("axis", 1)}), setting),
            "float32 [5, 2, 2, 7]");
  EXPECT_EQ(outputs_of(operation("GatherND", {"x", "i"}, {"y"}), setting), "float32 [2, 7]");
}

TEST(OnnxGather, IndicesDeeperThanTheDataStop) {
  const Setting setting{{float_value("x", {5}), tensor_value("i", ElementType::int64, {2, 3})}, {}};
  EXPECT_EQ(outputs_of(operation("GatherND", {"x", "i"}, {"y"}), setting), "indices [2, 3] do not fit data [5]");
}

TEST(OnnxGenerator, NumbersSayHowMuchThereIs) {
  const Setting setting{{},
                        {integers("s", {2, 3}), integer("a", 1), integer("b", 10), integer("c", 4), integer("n", -1)}};
  EXPECT_EQ(outputs_of(operation("ConstantOfShape", {"s"}, {"y"}), setting), "float32 [2, 3]");
  EXPECT_EQ(outputs_of(operation("Range", {"a", "b", "c"}, {"y"}), setting), "int64 [3]");
  EXPECT_EQ(outputs_of(operation("Range", {"a", "b", "n"}, {"y"}), setting), "int64 [0]");
  EXPECT_EQ(outputs_of(operation("ConstantOfShape", {"n"}, {"y"}), setting), "its size would be negative: [-1]");
}

TEST(OnnxGenerator, ConstantsHaveAnyOfTheirAttributes) {
  EXPECT_EQ(outputs_of(operation("Constant", {}, {"y"}, {attribute("value", integers("", {1, 2}))}), {}), "int64 [2]");
  EXPECT_EQ(outputs_of(operation("Constant", {}, {"y"}, {attribute("value_int", 1)}), {}), "int64 []");
  EXPECT_EQ(outputs_of(operation("Constant", {}, {"y"}, {attribute("value_ints", Dims{1, 2, 3})}), {}), "int64 [3]");
  EXPECT_EQ(outputs_of(operation("Constant", {}, {"y"}), {}), "it has no value");
}

TEST(OnnxProduct, VectorsLeaveNoDimBehind) {
  const Setting setting{{float_value("a", {2, 1, 3, 4}), float_value("b", {5, 4, 6}), float_value("v", {4})}, {}};
  EXPECT_EQ(outputs_of(operation("MatMul", {"a", "b"}, {"y"}), setting), "float32 [2, 5, 3, 6]");
  EXPECT_EQ(outputs_of(operation("MatMul", {"a", "v"}, {"y"}), setting), "float32 [2, 1, 3]");
  EXPECT_EQ(outputs_of(operation("MatMul", {"v", "b"}, {"y"}), setting), "float32 [5, 6]");
  EXPECT_EQ(outputs_of(operation("MatMul", {"v", "v"}, {"y"}), setting), "float32 []");
  EXPECT_EQ(outputs_of(operation("MatMul", {"a", "a"}, {"y"}), setting),
            "[2, 1, 3, 4] and [2, 1, 3, 4] cannot be multiplied");
}

TEST(OnnxProduct, GemmTurnsItsMatrices) {
  const Setting setting{{float_value("a", {4, 3}), float_value("b", {5, 4})}, {}};
  EXPECT_EQ(outputs_of(operation("Gemm", {"a", "b"}, {"y"}, {attribute("transA", 1), attribute("transB", 1)}), setting),
            "float32 [3, 5]");
}

TEST(OnnxProduct, EinsumFollowsItsEquation) {
  const auto sum = [](const char* equation) {
    return outputs_of(operation("Einsum", {"a", "b"}, {"y"}, {attribute("equation", equation)}),
                      {{float_value("a", {2, 3, 4}), float_value("b", {2, 4, 5})}, {}});
  };
  EXPECT_EQ(sum("bij, bjk -> bik"), "float32 [2, 3, 5]");
  EXPECT_EQ(sum("...ij,...jk->...ik"), "float32 [2, 3, 5]");
  EXPECT_EQ(sum("bij,bjk"), "float32 [3, 5]");
  EXPECT_EQ(sum("bij,bjk->"), "float32 []");
  EXPECT_EQ(sum("bij,bik->bj"), "'i' of its equation is both 3 and 4");
  EXPECT_EQ(sum("bij,bjk->z"), "'z' of its result is in no term");
  EXPECT_EQ(sum("bij"), "its equation has 1 terms, for 2 inputs");
  EXPECT_EQ(sum("b1j,bjk->b"), "its equation has '1'");
}

TEST(OnnxConvolution, WindowsSlide) {
  const auto convolved = [](std::vector<Attribute> attributes) {
    return outputs_of(operation("Conv", {"x", "w"}, {"y"}, std::move(attributes)),
                      {{float_value("x", {1, 3, 10, 10}), float_value("w", {8, 3, 3, 3})}, {}});
  };
  EXPECT_EQ(convolved({}), "float32 [1, 8, 8, 8]");
  EXPECT_EQ(convolved({attribute("pads", Dims{1, 1, 1, 1}), attribute("strides", Dims{2, 1})}),
            "float32 [1, 8, 5, 10]");
  EXPECT_EQ(convolved({attribute("dilations", Dims{2, 4})}), "float32 [1, 8, 6, 2]");
  EXPECT_EQ(convolved({attribute("auto_pad", "SAME_UPPER"), attribute("strides", Dims{3, 3})}), "float32 [1, 8, 4, 4]");
  EXPECT_EQ(convolved({attribute("dilations", Dims{5, 1})}), "its kernel covers 11 elements, but there are 10");
  EXPECT_EQ(convolved({attribute("strides", Dims{0, 1})}), "its strides are [0, 1]");
  EXPECT_EQ(convolved({attribute("dilations", Dims{kHighest, 1})}), "its size is out of range");
  EXPECT_EQ(convolved({attribute("pads", Dims{kHighest, 0, 1, 0})}), "its size is out of range");
}

TEST(OnnxConvolution, TransposedOnesGrow) {
  const Setting setting{{float_value("x", {1, 4, 5, 5}), float_value("w", {4, 2, 3, 3})}, {}};
  const Node node =
      operation("ConvTranspose", {"x", "w"}, {"y"},
                {attribute("strides", Dims{2, 2}), attribute("group", 2), attribute("output_padding", Dims{1, 0})});
  EXPECT_EQ(outputs_of(node, setting), "float32 [1, 4, 12, 11]");
}

TEST(OnnxPool, RoundedUpWindowsDoNotBeginInThePadding) {
  const auto pooled = [](std::int64_t size, std::int64_t pad) {
    return outputs_of(operation("MaxPool", {"x"}, {"y", "i"},
                                {attribute("kernel_shape", Dims{2}), attribute("strides", Dims{2}),
                                 attribute("ceil_mode", 1), attribute("pads", Dims{pad, pad})}),
                      {{float_value("x", {1, 1, size})}, {}});
  };
  EXPECT_EQ(pooled(5, 0), "float32 [1, 1, 3], int64 [1, 1, 3]");
  EXPECT_EQ(pooled(5, 1), "float32 [1, 1, 3], int64 [1, 1, 3]");
}

TEST(OnnxPool, PaddingThatRuntimesComputeDifferentlyStops) {
  const std::vector<Attribute> attributes = {attribute("kernel_shape", Dims{2}), attribute("dilations", Dims{2}),
                                             attribute("auto_pad", "SAME_UPPER")};
  EXPECT_EQ(outputs_of(operation("MaxPool", {"x"}, {"y"}, attributes), {{float_value("x", {1, 1, 9})}, {}}),
            "runtimes differ about padding a pool with holes");
}

TEST(OnnxImage, ResizesByScalesOrToSizes) {
  const Setting setting{{float_value("x", {1, 3, 7, 8})},
                        {reals("s", {1, 1, 1.5, 0.5}), integers("n", {1, 3, 20, 20})}};
  EXPECT_EQ(outputs_of(operation("Resize", {"x", "", "s"}, {"y"}), setting), "float32 [1, 3, 10, 4]");
  EXPECT_EQ(outputs_of(operation("Resize", {"x", "", "", "n"}, {"y"}), setting), "float32 [1, 3, 20, 20]");
  EXPECT_EQ(outputs_of(with_version(10, operation("Resize", {"x", "s"}, {"y"})), setting), "float32 [1, 3, 10, 4]");
  EXPECT_EQ(outputs_of(with_version(9, operation("Upsample", {"x", "s"}, {"y"})), setting), "float32 [1, 3, 10, 4]");
  EXPECT_EQ(outputs_of(operation("Resize", {"x"}, {"y"}), setting), "it has neither scales nor sizes");
}

TEST(OnnxImage, OneScaleForAllStaysWithinTheSizesOrReachesThem) {
  const auto resized = [](const char* policy, const Dims& axes) {
    const Setting setting{{float_value("x", {1, 3, 6, 4})}, {integers("n", {12, 12})}};
    return outputs_of(operation("Resize", {"x", "", "", "n"}, {"y"},
                                {attribute("keep_aspect_ratio_policy", policy), attribute("axes", axes)}),
                      setting);
  };
  EXPECT_EQ(resized("not_larger", {2, 3}), "float32 [1, 3, 12, 8]");
  EXPECT_EQ(resized("not_smaller", {2, 3}), "float32 [1, 3, 18, 12]");
  EXPECT_EQ(resized("stretch", {-2, -1}), "float32 [1, 3, 12, 12]");
  EXPECT_EQ(resized("not_larger", {-2, -1}), "runtimes differ about one scale for axes that count from the end");
}

TEST(OnnxNormalization, StatisticsHaveOnesWhereItNormalizes) {
  const Setting setting{{float_value("x", {2, 3, 4}), float_value("w", {3, 4})}, {}};
  EXPECT_EQ(outputs_of(operation("LayerNormalization", {"x", "w"}, {"y", "m", "d"}, {attribute("axis", 1)}), setting),
            "float32 [2, 3, 4], float32 [2, 1, 1], float32 [2, 1, 1]");
}

TEST(OnnxAttention, HeadsAreADimOrPartOfOne) {
  const Setting setting{{float_value("q", {2, 3, 32}), float_value("k", {2, 5, 16}), float_value("v", {2, 5, 12}),
                         float_value("pk", {2, 2, 4, 8}), float_value("pv", {2, 2, 4, 6})},
                        {}};
  const Node node = with_version(23, operation("Attention", {"q", "k", "v", "", "pk", "pv"}, {"y", "ak", "av", "qk"},
                                               {attribute("q_num_heads", 4), attribute("kv_num_heads", 2)}));
  EXPECT_EQ(outputs_of(node, setting),
            "float32 [2, 3, 24], float32 [2, 2, 9, 8], float32 [2, 2, 9, 6], float32 [2, 4, 3, 9]");
}

TEST(OnnxAttention, RecurrentOnesKeepAStateOfFixedSize) {
  const Setting setting{{float_value("q", {2, 5, 32}), float_value("k", {2, 5, 16}), float_value("v", {2, 5, 12}),
                         float_value("x", {2, 6, 9}), float_value("w", {6, 1, 4})},
                        {}};
  EXPECT_EQ(outputs_of(operation("LinearAttention", {"q", "k", "v"}, {"y", "s"},
                                 {attribute("q_num_heads", 4), attribute("kv_num_heads", 2)}),
                       setting),
            "float32 [2, 5, 24], float32 [2, 2, 8, 6]");
  EXPECT_EQ(outputs_of(operation("CausalConvWithState", {"x", "w"}, {"y", "s"}), setting),
            "float32 [2, 6, 9], float32 [2, 6, 3]");
}

TEST(OnnxAttention, FlexAttentionHasTheSizeOfValues) {
  Node node = operation("FlexAttention", {"q", "k", "v"}, {"y"});
  node.domain = "ai.onnx.preview";
  EXPECT_EQ(
      outputs_of(
          node,
          {{float_value("q", {2, 8, 4, 16}), float_value("k", {2, 2, 6, 16}), float_value("v", {2, 2, 6, 32})}, {}}),
      "float32 [2, 8, 4, 32]");
}

TEST(OnnxContrib, AttentionAppendsToTheStateItKeeps) {
  const Setting setting{{float_value("x", {2, 3, 8}), float_value("w", {8, 24}), float_value("past", {2, 2, 4, 5, 2}),
                         float_value("pk", {2, 4, 5, 2}), float_value("pv", {2, 4, 5, 2})},
                        {}};
  const auto contrib = [&](std::vector<std::string> inputs, std::vector<std::string> outputs, const char* kind) {
    Node node = operation(kind, std::move(inputs), std::move(outputs), {attribute("num_heads", 4)});
    node.domain = "com.microsoft";
    return outputs_of(node, setting);
  };
  EXPECT_EQ(contrib({"x", "w"}, {"y", "s"}, "Attention"), "float32 [2, 3, 8], float32 [2, 2, 4, 3, 2]");
  EXPECT_EQ(contrib({"x", "w", "", "", "past"}, {"y", "s"}, "Attention"), "float32 [2, 3, 8], float32 [2, 2, 4, 8, 2]");
  EXPECT_EQ(contrib({"x", "x", "x", "", "", "", "pk", "pv"}, {"y", "k", "v"}, "MultiHeadAttention"),
            "float32 [2, 3, 8], float32 [2, 4, 8, 2], float32 [2, 4, 8, 2]");
}

TEST(OnnxTraining, OptimizersReturnTensorsAndWhatTheyKeepButNoGradients) {
  const Setting setting{{float_value("r", {}), float_value("t", {}), float_value("a", {1}), float_value("b", {2, 3})},
                        {}};
  const auto training = [&](const char* kind, std::vector<std::string> inputs, std::vector<std::string> outputs) {
    Node node = operation(kind, std::move(inputs), std::move(outputs));
    node.domain = "ai.onnx.preview.training";
    return outputs_of(node, setting);
  };
  EXPECT_EQ(training("Adam", {"r", "t", "a", "b", "a", "b", "a", "b", "a", "b"}, {"1", "2", "3", "4", "5", "6"}),
            "float32 [1], float32 [2, 3], float32 [1], float32 [2, 3], float32 [1], float32 [2, 3]");
  EXPECT_EQ(training("Momentum", {"r", "t", "b", "b", "b"}, {"1", "2"}), "float32 [2, 3], float32 [2, 3]");
  EXPECT_EQ(training("Adagrad", {"r", "t", "b", "b"}, {"1"}), "its inputs are not 3 lists of equal length");
}

TEST(OnnxLearned, AttributesSayHowManyResultsARowHas) {
  const auto learned = [](const char* kind, std::vector<Attribute> attributes, const Dims& dims) {
    Node node = operation(kind, {"x"}, {"y", "z"}, std::move(attributes));
    node.domain = "ai.onnx.ml";
    if (std::string(kind).find("Classifier") == std::string::npos) node.outputs.pop_back();
    return outputs_of(node, {{float_value("x", dims)}, {}});
  };
  EXPECT_EQ(learned("TreeEnsemble", {attribute("n_targets", 4)}, {6, 3}), "float32 [6, 4]");
  EXPECT_EQ(learned("TreeEnsembleClassifier", {attribute("classlabels_int64s", Dims{0, 1, 2})}, {6, 3}),
            "int64 [6], float32 [6, 3]");
  EXPECT_EQ(learned("LinearRegressor", {attribute("targets", 2)}, {5}), "float32 [1, 2]");
  EXPECT_EQ(learned("OneHotEncoder", {attribute("cats_int64s", Dims{7, 8, 9})}, {2, 5}), "float32 [2, 5, 3]");
  EXPECT_EQ(learned("LabelEncoder", {attribute("values_tensor", integers("v", {1, 2}))}, {2, 5}), "int64 [2, 5]");
  EXPECT_EQ(learned("Scaler", {}, {2, 5}), "float32 [2, 5]");
}

TEST(OnnxStrings, SequencesAreCountedUpToTheLargestIndex) {
  const std::vector<Attribute> attributes = {attribute("ngram_indexes", Dims{0, 6, 2})};
  const Setting setting{{tensor_value("x", ElementType::int32, {2, 12}), tensor_value("s", ElementType::string, {3})},
                        {}};
  EXPECT_EQ(outputs_of(operation("TfIdfVectorizer", {"x"}, {"y"}, attributes), setting), "float32 [2, 7]");
  EXPECT_EQ(outputs_of(operation("StringSplit", {"s"}, {"", "n"}), setting), "int64 [3]");
}

TEST(OnnxSignal, ATransformOfTheWholeLengthKeepsItAlongAnyAxis) {
  const Setting setting{{float_value("x", {1, 8, 6, 1}), tensor_value("axis", ElementType::int64, {})}, {}};
  EXPECT_EQ(outputs_of(with_version(20, operation("DFT", {"x", "", "axis"}, {"y"})), setting), "float32 [1, 8, 6, 2]");
}

TEST(OnnxQuantization, TheZeroPointSaysTheType) {
  const Setting setting{{float_value("x", {4}), float_value("s", {}), tensor_value("z", ElementType::int8, {})}, {}};
  EXPECT_EQ(outputs_of(operation("QuantizeLinear", {"x", "s", "z"}, {"y"}), setting), "int8 [4]");
  EXPECT_EQ(outputs_of(operation("QuantizeLinear", {"x", "s"}, {"y"}), setting), "uint8 [4]");
  EXPECT_EQ(outputs_of(operation("Cast", {"x"}, {"y"}, {attribute("to", 22)}), setting), "int4 [4]");
  EXPECT_EQ(outputs_of(operation("Cast", {"x"}, {"y"}, {attribute("to", 99)}), setting),
            "its attribute 'to' is the unknown element type 99");
}

TEST(OnnxRecurrent, StatesOfBothDirections) {
  const Setting setting{{float_value("x", {7, 2, 5}), float_value("w", {2, 12, 5}), float_value("r", {2, 12, 3})}, {}};
  EXPECT_EQ(outputs_of(operation("LSTM", {"x", "w", "r"}, {"y", "h", "c"}, {attribute("direction", "bidirectional")}),
                       setting),
            "float32 [7, 2, 2, 3], float32 [2, 2, 3], float32 [2, 2, 3]");
}

TEST(OnnxDynamic, WhatDependsOnDataSaysSo) {
  const Setting setting{{float_value("x", {4})}, {integers("c", {0, 1, 0, 5})}};
  EXPECT_EQ(outputs_of(operation("NonZero", {"x"}, {"y"}), setting), "the output of NonZero depends on data");
  EXPECT_EQ(outputs_of(operation("NonZero", {"c"}, {"y"}), setting), "int64 [1, 2]");
  EXPECT_EQ(outputs_of(operation("SequenceConstruct", {"x"}, {"y"}), setting),
            "the output of SequenceConstruct is a sequence");
}

/// The outputs of an operator of com.microsoft.
std::string contrib_outputs(const Setting& setting, const char* kind, std::vector<std::string> inputs,
                            std::vector<std::string> outputs, std::vector<Attribute> attributes = {}) {
  Node node = operation(kind, std::move(inputs), std::move(outputs), std::move(attributes));
  node.domain = "com.microsoft";
  return outputs_of(node, setting);
}

TEST(OnnxImage, CropLeavesOutABorderOrTakesAWindow) {
  const Setting setting{{float_value("x", {1, 3, 10, 20})}, {}};
  EXPECT_EQ(outputs_of(operation("Crop", {"x"}, {"y"}, {attribute("border", Dims{1, 2, 3, 4})}), setting),
            "float32 [1, 3, 4, 16]");
  const auto window = [&](Dims scale) {
    return outputs_of(
        operation("Crop", {"x"}, {"y"}, {attribute("border", Dims{1, 2, 3, 4}), attribute("scale", std::move(scale))}),
        setting);
  };
  EXPECT_EQ(window({8, 5}), "float32 [1, 3, 8, 5]");
  EXPECT_EQ(window({9, 5}), "its window [9, 5] does not lie in [1, 3, 10, 20]");
  EXPECT_EQ(outputs_of(operation("Crop", {"x"}, {"y"}), setting), "its border is not one of four sides");
}

TEST(OnnxContrib, SearchesHaveResultsOfTheLongestLength) {
  const Setting setting{{float_value("prompts", {2, 3}), float_value("penalty", {1})},
                        {integers("longest", {10}), integers("beams", {4}), integers("results", {2})}};
  const std::vector<std::string> inputs = {"prompts", "longest", "", "beams", "results", "penalty"};
  EXPECT_EQ(contrib_outputs(setting, "BeamSearch", inputs, {"y", "s"}), "int32 [2, 2, 10], float32 [2, 2]");
  EXPECT_EQ(contrib_outputs(setting, "BeamSearch", inputs, {"y", "s", "all"}, {attribute("vocab_size", 100)}),
            "int32 [2, 2, 10], float32 [2, 2], float32 [7, 2, 4, 100]");
  for (const char* const kind : {"GreedySearch", "Sampling"})
    EXPECT_EQ(contrib_outputs(setting, kind, {"prompts", "longest"}, {"y"}), "int32 [2, 10]") << kind;
  EXPECT_EQ(contrib_outputs(setting, "Sampling", {"prompts", "longest"}, {"y", "l"}, {attribute("vocab_size", 100)}),
            "int32 [2, 10], float32 [2, 100]");
  EXPECT_EQ(contrib_outputs(setting, "GreedySearch", {"prompts", "penalty"}, {"y"}),
            "the elements of its input 'penalty' are not known before it runs");
}

TEST(OnnxContrib, PaddingIsRestoredWhereItWas) {
  const Setting setting{{float_value("rows", {7, 16}), float_value("where", {2, 5}), float_value("x", {2, 5, 16})}, {}};
  EXPECT_EQ(contrib_outputs(setting, "RestorePadding", {"rows", "where"}, {"y"}), "float32 [2, 5, 16]");
  EXPECT_EQ(contrib_outputs(setting, "RestorePadding", {"x", "where"}, {"y"}), "its inputs are [2, 5, 16] and [2, 5]");
  EXPECT_EQ(contrib_outputs(setting, "RemovePadding", {"x", "where"}, {"y", "offsets", "begins", "longest"}),
            "the output of RemovePadding depends on data, int32 [2, 5], int32 [3], int32 [1]");
}

TEST(OnnxContrib, ADecoderAddsAStepToItsPast) {
  const Setting setting{{float_value("q", {2, 1, 8}), float_value("past", {2, 4, 5, 2}), float_value("e", {2, 4, 9, 2}),
                         float_value("packed", {2, 1, 24})},
                        {}};
  const auto decoder = [&](std::vector<std::string> inputs, std::vector<std::string> outputs, int shared) {
    return contrib_outputs(setting, "DecoderMaskedMultiHeadAttention", std::move(inputs), std::move(outputs),
                           {attribute("num_heads", 4), attribute("past_present_share_buffer", shared)});
  };
  const std::vector<std::string> inputs = {"q", "q", "q", "", "", "past", "past"};
  EXPECT_EQ(decoder(inputs, {"y", "k", "v", "qk"}, 0),
            "float32 [2, 1, 8], float32 [2, 4, 6, 2], float32 [2, 4, 6, 2], float32 [2, 4, 1, 6]");
  EXPECT_EQ(decoder(inputs, {"y", "k", "v"}, 1), "float32 [2, 1, 8], float32 [2, 4, 5, 2], float32 [2, 4, 5, 2]");
  EXPECT_EQ(decoder({"q", "e", "e"}, {"y", "", "", "qk"}, 0), "float32 [2, 1, 8], float32 [2, 4, 1, 9]");
  EXPECT_EQ(decoder({"packed"}, {"y"}, 0), "float32 [2, 1, 8]");
}

TEST(OnnxContrib, WhatTrainingAddsKnowsItsSizes) {
  const Setting setting{{float_value("x", {2, 3, 11}), float_value("z", {2, 4, 11})}, {}};
  EXPECT_EQ(contrib_outputs(setting, "BitmaskDropout", {"x"}, {"y", "mask"}), "float32 [2, 3, 11], uint32 [3]");
  EXPECT_EQ(contrib_outputs(setting, "ConcatTraining", {"x", "z"}, {"y", "lengths"}, {attribute("axis", 1)}),
            "float32 [2, 7, 11], int64 [2]");
  EXPECT_EQ(contrib_outputs(setting, "Send", {"x", "x", "z"}, {"done"}), "bool []");
  EXPECT_EQ(contrib_outputs(setting, "Recv", {"x", "x"}, {"done", "y"}),
            "bool [], the sender determines what is received");
  EXPECT_EQ(
      contrib_outputs(setting, "YieldOp", {"x", "z", "z"}, {"dx", "dz"},
                      {attribute("non_differentiable_outputs", Dims{1}), attribute("full_shape_outputs", Dims{0, 2})}),
      "float32 [2, 3, 11], float32 [2, 4, 11]");
}

TEST(OnnxContrib, OperatorsOfTheRuntimeAreInItsDomainOnly) {
  Node node = operation("SkipLayerNormalization", {"x", "x", "w"}, {"y", "", "", "s"});
  const Setting setting{{float_value("x", {2, 3}), float_value("w", {3})}, {}};
  EXPECT_EQ(outputs_of(node, setting),
            "nothing is known about the operator SkipLayerNormalization, nothing is known about the operator "
            "SkipLayerNormalization");
  node.domain = "com.microsoft";
  EXPECT_EQ(outputs_of(node, setting), "float32 [2, 3], float32 [2, 3]");
}

TEST(OnnxOperators, InputsThatAreMissingStop) {
  for (const char* kind :
       {"Relu", "Add", "Where", "Conv",   "MatMul", "Gemm",  "Gather", "Slice",     "Concat",      "Reshape", "LSTM",
        "Loop", "If",  "Scan",  "Resize", "TopK",   "Range", "OneHot", "Attention", "QLinearConv", "STFT",    "Cast"}) {
    EXPECT_NE(outputs_of(operation(kind, {}, {"y"}), {}), "") << kind;
    EXPECT_NE(outputs_of(operation(kind, {"", ""}, {"y"}), {}), "") << kind;
    EXPECT_NE(
        outputs_of(operation(kind, {"x", "x", "x", "x", "x", "x", "x", "x"}, {"y"}), {{float_value("x", {})}, {}}), "")
        << kind;
  }
}

}  // namespace
}  // namespace stowage::io::onnx
