#include "io/onnx/views.hpp"

#include <list>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "io/onnx/in_place.hpp"

namespace stowage::io::onnx {
namespace {

/// A node with operands of float32, unless said otherwise; they live as long as this does.
class Case {
 public:
  explicit Case(std::string kind) {
    node.kind = std::move(kind);
    node.version = 20;
  }
  Case(const Case&) = delete;
  Case& operator=(const Case&) = delete;

  Case& input(Dims dims, ElementType type = ElementType::float32) {
    return add(operands.inputs, std::move(dims), type);
  }
  Case& constant(std::vector<std::int64_t> elements) {
    input({static_cast<std::int64_t>(elements.size())}, ElementType::int64);
    facts_.back().elements = Elements(std::move(elements));
    return *this;
  }
  Case& omitted() {
    operands.inputs.emplace_back();
    return *this;
  }
  Case& output(Dims dims, ElementType type = ElementType::float32) {
    return add(operands.outputs, std::move(dims), type);
  }
  Case& with(std::string name, std::int64_t value) {
    Attribute& attribute = node.attributes.emplace_back();
    attribute.name = std::move(name);
    attribute.type = Attribute::Type::integer;
    attribute.integer = value;
    return *this;
  }
  Case& with_list(std::string name, std::vector<std::int64_t> values) {
    Attribute& attribute = node.attributes.emplace_back();
    attribute.name = std::move(name);
    attribute.type = Attribute::Type::integers;
    attribute.integers = std::move(values);
    return *this;
  }

  [[nodiscard]] std::vector<View> views() {
    node.inputs.resize(operands.inputs.size(), "x");
    return find_views(node, operands);
  }
  [[nodiscard]] std::vector<InPlacePair> pairs() const { return find_in_place(node, operands); }

  Node node;
  Operands operands;

 private:
  Case& add(std::vector<std::optional<Operand>>& list, Dims dims, ElementType type) {
    facts_.push_back({.type = type, .dims = std::move(dims)});
    list.push_back(Operand{&facts_.back(), *tensor_size(type, *facts_.back().dims)});
    return *this;
  }

  std::list<ValueFacts> facts_;
};

std::vector<View> all_of_input() { return {{0, 0, Bytes(0)}}; }
std::vector<View> part(std::int64_t offset) { return {{0, 0, Bytes(offset)}}; }
using Pairs = std::vector<InPlacePair>;

TEST(OnnxViews, WhatChangesOnlyTheShapeIsAView) {
  for (const char* kind : {"Reshape", "Flatten", "Squeeze", "Unsqueeze", "Identity"})
    EXPECT_EQ(Case(kind).input({2, 8}).constant({16}).output({16}).views(), all_of_input()) << kind;
  EXPECT_TRUE(Case("Relu").input({2}).output({2}).views().empty());
  Case foreign("Reshape");
  foreign.node.domain = "my.domain";
  EXPECT_TRUE(foreign.input({2}).output({2}).views().empty());
}

TEST(OnnxViews, ACastIsOneToItsOwnTypeOnly) {
  EXPECT_EQ(Case("Cast").input({4}).output({4}).views(), all_of_input());
  EXPECT_TRUE(Case("Cast").input({4}).output({4}, ElementType::int32).views().empty());
}

TEST(OnnxViews, ADropoutIsOneWhenItNeitherTrainsNorWritesAMask) {
  EXPECT_EQ(Case("Dropout").input({4}).output({4}).views(), all_of_input());
  EXPECT_EQ(Case("Dropout").input({4}).omitted().constant({0}).output({4}).views(), all_of_input());
  EXPECT_TRUE(Case("Dropout").input({4}).omitted().constant({1}).output({4}).views().empty());
  EXPECT_TRUE(Case("Dropout").input({4}).omitted().input({}, ElementType::boolean).output({4}).views().empty());
  EXPECT_TRUE(Case("Dropout").input({4}).output({4}).output({4}, ElementType::boolean).views().empty());
}

TEST(OnnxViews, ATransposeIsOneWhenOnlyOnesMove) {
  EXPECT_EQ(Case("Transpose").input({1, 3, 1, 4}).output({3, 1, 4, 1}).with_list("perm", {1, 0, 3, 2}).views(),
            all_of_input());
  EXPECT_TRUE(Case("Transpose").input({2, 3}).output({3, 2}).with_list("perm", {1, 0}).views().empty());
  EXPECT_TRUE(Case("Transpose").input({2, 3}).output({3, 2}).views().empty());
  EXPECT_EQ(Case("Transpose").input({1, 3}).output({3, 1}).views(), all_of_input());
  EXPECT_TRUE(Case("Transpose").input({2, 3}).output({2, 3}).with_list("perm", {0, 7}).views().empty());
}

TEST(OnnxViews, ASliceIsOneWhereItIsContiguous) {
  const Dims from = {1, 8, 16};
  EXPECT_EQ(Case("Slice").input(from).constant({2}).constant({5}).constant({1}).output({1, 3, 16}).views(),
            part(2 * 16 * 4));
  EXPECT_EQ(Case("Slice").input(from).constant({-3}).constant({9}).constant({-2}).output({1, 3, 16}).views(),
            part(5 * 16 * 4));
  EXPECT_TRUE(Case("Slice").input(from).constant({2}).constant({5}).constant({2}).output({1, 8, 3}).views().empty());
  EXPECT_TRUE(Case("Slice")
                  .input(from)
                  .constant({0})
                  .constant({8})
                  .constant({1})
                  .constant({2})
                  .output({1, 4, 16})
                  .views()
                  .empty());
  EXPECT_TRUE(Case("Slice")
                  .input(from)
                  .input({1}, ElementType::int64)
                  .constant({5})
                  .constant({1})
                  .output({1, 3, 16})
                  .views()
                  .empty());
  EXPECT_EQ(Case("Slice").input({8, 4}).with_list("starts", {4}).with_list("ends", {6}).output({2, 4}).views(),
            part(64));
}

TEST(OnnxViews, ASliceThatClaimsMoreThanItsInputHasIsNone) {
  EXPECT_TRUE(Case("Slice").input({4, 16}).constant({0}).constant({3}).output({18, 16}).views().empty());
  EXPECT_TRUE(Case("Slice").input({4, 16}).constant({-1}).constant({-9}).constant({0}).output({5, 16}).views().empty());
}

TEST(OnnxViews, ASplitIsOneWhereAllOfItsPartsAreContiguous) {
  const std::vector<View> halves = {{0, 0, Bytes(0)}, {1, 0, Bytes(96)}};
  EXPECT_EQ(Case("Split").input({1, 4, 8}).output({1, 3, 8}).output({1, 1, 8}).with("axis", 1).views(), halves);
  EXPECT_TRUE(Case("Split").input({2, 4}).output({2, 2}).output({2, 2}).with("axis", 1).views().empty());
}

TEST(OnnxViews, AGatherIsOneOfARangeThatIsKnown) {
  EXPECT_EQ(Case("Gather").input({4, 8}).constant({2}).output({1, 8}).views(), part(64));
  EXPECT_EQ(Case("Gather").input({4, 8}).constant({-2, 3}).output({2, 8}).views(), part(64));
  EXPECT_TRUE(Case("Gather").input({4, 8}).constant({2, 0}).output({2, 8}).views().empty());
  EXPECT_TRUE(Case("Gather").input({4, 8}).input({1}, ElementType::int64).output({1, 8}).views().empty());
}

TEST(OnnxViews, PartsOfPackedTypesBeginAtAByte) {
  EXPECT_EQ(Case("Gather").input({4, 8}, ElementType::int4).constant({1}).output({1, 8}, ElementType::int4).views(),
            part(4));
  EXPECT_TRUE(
      Case("Gather").input({4, 3}, ElementType::int4).constant({1}).output({1, 3}, ElementType::int4).views().empty());
}

TEST(OnnxViews, EmptyTensorsAreNone) {
  constexpr std::int64_t kHuge = std::int64_t{1} << 60;
  EXPECT_TRUE(Case("Gather").input({4, kHuge, kHuge, 0}).constant({2}).output({1, kHuge, kHuge, 0}).views().empty());
  EXPECT_TRUE(Case("Reshape").input({0}).constant({0, 2}).output({0, 2}).views().empty());
}

TEST(OnnxInPlace, ElementWiseOpsMayOverwriteWhatIsNotBroadcast) {
  EXPECT_EQ(Case("Relu").input({4}).output({4}).pairs(), (Pairs{{0, 0}}));
  EXPECT_EQ(Case("Add").input({2, 4}).input({2, 4}).output({2, 4}).pairs(), (Pairs{{0, 0}, {0, 1}}));
  EXPECT_EQ(Case("Add").input({4}).input({2, 4}).output({2, 4}).pairs(), (Pairs{{0, 1}}));
  EXPECT_EQ(Case("Sum").input({4}).input({4}).input({4}).output({4}).pairs(), (Pairs{{0, 0}}));
  EXPECT_EQ(Case("Where").input({4}, ElementType::boolean).input({4}).input({1}).output({4}).pairs(), (Pairs{{0, 1}}));
  EXPECT_EQ(Case("Clip").input({4}).omitted().input({}).output({4}).pairs(), (Pairs{{0, 0}}));
  EXPECT_TRUE(Case("MatMul").input({2, 2}).input({2, 2}).output({2, 2}).pairs().empty());
}

TEST(OnnxInPlace, ElementsMustHaveOneSize) {
  EXPECT_EQ(Case("Cast").input({4}).output({4}, ElementType::int32).pairs(), (Pairs{{0, 0}}));
  EXPECT_TRUE(Case("Cast").input({4}).output({4}, ElementType::float16).pairs().empty());
  EXPECT_TRUE(Case("IsNaN").input({4}).output({4}, ElementType::boolean).pairs().empty());
}

TEST(OnnxInPlace, ANormalizationInTrainingReadsTheWholeFirst) {
  EXPECT_EQ(Case("BatchNormalization").input({1, 4}).output({1, 4}).pairs(), (Pairs{{0, 0}}));
  EXPECT_TRUE(Case("BatchNormalization").input({1, 4}).output({1, 4}).with("training_mode", 1).pairs().empty());
  EXPECT_TRUE(Case("BatchNormalization").input({1, 4}).output({1, 4}).output({4}).pairs().empty());
}

}  // namespace
}  // namespace stowage::io::onnx
