#include "stowage/alloc/graph_allocator.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "alloc/buffer_set.hpp"
#include "alloc/interface/aligned_buffer.hpp"
#include "alloc/kept_plan.hpp"
#include "alloc/plan_match.hpp"
#include "alloc/served_graph.hpp"

namespace stowage {
namespace {

using alloc::BufferSet;
using alloc::ChunkList;
using alloc::KeptPlan;
using alloc::Match;
using alloc::Need;

/// By position in `types`: the index of the type in `different`.
std::vector<std::size_t> number_types(const std::vector<BufferType*>& types, std::vector<BufferType*>& different) {
  std::vector<std::size_t> numbers;
  for (BufferType* const type : types) {
    STOWAGE_CHECK(type != nullptr, "a buffer type is null");
    const auto found = std::find(different.begin(), different.end(), type);
    numbers.push_back(static_cast<std::size_t>(found - different.begin()));
    if (found == different.end()) different.push_back(type);
  }
  return numbers;
}

std::optional<alloc::VirtualSource> source_of(const BufferType& type, const GraphAllocatorOptions& options) {
  for (Device* const device : options.virtual_memory) {
    if (device == nullptr || device->id() != type.device() || device->virtual_memory() == nullptr) continue;
    const Bytes granularity = device->virtual_memory()->granularity();
    const Bytes page = align_up(std::max(options.page_size, Bytes(1)), granularity);
    const Bytes pages((options.address_space.value() + page.value() - 1) / page.value() * page.value());
    return alloc::VirtualSource{device, pages, page};
  }
  return std::nullopt;
}

/// Those of all types for shared memory, then those for session memory (`KeptPlan`).
std::vector<ChunkList> chunk_lists(const std::vector<BufferType*>& different, const GraphAllocatorOptions& options) {
  std::vector<ChunkList> lists;
  for (const alloc::Content content : {alloc::Content::lost, alloc::Content::kept}) {
    for (BufferType* const type : different) lists.emplace_back(*type, source_of(*type, options), content);
  }
  return lists;
}

/// A plan, or an error that says why there is none.
Result<Plan> make_plan(const Graph& graph, PlanOptions options) {
  options.base = AddressBase::refreshable;  // chunks move when they grow
  STOWAGE_TRY(Planned planned, plan(graph, options));
  if (planned.status == SolveStatus::timed_out && !options.capacity && !options.capacity_total) {
    // Callers need some plan, however late; online best fit always finds one, quickly.
    options.solver = "online_best_fit";
    options.time_limit.reset();
    options.node_budget.reset();
    STOWAGE_TRY(planned, plan(graph, options));
  }
  if (planned.has_answer()) return std::move(*planned.plan);
  const bool limited = options.capacity || options.capacity_total;
  const std::string shortage = limited ? ": " + shortage_text(planned) : "";
  return Error{ErrorCode::out_of_memory,
               fmt::format("no plan for graph '{}': {}{}", graph.name(), to_string(planned.status), shortage),
               {}};
}

}  // namespace

class GraphAllocator::State {
 public:
  State(const std::vector<BufferType*>& types, GraphAllocatorOptions options)
      : options_(std::move(options)),
        number_of_(number_types(types, different_)),
        buffers_(chunk_lists(different_, options_)) {
    STOWAGE_CHECK(!types.empty(), "a graph allocator has no buffer type");
    STOWAGE_CHECK(options_.max_graphs > 0, "a graph allocator keeps no plan");
  }

  Status reserve(const Graph& graph);
  Result<std::vector<Bytes>> reserve_sizes(const Graph& graph) const;
  Result<const Allocation*> allocate(const Graph& graph);
  Status trim();
  Status trim(const Graph& graph);
  Result<alloc::ServedGraph> served(const Graph& graph) const;
  Status bind(std::span<const BoundMemory> memories);

  /// The index of the type in `different_`; nothing if the same type occurred earlier in the list.
  [[nodiscard]] std::optional<std::size_t> number(std::size_t type) const {
    STOWAGE_CHECK(type < number_of_.size(), "there is no such buffer type");
    const auto first = std::find(number_of_.begin(), number_of_.end(), number_of_[type]);
    if (first != number_of_.begin() + static_cast<std::ptrdiff_t>(type)) return std::nullopt;
    return number_of_[type];
  }
  [[nodiscard]] const BufferSet& buffers() const { return buffers_; }
  /// Fixed and session memory of a type, by its index in `different_`.
  [[nodiscard]] Bytes permanent_size(std::size_t number) const;
  [[nodiscard]] Replan last_replan() const { return last_replan_; }
  [[nodiscard]] std::size_t graph_count() const { return kept_.size(); }
  [[nodiscard]] const GraphAllocatorCounters& counters() const {
    counters_.buffer_allocations = buffers_.buffers_made();
    counters_.growths = buffers_.growths();
    return counters_;
  }

 private:
  struct Found {
    std::size_t at = 0;  ///< Index of the plan that fits; beyond the last: none fits.
    Match match = {};    ///< If none fits: why not, for the one that came closest.
  };

  [[nodiscard]] Found find(const Graph& graph) const;
  Result<std::unique_ptr<KeptPlan>> make(const Graph& graph) const;
  /// Makes a plan and buffers for it, and puts it first in `kept_`.
  Status take_in(const Graph& graph);
  Status bind(KeptPlan& kept, std::span<const Need> needs);
  /// Makes sure that there are buffers and addresses for a graph that the plan fits.
  Status serve(KeptPlan& kept, const Graph& graph, bool unchanged);
  Error refuse(const Graph& graph);
  [[nodiscard]] std::vector<std::optional<Bytes>> chunk_limits() const;
  /// Moves a plan to the front.
  void use(std::size_t at) {
    const auto plan = kept_.begin() + static_cast<std::ptrdiff_t>(at);
    std::rotate(kept_.begin(), plan, plan + 1);
  }

  GraphAllocatorOptions options_;
  std::vector<BufferType*> different_;
  std::vector<std::size_t> number_of_;  ///< By type: its index in `different_`.
  BufferSet buffers_;
  std::vector<std::unique_ptr<KeptPlan>> kept_;  ///< Most recently used first.
  bool trimmed_ = false;                         ///< Buffers may be smaller than the plans need.
  Replan last_replan_;
  mutable GraphAllocatorCounters counters_;
};

Result<alloc::ServedGraph> GraphAllocator::State::served(const Graph& graph) const {
  std::vector<alloc::ServingType> types;
  for (std::size_t i = 0; i < different_.size(); ++i) types.push_back({different_[i], buffers_[i].limit()});
  return alloc::serve_graph(graph, types, number_of_);
}

/// Tries the plans in order of last use. Takes the first that fits if it last served this very graph; otherwise one
/// made for graphs of exactly this total size, so that a graph returns to its addresses; otherwise the first that fits.
GraphAllocator::State::Found GraphAllocator::State::find(const Graph& graph) const {
  Found found{kept_.size(), {.misfit = {.reason = ReplanReason::first}, .unchanged = false}};
  const auto some = [&] { return found.at < kept_.size(); };
  for (std::size_t at = 0; at < kept_.size(); ++at) {
    if (some() && kept_[at]->total() != found.match.total) continue;
    const Match match = kept_[at]->match(graph);
    if (match.misfit.reason != ReplanReason::none) {
      if (!some() && match.misfit.reason > found.match.misfit.reason) found.match = match;
      continue;
    }
    if (match.unchanged || kept_[at]->total() == match.total) return {at, match};
    found = {at, match};
  }
  return found;
}

Result<std::unique_ptr<KeptPlan>> GraphAllocator::State::make(const Graph& graph) const {
  STOWAGE_TRY(const alloc::ServedGraph served, this->served(graph));
  STOWAGE_TRY(Plan plan, make_plan(served.graph, options_.plan));
  return std::make_unique<KeptPlan>(graph, served, std::move(plan), alloc::TypesOf{different_, number_of_});
}

Status GraphAllocator::State::take_in(const Graph& graph) {
  // Bases may turn out unaligned, so that the largest buffer holds less than the plan assumed. Once that is known, a
  // second plan takes it into account.
  for (bool again = true;; again = false) {
    const std::vector<std::optional<Bytes>> limits = chunk_limits();
    STOWAGE_TRY(std::unique_ptr<KeptPlan> made, make(graph));
    STOWAGE_TRY_STATUS(made->make_fixed(different_));
    if (Status bound = bind(*made, made->needs()); !bound) {
      if (again && limits != chunk_limits()) continue;
      return bound;
    }
    for (std::size_t type = 0; type < different_.size(); ++type) {
      if (made->pins_session(type)) buffers_.pin(different_.size() + type);
    }
    ++counters_.plans;
    kept_.insert(kept_.begin(), std::move(made));
    if (kept_.size() > options_.max_graphs) kept_.pop_back();
    return Done{};
  }
}

std::vector<std::optional<Bytes>> GraphAllocator::State::chunk_limits() const {
  std::vector<std::optional<Bytes>> limits;
  for (std::size_t i = 0; i < different_.size(); ++i) limits.push_back(buffers_[i].limit());
  return limits;
}

Status GraphAllocator::State::bind(KeptPlan& kept, std::span<const Need> needs) {
  STOWAGE_TRY(alloc::RegionBuffers buffers, buffers_.provide(needs));
  kept.bind(std::move(buffers), buffers_);
  return Done{};
}

Status GraphAllocator::State::reserve(const Graph& graph) {
  const Found found = find(graph);
  last_replan_ = found.match.misfit;
  if (found.at == kept_.size()) return take_in(graph);
  KeptPlan& kept = *kept_[found.at];
  if (trimmed_ || !kept.is_bound(buffers_.version())) STOWAGE_TRY_STATUS(bind(kept, kept.needs()));
  use(found.at);
  return Done{};
}

Result<std::vector<Bytes>> GraphAllocator::State::reserve_sizes(const Graph& graph) const {
  std::unique_ptr<KeptPlan> made;
  const Found found = find(graph);
  if (found.at == kept_.size()) {
    STOWAGE_TRY(made, make(graph));
  }
  const KeptPlan& kept = *(made ? made : kept_[found.at]);
  std::vector<Bytes> sizes(number_of_.size());
  for (std::size_t type = 0; type < sizes.size(); ++type) {
    if (!number(type)) continue;
    sizes[type] = kept.fixed_size(*number(type));
    for (const std::size_t list : {*number(type), different_.size() + *number(type)}) {
      for (const Bytes top : kept.needs()[list].tops) sizes[type] += top;
    }
  }
  return sizes;
}

Result<const Allocation*> GraphAllocator::State::allocate(const Graph& graph) {
  const Found found = find(graph);
  last_replan_ = found.match.misfit;
  if (found.at == kept_.size()) {
    if (different_.size() > 1) return refuse(graph);
    STOWAGE_TRY_STATUS(take_in(graph));
    ++counters_.replans;
  } else {
    STOWAGE_TRY_STATUS(serve(*kept_[found.at], graph, found.match.unchanged));
    ++(found.match.unchanged ? counters_.hits : counters_.fits_smaller);
    use(found.at);
  }
  buffers_.reset(different_.size());
  return &kept_.front()->allocation();
}

Error GraphAllocator::State::refuse(const Graph& graph) {
  ++counters_.refusals;
  return {
      ErrorCode::not_reserved,
      fmt::format("graph '{}' must be reserved first, because there are several buffer types and no plan fits it: {}",
                  graph.name(), to_string(last_replan_)),
      {}};
}

Status GraphAllocator::State::serve(KeptPlan& kept, const Graph& graph, bool unchanged) {
  const bool bound = kept.is_bound(buffers_.version());
  if (bound && unchanged) return Done{};
  // After a trim, memory is taken again only as far as this graph needs it.
  if (trimmed_) {
    STOWAGE_TRY_STATUS(bind(kept, kept.needs_of(graph)));
  } else if (!bound) {
    STOWAGE_TRY_STATUS(bind(kept, kept.needs()));
  }
  if (!unchanged) kept.serve(graph);
  return Done{};
}

Status GraphAllocator::State::bind(std::span<const BoundMemory> memories) {
  if (kept_.empty()) return Error{ErrorCode::invalid, "a tensor is bound before any graph was allocated", {}};
  std::vector<alloc::AddressRange> taken;
  for (std::size_t list = 0; list < buffers_.size(); ++list) {
    for (std::size_t chunk = 0; chunk < buffers_[list].size(); ++chunk)
      taken.push_back({buffers_[list][chunk].base(), buffers_[list][chunk].size()});
  }
  for (const std::unique_ptr<KeptPlan>& kept : kept_) {
    for (const std::unique_ptr<Buffer>& buffer : kept->fixed()) taken.push_back({buffer->base(), buffer->size()});
  }
  return kept_.front()->bind(memories, taken);
}

Bytes GraphAllocator::State::permanent_size(std::size_t number) const {
  Bytes sum = buffers_[different_.size() + number].bytes();
  for (const std::unique_ptr<KeptPlan>& kept : kept_) sum += kept->fixed_size(number);
  return sum;
}

Status GraphAllocator::State::trim() {
  if (kept_.empty()) return Done{};
  KeptPlan& kept = *kept_.front();
  STOWAGE_CHECK(kept.is_bound(buffers_.version()), "the last graph has lost its buffers");
  const Status trimmed = buffers_.trim(kept.buffers(), kept.ends(), counters_.bytes_returned);
  kept.keep_bound(buffers_.version());
  trimmed_ = true;
  return trimmed;
}

Status GraphAllocator::State::trim(const Graph& graph) {
  last_replan_ = find(graph).match.misfit;
  STOWAGE_TRY_STATUS(take_in(graph));
  return trim();
}

// ----------------------------------------------------------------------------------------------------- GraphAllocator

GraphAllocator::GraphAllocator(std::vector<BufferType*> types, GraphAllocatorOptions options)
    : state_(std::make_unique<State>(types, std::move(options))) {}
GraphAllocator::GraphAllocator(BufferType& type, GraphAllocatorOptions options)
    : GraphAllocator(std::vector<BufferType*>{&type}, std::move(options)) {}
GraphAllocator::~GraphAllocator() = default;
GraphAllocator::GraphAllocator(GraphAllocator&& other) noexcept = default;
GraphAllocator& GraphAllocator::operator=(GraphAllocator&& other) noexcept = default;

Status GraphAllocator::reserve(const Graph& graph) { return state_->reserve(graph); }
Result<std::vector<Bytes>> GraphAllocator::reserve_sizes(const Graph& graph) const {
  return state_->reserve_sizes(graph);
}
Result<const Allocation*> GraphAllocator::allocate(const Graph& graph) { return state_->allocate(graph); }
Status GraphAllocator::bind(std::span<const BoundMemory> memories) { return state_->bind(memories); }
Status GraphAllocator::trim() { return state_->trim(); }
Status GraphAllocator::trim(const Graph& graph) { return state_->trim(graph); }
Result<Graph> GraphAllocator::as_served(const Graph& graph) const {
  STOWAGE_TRY(alloc::ServedGraph served, state_->served(graph));
  return std::move(served.graph);
}

Bytes GraphAllocator::buffer_size(std::size_t type) const {
  const std::optional<std::size_t> number = state_->number(type);
  return number ? state_->buffers()[*number].bytes() : Bytes(0);
}

Bytes GraphAllocator::permanent_size(std::size_t type) const {
  const std::optional<std::size_t> number = state_->number(type);
  return number ? state_->permanent_size(*number) : Bytes(0);
}

std::size_t GraphAllocator::buffer_count(std::size_t type) const {
  const std::optional<std::size_t> number = state_->number(type);
  return number ? state_->buffers()[*number].size() : 0;
}

Buffer& GraphAllocator::buffer(std::size_t type, std::size_t chunk) const {
  STOWAGE_CHECK(chunk < buffer_count(type), "there is no such buffer");
  return state_->buffers()[*state_->number(type)][chunk];
}

Replan GraphAllocator::last_replan() const { return state_->last_replan(); }
const GraphAllocatorCounters& GraphAllocator::counters() const { return state_->counters(); }
std::size_t GraphAllocator::graph_count() const { return state_->graph_count(); }

}  // namespace stowage
