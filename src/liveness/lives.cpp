#include <algorithm>

#include "liveness/classes.hpp"

/// When each class is needed.
///
/// At a step a class is needed when, on some way of running through that step, it was touched (or given by the caller) at or
/// before it, and is touched (or looked at by the caller) at or after it. On a stretch without exclusive parts that is one
/// interval. Only the parts around its first and last touch can have holes: between parts further inside it is needed throughout.
namespace stowage::liveness {
namespace {

std::span<const Step> within(std::span<const Step> accesses, Interval steps) {
  const auto first = std::lower_bound(accesses.begin(), accesses.end(), steps.lower);
  return {first, std::lower_bound(first, accesses.end(), steps.upper)};
}

/// The exclusive parts of the stretch that hold a step, if any do.
const Exclusive* holding(const Stretch& stretch, Step step) {
  const auto next = std::upper_bound(stretch.inside.begin(), stretch.inside.end(), step,
                                     [](Step at, const Exclusive& each) { return at < each.steps.lower; });
  if (next == stretch.inside.begin() || std::prev(next)->steps.upper <= step) return nullptr;
  return &*std::prev(next);
}

class Lives {
 public:
  explicit Lives(std::vector<Interval>& result) : result_(result) {}

  /// `accesses` are those inside the stretch.
  void add(const Stretch& stretch, std::span<const Step> accesses, Sides sides) {
    if (accesses.empty() && !(sides.before && sides.after)) return;
    Step lower = sides.before ? stretch.steps.lower : accesses.front();
    const Step upper = sides.after ? stretch.steps.upper : accesses.back() + Step(1);
    const Exclusive* const first = sides.before ? nullptr : holding(stretch, lower);
    const Exclusive* const last = sides.after ? nullptr : holding(stretch, upper - Step(1));
    if (first) {
      add_parts(*first, accesses, sides);
      lower = first->steps.upper;
    }
    if (last == first && first) return push({lower, upper});
    push({lower, last ? last->steps.lower : upper});
    if (last) add_parts(*last, accesses, sides);
  }

 private:
  void add_parts(const Exclusive& exclusive, std::span<const Step> accesses, Sides sides) {
    const Sides inside{sides.before || accesses.front() < exclusive.steps.lower,
                       sides.after || accesses.back() >= exclusive.steps.upper};
    for (const Stretch& part : exclusive.parts) add(part, within(accesses, part.steps), inside);
  }

  void push(Interval interval) {
    if (interval.lower < interval.upper) result_.push_back(interval);
  }

  std::vector<Interval>& result_;
};

/// What a loop carries is read in the body for the last time, and is dead from there until the end of the iteration writes it
/// anew.
struct Hole {
  ClassId id;
  Interval steps;
};

std::vector<Hole> find_holes(const Graph& graph, const Liveness& result) {
  std::vector<Hole> holes;
  for (std::size_t k = 0; k < result.timeline.moments.size(); ++k) {
    const Moment& moment = result.timeline.moments[k];
    if (moment.kind != Moment::Kind::body_end) continue;
    for (const Carried& pair : graph.scope(moment.scope).carried) {
      const ClassId in = result.places[pair.in.index()].id;
      if (in == result.places[pair.out.index()].id) continue;
      const Step end(static_cast<std::int64_t>(k));
      const std::span<const Step> accesses = result.accesses(in);
      const auto at = std::lower_bound(accesses.begin(), accesses.end(), end);
      if (at == accesses.begin()) continue;
      holes.push_back({in, {*std::prev(at) + Step(1), end}});
    }
  }
  return holes;
}

/// Takes a hole out of the lives.
void dig(std::vector<Interval>& lives, Interval hole) {
  std::vector<Interval> left;
  for (const Interval& life : lives) {
    const Interval before{life.lower, std::min(life.upper, hole.lower)};
    const Interval after{std::max(life.lower, hole.upper), life.upper};
    if (before.lower < before.upper) left.push_back(before);
    if (after.lower < after.upper) left.push_back(after);
  }
  lives = std::move(left);
}

bool is_never_over(const AliasClass& klass, const LivenessOptions& options) {
  const bool kept_input = klass.flags.has(TensorFlag::input) && options.keep_inputs;
  return klass.whole_run || kept_input || klass.flags.has(TensorFlag::output) || klass.residence == Residence::persistent;
}

bool is_there_from_start(const AliasClass& klass) {
  return klass.from_start || klass.whole_run || klass.flags.has(TensorFlag::input) || klass.residence == Residence::persistent;
}

/// Without exclusive parts.
Interval plain_life(const AliasClass& klass, std::span<const Step> accesses, Step horizon) {
  // An output that nobody writes still has an address, which nobody else may use.
  const Step lower = klass.from_start || accesses.empty() ? Step(0) : accesses.front();
  if (klass.never_over) return {lower, horizon};
  return {lower, accesses.empty() ? Step(1) : accesses.back() + Step(1)};
}

void find_life(Liveness& result, ClassId id) {
  AliasClass& klass = result.classes[id.index()];
  const std::span<const Step> accesses = result.accesses(id);
  klass.life = plain_life(klass, accesses, result.horizon);
  klass.lives.clear();
  const bool simple = !result.timeline.branches() || accesses.empty() || (klass.from_start && klass.never_over);
  if (!simple) Lives(klass.lives).add(result.timeline.whole, accesses, {klass.from_start, klass.never_over});
}

void span_lives(AliasClass& klass) {
  if (!klass.lives.empty()) klass.life = {klass.lives.front().lower, klass.lives.back().upper};
}

}  // namespace

bool compatible(const Timeline& timeline, Step a, Step b) {
  const Stretch* stretch = &timeline.whole;
  while (true) {
    const Exclusive* const exclusive = holding(*stretch, a);
    if (!exclusive || !exclusive->steps.contains(b)) return true;
    const auto holds = [](Step step) { return [step](const Stretch& part) { return part.steps.contains(step); }; };
    const auto part = std::find_if(exclusive->parts.begin(), exclusive->parts.end(), holds(a));
    if (!part->steps.contains(b)) return false;
    stretch = &*part;
  }
}

void make_shared(Liveness& result, ClassId id) {
  AliasClass& klass = result.classes[id.index()];
  klass.residence = Residence::shared;
  klass.from_start = klass.whole_run;
  klass.never_over = klass.whole_run || klass.flags.has(TensorFlag::output);
  find_life(result, id);
  span_lives(klass);
}

void find_lives(const Graph& graph, const LivenessOptions& options, Liveness& result) {
  for (std::size_t i = 0; i < result.classes.size(); ++i) {
    AliasClass& klass = result.classes[i];
    klass.never_over = is_never_over(klass, options);
    klass.from_start = is_there_from_start(klass);
    find_life(result, ClassId(i));
  }
  for (const Hole& hole : find_holes(graph, result)) dig(result.classes[hole.id.index()].lives, hole.steps);
  for (AliasClass& klass : result.classes) span_lives(klass);
}

}  // namespace stowage::liveness

namespace stowage {

std::vector<Interval> lives_between(const Timeline& timeline, std::span<const Interval> touched, Sides sides) {
  std::vector<Step> accesses;
  for (const Interval& each : touched) {
    accesses.push_back(each.lower);
    accesses.push_back(each.upper - Step(1));
  }
  std::vector<Interval> lives;
  liveness::Lives(lives).add(timeline.whole, accesses, sides);
  return lives;
}

}  // namespace stowage
