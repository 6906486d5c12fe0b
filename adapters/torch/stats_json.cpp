#include "stats_json.hpp"

#include <string_view>
#include <type_traits>

#include <fmt/format.h>

namespace stowage::torch {
namespace {

class Object {
 public:
  template <class T>
  Object& add(std::string_view name, T value) {
    if constexpr (std::is_same_v<T, Bytes>) {
      return add_text(name, fmt::format("{}", value.value()));
    } else {
      return add_text(name, fmt::format("{}", value));
    }
  }
  Object& add_text(std::string_view name, std::string_view value) {
    text_ += fmt::format("{}\"{}\":{}", text_.empty() ? "" : ",", name, value);
    return *this;
  }
  [[nodiscard]] std::string text() const { return fmt::format("{{{}}}", text_); }

 private:
  std::string text_;
};

std::string ahead_json(const PlanAheadCounts& counts) {
  return Object()
      .add("plans", counts.plans)
      .add("refusals", counts.refusals)
      .add("planned", counts.planned)
      .add("plan_bytes", counts.plan_size)
      .add("plan_bound_bytes", counts.plan_bound)
      .add("plan_seconds", counts.plan_seconds)
      .add("served", counts.served)
      .add("unplanned", counts.unplanned)
      .add("deviated", counts.deviated)
      .add("blocked", counts.blocked)
      .add("sheltered", counts.sheltered)
      .text();
}

std::string pools_json(const GraphPools::Figures& figures) {
  return Object()
      .add("count", figures.pools)
      .add("live", figures.sum.live)
      .add("requested_bytes", figures.sum.requested)
      .add("reserved_bytes", figures.sum.reserved)
      .text();
}

}  // namespace

/// The reserved bytes and their peak are those of the page pool, which all allocators of the device share.
std::string to_json(const Figures& figures) {
  const AllocatorStats& stats = figures.ordinary;
  const AllocatorStats& pools = figures.pools.sum;
  const Bytes reserved = figures.pages ? figures.pages->created : stats.reserved + pools.reserved;
  const Bytes reserved_peak = figures.pages ? figures.pages->created_peak : stats.reserved_peak + pools.reserved;
  Object object;
  object.add("device", figures.device)
      .add("requested_bytes", stats.requested + pools.requested)
      .add("rounded_bytes", stats.rounded + pools.rounded)
      .add("reserved_bytes", reserved)
      .add("requested_peak_bytes", stats.requested_peak)
      .add("rounded_peak_bytes", stats.rounded_peak)
      .add("reserved_peak_bytes", reserved_peak)
      .add("largest_idle_bytes", stats.largest_idle)
      .add("live", stats.live + pools.live)
      .add("allocations", stats.allocations)
      .add("failures", stats.failures)
      .add("creates", stats.creates)
      .add("releases", stats.releases)
      .add("maps", stats.maps)
      .add("unmaps", stats.unmaps)
      .add("access_calls", stats.access_calls)
      .add("event_waits", stats.event_waits)
      .add_text("graph_pools", pools_json(figures.pools))
      .add_text("plan_ahead", figures.ahead ? ahead_json(*figures.ahead) : "null");
  return object.text();
}

}  // namespace stowage::torch
