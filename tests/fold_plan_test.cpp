#include <optional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rewrite/interface/rewrites.hpp"
#include "stowage/planner.hpp"
#include "stowage/verify.hpp"
#include "support/generators/random_graph.hpp"
#include "support/judges/shadow/shadow.hpp"

/// Plans of random graphs whose constants are folded.
namespace stowage {
namespace {

using ::testing::IsEmpty;

/// The graph with its inputs as constants; nothing where it demands more of them.
std::optional<Graph> with_constants(const Graph& graph) {
  rewrite::Editor editor(graph);
  for (std::size_t t = 0; t < editor.tensors().size(); ++t) {
    Tensor& tensor = editor.tensors()[t];
    if (tensor.flags == TensorFlags(TensorFlag::input)) tensor.flags = TensorFlag::constant;
  }
  Result<Graph> result = std::move(editor).build_graph();
  return result ? std::optional(std::move(*result)) : std::nullopt;
}

TEST(FoldedPlan, IsValidAndKeepsWhatIsFolded) {
  std::size_t with_folded = 0;
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    SCOPED_TRACE(seed);
    const std::optional<Graph> graph = with_constants(testing::random_graph(seed));
    if (!graph) continue;
    const Result<rewrite::Rewritten> folded = rewrite::fold_constants(*graph);
    ASSERT_TRUE(folded) << to_string(folded.error());
    const Result<Planned> planned = plan(folded->graph, {.solver = "skyline"});
    if (!planned) continue;  // a race between streams
    ASSERT_TRUE(planned->plan);
    EXPECT_THAT(verify(folded->graph, *planned->plan), IsEmpty());
    EXPECT_THAT(testing::shadow_execute(folded->graph, *planned->plan, {.runs = 2}).findings, IsEmpty());
    const Summary summary = summarize(*planned);
    EXPECT_EQ(summary.total, summary.weights + summary.peak);
    EXPECT_LE(summary.folded, summary.weights);
    with_folded += summary.folded > Bytes(0) ? 1U : 0U;
  }
  EXPECT_GT(with_folded, 50U);
}

}  // namespace
}  // namespace stowage
