#include "recheck.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

namespace stowage::cli {
namespace {

using Key = std::pair<MemoryId, ArenaKind>;

bool is_given(const Arena& arena) { return arena.kind == ArenaKind::ring || arena.kind == ArenaKind::user; }

PlanOptions planning_options(const Plan& plan, const VerifyOptions& rules, std::chrono::nanoseconds time_limit) {
  PlanOptions options;
  options.keep_inputs = rules.keep_inputs;
  options.base = rules.base;
  options.region_limit = rules.region_limit;
  options.padding = rules.padding.value_or(plan.padding);
  options.time_limit = time_limit;
  return options;
}

std::map<Key, RecheckedBound> claims_of(const Plan& plan) {
  std::map<Key, RecheckedBound> bounds;
  for (const Arena& arena : plan.arenas) {
    if (is_given(arena)) continue;
    RecheckedBound& bound = bounds[{arena.memory, arena.kind}];
    bound.arenas += fmt::format("{}'{}'", bound.arenas.empty() ? "" : ", ", arena.name);
    bound.claimed += arena.lower_bound;
  }
  return bounds;
}

}  // namespace

std::string_view to_string(Recheck verdict) {
  switch (verdict) {
    case Recheck::confirmed:
      return "confirmed";
    case Recheck::refuted:
      return "refuted";
    case Recheck::undecided:
      return "undecided";
  }
  return "unknown";
}

Result<std::vector<RecheckedBound>> recheck(const Graph& graph, const Plan& plan, const VerifyOptions& rules,
                                            std::chrono::nanoseconds time_limit) {
  STOWAGE_TRY(const Planned again, stowage::plan(graph, planning_options(plan, rules, time_limit)));
  std::map<Key, RecheckedBound> bounds = claims_of(plan);
  for (std::size_t a = 0; again.plan && a < again.plan->arenas.size(); ++a) {
    const Arena& arena = again.plan->arenas[a];
    const auto bound = bounds.find({arena.memory, arena.kind});
    if (bound == bounds.end()) continue;
    bound->second.proven += arena.lower_bound;
    bound->second.found += arena.size;
  }
  std::vector<RecheckedBound> result;
  for (auto& [key, bound] : bounds) {
    const bool smaller = again.plan && bound.found < bound.claimed;
    bound.verdict = smaller                         ? Recheck::refuted
                    : bound.proven >= bound.claimed ? Recheck::confirmed
                                                    : Recheck::undecided;
    result.push_back(std::move(bound));
  }
  return result;
}

Recheck verdict_of(const std::vector<RecheckedBound>& bounds) {
  const auto any = [&](Recheck verdict) {
    return std::any_of(bounds.begin(), bounds.end(), [&](const auto& bound) { return bound.verdict == verdict; });
  };
  if (any(Recheck::refuted)) return Recheck::refuted;
  return any(Recheck::undecided) ? Recheck::undecided : Recheck::confirmed;
}

std::string recheck_text(const std::vector<RecheckedBound>& bounds) {
  std::string text;
  for (const RecheckedBound& bound : bounds) {
    const std::int64_t claimed = bound.claimed.value();
    std::string why;
    if (bound.verdict == Recheck::confirmed) why = fmt::format("the bound {} was proven again", claimed);
    if (bound.verdict == Recheck::refuted)
      why = fmt::format("a plan of {} bytes exists, below the bound {}", bound.found.value(), claimed);
    if (bound.verdict == Recheck::undecided)
      why = fmt::format("in the time, no plan below the bound {} was found, and {} was proven", claimed,
                        bound.proven.value());
    text += fmt::format("  recheck: arena {}: {}: {}\n", bound.arenas, to_string(bound.verdict), why);
  }
  return text;
}

std::string recheck_json(const std::vector<RecheckedBound>& bounds) {
  std::string list;
  for (const RecheckedBound& bound : bounds) {
    list += fmt::format(R"({}{{"lower_bound":{},"proven":{},"found":{},"verdict":"{}"}})", list.empty() ? "" : ",",
                        bound.claimed.value(), bound.proven.value(), bound.found.value(), to_string(bound.verdict));
  }
  return fmt::format(R"({{"verdict":"{}","bounds":[{}]}})", to_string(verdict_of(bounds)), list);
}

}  // namespace stowage::cli
