#include "report.hpp"

#include <atomic>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "stowage/io.hpp"
#include "stowage/verify.hpp"

namespace stowage::ggml {
namespace {

/// Number of graphs that this process has reported, over all allocators.
std::atomic<int> reported{0};

void say_if_failed(const Status& status) {
  if (!status) GGML_LOG_WARN("stowage: STOWAGE_GGML_REPORT: %s\n", to_string(status.error()).c_str());
}

/// What is left of a proof about another graph's ops and tensors: the most live bytes are found again, the rest is as
/// good as a search.
BoundProof without_ids(const BoundProof& proof) {
  const bool by_ids =
      proof.argument == BoundProof::Argument::aligned || proof.argument == BoundProof::Argument::unordered;
  if (proof.argument == BoundProof::Argument::live_bytes) return {};
  return by_ids ? BoundProof{.argument = BoundProof::Argument::search} : proof;
}

}  // namespace

Plan in_words_of_full_graph(const PlannedWalk& planned, const Graph& full) {
  Plan result = planned.plan;
  result.graph = full.name();
  result.program.reset();  // it counts the lean graph's ops
  for (Arena& arena : result.arenas) arena.proof = without_ids(arena.proof);
  result.placements.clear();
  std::vector<const Placement*> placement(planned.lean.graph.tensors().size());
  for (const Placement& each : planned.plan.placements) placement[each.tensor.index()] = &each;
  for (std::size_t i = 0; i < full.tensors().size(); ++i) {
    const std::uint32_t tensor = planned.lean.tensor_of[i];
    if (tensor == kNone || !placement[tensor]) continue;
    Placement place = *placement[tensor];
    place.tensor = TensorId(i);
    place.offset += full.root(TensorId(i)).offset;
    place.size = full.tensors()[i].size;
    result.placements.push_back(place);
  }
  return result;
}

Status judge_and_report(const PlannedWalk& planned) {
  const int number = ++reported;
  STOWAGE_TRY(const Graph full, to_full_graph(planned.walk, planned.types, fmt::format("ggml-{}", number)));
  const Plan plan = in_words_of_full_graph(planned, full);
  if (planned.settings.report) {
    const std::string name = fmt::format("{}-{}", *planned.settings.report, number);
    say_if_failed(write_file(name + ".graph.json", graph_to_json(full)));
    say_if_failed(write_file(name + ".plan.json", plan_to_json(full, plan)));
  }
  if (!planned.settings.verify) return Done{};
  const std::vector<Finding> findings = verify(full, plan, {.max_findings = 1});
  if (!findings.empty()) return Error{ErrorCode::invalid, findings.front().message, {}};
  return Done{};
}

}  // namespace stowage::ggml
