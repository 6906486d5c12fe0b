#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "layout/interface/analysis.hpp"
#include "support/builders/lost.hpp"

/// Packed groups whose bytes are written again: which parts get a copy.
namespace stowage::verification {
namespace {

/// The names of the tensors that are copied.
std::vector<std::string> copied(const Graph& graph) {
  std::vector<std::string> names;
  for (const PlannedCopy& copy : analyze(graph).layout.copies) names.push_back(graph.tensor(copy.tensor).name);
  return names;
}

/// SPLIT(v) → s0, s1, then these ops. Tensors: v 0, s0 1, s1 2, o 3, and more.
Graph split(std::vector<Op> then, std::vector<Tensor> more = {}, TensorFlags flags = TensorFlag::variable) {
  std::vector<Tensor> tensors = {tensor("v", 128, flags), tensor("s0", 64), tensor("s1", 64), tensor("o", 64, kOutput)};
  tensors.insert(tensors.end(), more.begin(), more.end());
  then.insert(then.begin(), packed_outputs(op("SPLIT", {0}, {1, 2})));
  return graph_of(std::move(tensors), std::move(then));
}

TEST(Derivations, PartsOfAVariableAreCopiedIfItIsAssignedBeforeTheyAreRead) {
  EXPECT_THAT(copied(split({op("ASSIGN", {}, {0}), op("O", {1, 2}, {3})})), ElementsAre("s0", "s1"));
  EXPECT_THAT(copied(split({op("ASSIGN", {}, {0}), op("O", {2}, {3})})), ElementsAre("s1")) << "s0 is not read";
  EXPECT_THAT(copied(split({op("O", {1, 2}, {3}), op("ASSIGN", {}, {0})})), IsEmpty()) << "they were read before";
  EXPECT_THAT(copied(split({op("ASSIGN", {1}, {0}), op("O", {2}, {3})})), ElementsAre("s0", "s1"))
      << "the op that assigns reads one of them";
}

TEST(Derivations, OnlyThePartsWhoseBytesAreWrittenAreCopied) {
  const Graph graph = split({op("ASSIGN", {}, {4}), op("O", {1, 2}, {3})}, {view("half", 64, 0, 64)});
  EXPECT_THAT(copied(graph), ElementsAre("s1"));
  EXPECT_EQ(analyze(graph).layout.copies.front().reason, "shared bytes would be written again while they are needed");
}

TEST(Derivations, APartThatIsWrittenAgainIsCopied) {
  const Graph graph =
      split({refers(op("REF", {1}, {4})), op("O", {2, 4}, {3})}, {tensor("ref", 64)}, TensorFlag::constant);
  EXPECT_THAT(copied(graph), ElementsAre("s0"));
}

/// A → a, B → b, c is both, then these ops. Tensors: a 0, b 1, c 2, ref 3, o 4, d 5.
Graph concat(std::vector<Op> then) {
  then.insert(then.begin(), {op("A", {}, {0}), op("B", {}, {1}), packed_inputs(op("CAT", {0, 1}, {2}))});
  return graph_of({tensor("a", 64), tensor("b", 64), tensor("c", 128), tensor("ref", 64), tensor("o", 64, kOutput),
                   tensor("d", 192)},
                  std::move(then));
}

TEST(Derivations, APartOfAConcatIsCopiedIfItIsWrittenWhileTheWholeIsNeeded) {
  EXPECT_THAT(copied(concat({refers(op("REF", {0}, {3})), op("O", {2, 3}, {4})})), ElementsAre("a"));
  EXPECT_THAT(copied(concat({op("USE", {2}, {}), refers(op("REF", {0}, {3})), op("O", {3}, {4})})), IsEmpty());
}

TEST(Derivations, APartOfTheWholeCountsToo) {
  // c is [a, b] and is split into s0 and s1; a is written again while s0 is needed, but not c.
  const Graph graph =
      graph_of({tensor("a", 64), tensor("b", 64), tensor("c", 128), tensor("s0", 64), tensor("s1", 64),
                tensor("ref", 64), tensor("o", 64, kOutput)},
               {op("A", {}, {0}), op("B", {}, {1}), packed_inputs(op("CAT", {0, 1}, {2})),
                packed_outputs(op("SPLIT", {2}, {3, 4})), refers(op("REF", {0}, {5})), op("O", {3, 5}, {6})});
  EXPECT_THAT(copied(graph), ElementsAre("a"));
  EXPECT_EQ(analyze(graph).layout.copies.front().reason, "shared bytes would be written again while they are needed");
}

TEST(Derivations, APartOfAPartCountsToo) {
  // d is [c, b2]; a is in d through c, whose own readers are over.
  const auto build = [](std::vector<std::size_t> read) {
    return graph_of(
        {tensor("a", 64), tensor("b", 64), tensor("c", 128), tensor("ref", 64), tensor("o", 64, kOutput),
         tensor("e", 64), tensor("d", 192)},
        {op("A", {}, {0}), op("B", {}, {1}), packed_inputs(op("CAT", {0, 1}, {2})), op("E", {}, {5}),
         packed_inputs(op("CAT2", {2, 5}, {6})), refers(op("REF", {0}, {3})), op("O", std::move(read), {4})});
  };
  EXPECT_EQ(copied(build({3, 6})).size(), 1U) << "one of the two steps from a to d";
  EXPECT_THAT(copied(build({3, 5})), IsEmpty());
}

TEST(Derivations, TheNextIterationCountsToo) {
  const auto build = [](Control control) {
    const Body body{.tensors = {tensor("v", 128), tensor("s0", 64), tensor("ref", 128)},
                    .ops = {op("USE", {1}, {}), refers(op("REF", {0}, {2}))},
                    .inputs = {given(0, 0), given(1, 1)},
                    .outputs = {},
                    .carried = {}};
    return split({controlled(control, op("BODY", {0, 1}, {}), {body})});
  };
  EXPECT_THAT(copied(build(Control::loop)), ElementsAre("s0"));
  EXPECT_THAT(copied(build(Control::call)), IsEmpty());
}

TEST(Derivations, AcrossStreamsReadersMustComeBeforeTheWrite) {
  const auto build = [](std::vector<std::size_t> after) {
    std::vector<Op> then = {op_on(0, "O", {1, 2}, {3}), op_on(1, "ASSIGN", {}, {0}, std::move(after))};
    return split(std::move(then));
  };
  EXPECT_THAT(copied(build({0})), ElementsAre("s0", "s1")) << "after the split, but perhaps before O";
  EXPECT_THAT(copied(build({1})), IsEmpty());
}

}  // namespace
}  // namespace stowage::verification
