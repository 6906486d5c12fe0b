#include "alloc/run/answer_sources.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "graph/interface/relations.hpp"

namespace stowage {

void AddressRanges::add(const std::byte* address, Bytes size, std::uint32_t number) {
  if (address == nullptr || size == Bytes(0)) return;
  const auto begin = reinterpret_cast<std::uintptr_t>(address);
  entries_.push_back({begin, begin + static_cast<std::uintptr_t>(size.value()), number});
}

void AddressRanges::sort() {
  std::sort(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) { return a.begin < b.begin; });
  std::uintptr_t reach = 0;
  for (Entry& entry : entries_) entry.reach = reach = std::max(reach, entry.end);
}

template <class F>
void AddressRanges::visit(const std::byte* address, Bytes size, F&& f) const {
  const auto begin = reinterpret_cast<std::uintptr_t>(address);
  const std::uintptr_t end = begin + static_cast<std::uintptr_t>(size.value());
  auto at = std::lower_bound(entries_.begin(), entries_.end(), end,
                             [](const Entry& entry, std::uintptr_t limit) { return entry.begin < limit; });
  while (at != entries_.begin() && (--at)->reach > begin) {
    if (at->end > begin) f(at->number);
  }
}

AnswerSources::AnswerSources(const Graph& graph, const Allocation& allocation, Device& device, bool loops)
    : graph_(graph), allocation_(allocation), device_(device), loops_(loops) {
  if (!graph.has_bodies()) return;
  AddressRanges asked;
  collect_inputs(asked);
  asked.sort();
  collect_writes(asked);
  writes_.sort();
  taken_.resize(events_.size());
}

bool AnswerSources::asks(OpId op) const {
  if (graph_.op(op).control == Control::loop) return loops_;
  return graph_.bodies(op).size() > 1;
}

/// Those of the first iteration, and what the next ones find in their place.
void AnswerSources::collect_inputs(AddressRanges& asked) const {
  const auto add = [&](TensorId tensor) {
    asked.add(allocation_.tensors[tensor.index()].data(), graph_.tensor(tensor).size, 0);
  };
  for (std::size_t k = 0; k < graph_.ops().size(); ++k) {
    if (!asks(OpId(k))) continue;
    for (const std::optional<TensorId>& input : graph_.ops()[k].inputs)
      if (input) add(*input);
    for (const ScopeId body : graph_.bodies(OpId(k)))
      for (const Carried& pair : graph_.scope(body).carried) add(pair.in);
  }
  for (const CopiedInput& copied : allocation_.copied_inputs) {
    if (asks(copied.op))
      asked.add(copied.address.data(), graph_.tensor(*graph_.op(copied.op).inputs[copied.input]).size, 0);
  }
}

void AnswerSources::collect_writes(const AddressRanges& asked) {
  std::set<OpId> packed;
  for (const Group& group : graph_.relations().groups)
    if (group.kind == Contiguity::packed && group.whole) packed.insert(group.op);
  const std::vector<ProgramStep>& steps = allocation_.plan.program->steps;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (steps[i].kind == ProgramStep::Kind::copy) {
      add_write(asked, i, allocation_.copies[steps[i].index].to.data(), allocation_.plan.copies[steps[i].index].size);
    } else if (steps[i].kind == ProgramStep::Kind::op) {
      const Op& op = graph_.op(OpId(steps[i].index));
      if (packed.contains(OpId(steps[i].index)) || op.control != Control::none) continue;
      for (const TensorId output : op.outputs)
        add_write(asked, i, allocation_.tensors[output.index()].data(), graph_.tensor(output).size);
    }
  }
}

void AnswerSources::add_write(const AddressRanges& asked, std::size_t step, const std::byte* address, Bytes size) {
  if (address == nullptr || size == Bytes(0)) return;
  bool matters = false;
  asked.visit(address, size, [&](std::uint32_t) { matters = true; });
  if (!matters) return;
  if (number_.empty()) number_.resize(allocation_.plan.program->steps.size(), kNone);
  if (number_[step] == kNone) {
    number_[step] = static_cast<std::uint32_t>(events_.size());
    events_.emplace_back();
  }
  writes_.add(address, size, number_[step]);
}

Status AnswerSources::submitted(std::size_t step, StreamId stream) {
  if (number_.empty() || number_[step] == kNone) return Done{};
  std::optional<EventId>& event = events_[number_[step]];
  if (event) device_.forget(*std::exchange(event, std::nullopt));
  STOWAGE_TRY(event, device_.record(stream));
  return Done{};
}

const std::vector<EventId>& AnswerSources::find(const OpCall& call) {
  found_.clear();
  if (number_.empty()) return found_;
  const Op& op = graph_.op(call.op);
  std::fill(taken_.begin(), taken_.end(), false);
  for (std::size_t i = 0; i < op.inputs.size(); ++i) {
    if (call.inputs[i] == nullptr) continue;
    writes_.visit(call.inputs[i], graph_.tensor(*op.inputs[i]).size, [&](std::uint32_t number) {
      if (!events_[number] || taken_[number]) return;
      taken_[number] = true;
      found_.push_back(*events_[number]);
    });
  }
  return found_;
}

void AnswerSources::forget() {
  for (std::optional<EventId>& event : events_)
    if (event) device_.forget(*std::exchange(event, std::nullopt));
}

}  // namespace stowage
