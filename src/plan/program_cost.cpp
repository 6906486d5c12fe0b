#include "stowage/plan/program_cost.hpp"

#include <algorithm>
#include <map>

#include "plan/interface/plan_file.hpp"

namespace stowage {
namespace {

using Kind = ProgramStep::Kind;

/// Adds up steps, apart for each batch.
template <class Batch>
class Costs {
 public:
  /// `bytes`: what a fill or copy writes.
  void add(const Batch& batch, Kind kind, Bytes bytes) {
    ProgramCost& cost = of_[batch];
    if (kind == Kind::wait) ++cost.waits;
    if (kind == Kind::fill) ++cost.fills;
    if (kind == Kind::fill) cost.filled += bytes;
    if (kind == Kind::copy) ++cost.copies;
    if (kind == Kind::copy) cost.copied += bytes;
  }

  /// What all batches have in common is that of `Batch{}`.
  [[nodiscard]] ProgramCost most() {
    const ProgramCost common = of_[Batch{}];
    ProgramCost most = common;
    for (const auto& [batch, own] : of_) {
      if (batch == Batch{}) continue;
      most.waits = std::max(most.waits, common.waits + own.waits);
      most.fills = std::max(most.fills, common.fills + own.fills);
      most.filled = std::max(most.filled, common.filled + own.filled);
      most.copies = std::max(most.copies, common.copies + own.copies);
      most.copied = std::max(most.copied, common.copied + own.copied);
    }
    return most;
  }

 private:
  std::map<Batch, ProgramCost> of_;
};

/// The size of entry `index`; nothing if the file does not have it.
template <class Entry>
Bytes size_at(const std::vector<InBody<Entry>>& list, std::uint32_t index) {
  return index < list.size() ? list[index].entry.size : Bytes(0);
}

}  // namespace

ProgramCost cost_of(const Plan& plan) {
  Costs<std::uint32_t> costs;
  if (!plan.program) return {};
  for (const ProgramStep& step : plan.program->steps) {
    Bytes bytes;
    if (step.kind == Kind::fill) bytes = plan.clears[step.index].size;
    if (step.kind == Kind::copy) bytes = plan.copies[step.index].size;
    costs.add(step.batch, step.kind, bytes);
  }
  return costs.most();
}

std::optional<ProgramCost> cost_of(const PlanFile& file) {
  Costs<std::string> costs;
  if (!file.program) return std::nullopt;
  for (const auto& [step, body, name] : *file.program) {
    Bytes bytes;
    if (step.kind == Kind::fill) bytes = size_at(file.clears, step.index);
    if (step.kind == Kind::copy) bytes = size_at(file.copies, step.index);
    costs.add(step.batch, step.kind, bytes);
  }
  return costs.most();
}

}  // namespace stowage
