#include "verify/conflicts.hpp"

#include <algorithm>

namespace stowage::verification {

bool Conflicts::is_new(HolderId a, HolderId b) { return !quiet_ && reported_.insert(std::minmax(a, b)).second; }

bool Conflicts::is_padding(ClaimId a, ClaimId b, ByteRange shared) const {
  const auto within = [&](ClaimId claim) { return facts_.claims[claim].content().overlaps(shared); };
  return !within(a) || !within(b);
}

Conflicts::Need Conflicts::need_of(HolderId holder) const {
  const Values& values = facts_.input.values;
  if (facts_.claims.is_value(holder)) {
    const Value& value = values[ValueId(holder)];
    if (value.begin == kNever) return {kStart, kNever};  // no op accesses it, but a copy or a loop does
    return {value.begin, value.end};
  }
  OpId op;
  if (facts_.claims.is_clear(holder)) {
    op = facts_.clears[facts_.claims.clear(holder)].before;
  } else {
    const CopyEntry& copy = facts_.copies[facts_.claims.copy(holder)];
    op = copy.when.op;
  }
  for (std::size_t i = 0; i < values.steps(); ++i) {
    const Step step(static_cast<std::int64_t>(i));
    if (values.op_at(step) == op) return {step, step};
  }
  return {kStart, kStart};
}

std::string Conflicts::name(ClaimId claim) const { return describe(facts_.input.graph, facts_.claims[claim].subject); }

std::string Conflicts::name(Step step) const {
  if (step < Step(0)) return "the start";
  if (step >= Step(static_cast<std::int64_t>(facts_.input.values.steps()))) return "the end";
  return describe_step(facts_.input.graph, facts_.input.values.op_at(step));
}

std::string Conflicts::describe_pair(ClaimId earlier, ClaimId later, ByteRange shared) const {
  const Claim& a = facts_.claims[earlier];
  const Claim& b = facts_.claims[later];
  const char* const kind = is_padding(earlier, later, shared) ? "padding" : "bytes";
  return fmt::format("{} {} and {} {} of arena '{}' share {} {}", name(earlier), describe(a.bytes), name(later),
                     describe(b.bytes), facts_.input.plan.arenas[b.arena.index()].name, kind, describe(shared));
}

std::string Conflicts::describe_needs(ClaimId earlier, ClaimId later) const {
  const Need a = need_of(facts_.claims[earlier].holder);
  const Need b = need_of(facts_.claims[later].holder);
  return fmt::format("; {} is needed from {} to {}, {} from {} to {}", name(earlier), name(a.begin), name(a.end),
                     name(later), name(b.begin), name(b.end));
}

void Conflicts::overwritten(ClaimId earlier, ClaimId later, ByteRange shared,
                            std::optional<std::pair<Moment, Moment>> unordered) {
  const bool padding = is_padding(earlier, later, shared);
  if (!is_new(facts_.claims[earlier].holder, facts_.claims[later].holder)) return;
  const HolderId holder = facts_.claims[earlier].holder;
  const bool earlier_is_input =
      facts_.claims.is_value(holder) && facts_.input.values[ValueId(holder)].flags.has(TensorFlag::input);
  const Step begin = need_of(facts_.claims[later].holder).begin;
  std::string why = "while both are needed at " + name(std::max(begin, Step(0)));
  if (unordered && need_of(facts_.claims[earlier].holder).end < begin) {
    const Graph& graph = facts_.input.graph;
    const auto [first, second] = *unordered;
    const bool unread = first.op == second.op && earlier_is_input;
    why = unread ? fmt::format("while {}, which is not read in this run, is needed until {} is over", name(earlier),
                               describe_step(graph, OpId(first.op)))
                 : fmt::format("while nothing orders {} before {}", describe_step(graph, OpId(first.op)),
                               describe_step(graph, OpId(second.op)));
  }
  findings_.add(padding ? Rule::padding : Rule::overlap, "{} {}{}", describe_pair(earlier, later, shared), why,
                describe_needs(earlier, later));
}

void Conflicts::lost(ClaimId wanted, ClaimId found, ByteRange shared, std::optional<Moment> moment) {
  const HolderId holder = facts_.claims[wanted].holder;
  if (found == kNobody && !facts_.claims[wanted].content().overlaps(shared)) return;
  const bool padding = found != kNobody && is_padding(wanted, found, shared);
  if (!is_new(holder, found == kNobody ? holder : facts_.claims[found].holder)) return;
  const std::string when = moment ? describe_step(facts_.input.graph, OpId(moment->op)) : "the end";
  if (found == kNobody) {
    findings_.add(Rule::overlap, "{} {} is needed at {}, but on some path to it nothing writes bytes {}", name(wanted),
                  describe(facts_.claims[wanted].bytes), when, describe(shared));
    return;
  }
  const Step begin = need_of(facts_.claims[found].holder).begin;
  const bool both = need_of(holder).end >= begin;
  const std::string why = both ? "both are needed at " + name(std::max(begin, Step(0)))
                               : fmt::format("{} is needed again at {}", name(wanted), when);
  findings_.add(padding ? Rule::padding : Rule::overlap, "{} while {}{}", describe_pair(wanted, found, shared), why,
                describe_needs(wanted, found));
}

std::string Conflicts::describe_rewrite(const LostBytes& lost) const {
  const Graph& graph = facts_.input.graph;
  const ArenaId arena = facts_.claims[facts_.claims.first(lost.value)].arena;
  return fmt::format("{} writes {}, and with it bytes {} of arena '{}', which are bytes of {} too",
                     describe_step(graph, lost.by.op), describe(graph, lost.by.tensor), describe(lost.bytes),
                     facts_.input.plan.arenas[arena.index()].name, describe(graph, lost.wanted));
}

void Conflicts::rewritten(const LostBytes& lost, std::optional<Moment> moment) {
  const Graph& graph = facts_.input.graph;
  if (!is_new(lost.value, static_cast<HolderId>(facts_.input.values.of(lost.by.tensor).index()))) return;
  findings_.add(Rule::overlap, "{}; {} needs their former value", describe_rewrite(lost),
                moment ? describe_step(graph, OpId(moment->op)) : "the caller or the next run");
}

void Conflicts::rewritten_too_early(const LostBytes& lost, Moment moment) {
  const Graph& graph = facts_.input.graph;
  if (!is_new(lost.value, static_cast<HolderId>(facts_.input.values.of(lost.by.tensor).index()))) return;
  const bool same = OpId(moment.op) == lost.by.op;
  findings_.add(
      Rule::overlap, "{}; {}", describe_rewrite(lost),
      same ? "the same op reads them"
           : fmt::format("nothing orders {}, which accesses them, before that", describe_step(graph, OpId(moment.op))));
}

void Conflicts::unfilled(OpId op, ClaimId wanted, std::uint8_t value, ByteRange bytes, ClaimId found) {
  if (!is_new(facts_.claims[wanted].holder, facts_.claims[wanted].holder)) return;
  const Graph& graph = facts_.input.graph;
  findings_.add(Rule::fill, "{} {} must be filled with {} when {} starts, but bytes {} of arena '{}' {}", name(wanted),
                describe(facts_.claims[wanted].bytes), value, describe_step(graph, op), describe(bytes),
                facts_.input.plan.arenas[facts_.claims[wanted].arena.index()].name,
                found == kNobody ? "are not" : fmt::format("belong to {}", name(found)));
}

void Conflicts::bad_copy(std::uint32_t copy, const char* why) {
  const HolderId holder = facts_.claims.of_copy(copy);
  if (!is_new(holder, holder)) return;
  findings_.add(Rule::copy, "copy {} of {} {} {}", copy, describe(facts_.input.graph, facts_.copies[copy].tensor),
                describe(facts_.input.plan, facts_.copies[copy].to), why);
}

}  // namespace stowage::verification
