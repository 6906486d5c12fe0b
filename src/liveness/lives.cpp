#include "liveness/interface/lives.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

/// When each class is needed.
///
/// A class is needed at a step if in some run through that step it is accessed (or given by the caller) at or before
/// the step, and accessed (or read by the caller) at or after it. On a stretch without exclusive parts that is one
/// interval. Only the exclusive parts that contain its first and its last access can have holes; between them it is
/// always needed.
namespace stowage {
namespace {

std::span<const Step> within(std::span<const Step> accesses, Interval steps) {
  const auto first = std::lower_bound(accesses.begin(), accesses.end(), steps.lower);
  return {first, std::lower_bound(first, accesses.end(), steps.upper)};
}

/// The exclusive parts of the stretch that contain a step, if there are any.
const Exclusive* holding(const Stretch& stretch, Step step) {
  const auto next = std::upper_bound(stretch.inside.begin(), stretch.inside.end(), step,
                                     [](Step at, const Exclusive& each) { return at < each.steps.lower; });
  if (next == stretch.inside.begin() || std::prev(next)->steps.upper <= step) return nullptr;
  return &*std::prev(next);
}

class LifeParts {
 public:
  explicit LifeParts(std::vector<Interval>& result) : result_(result) {}

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

/// The innermost stretch around a step.
const Stretch& stretch_at(const Timeline& timeline, Step step) {
  const Stretch* stretch = &timeline.whole;
  while (const Exclusive* const exclusive = holding(*stretch, step)) {
    stretch = &*std::find_if(exclusive->parts.begin(), exclusive->parts.end(),
                             [&](const Stretch& part) { return part.steps.contains(step); });
  }
  return *stretch;
}

/// `steps`, which lie within the stretch, with the exclusive parts among them.
Stretch cut(const Stretch& stretch, Interval steps) {
  Stretch result{steps, {}};
  std::copy_if(stretch.inside.begin(), stretch.inside.end(), std::back_inserter(result.inside),
               [&](const Exclusive& each) { return steps.contains(each.steps.lower); });
  return result;
}

/// A carried class is dead between its last read in the body, on each path through it, and the end of the iteration,
/// which writes its next value.
struct Hole {
  ClassId id;
  Interval steps;
};

void append_holes(const Timeline& timeline, Interval body, ClassId id, std::span<const Step> accesses,
                  std::vector<Hole>& holes) {
  const std::span<const Step> inside = within(accesses, body);
  if (inside.empty()) return;
  std::vector<Interval> needed;
  LifeParts(needed).add(cut(stretch_at(timeline, body.lower), body), inside, {});
  Step from = needed.front().upper;
  for (const Interval& each : needed) {
    if (from < each.lower) holes.push_back({id, {from, each.lower}});
    from = std::max(from, each.upper);
  }
  holes.push_back({id, {from, body.upper}});  // even without a step: the old value ends and the next begins
}

std::vector<Hole> find_holes(const Graph& graph, const Sharing& sharing, const Timeline& timeline,
                             const Accesses& all) {
  std::vector<Hole> holes;
  for (std::size_t k = 0; k < timeline.moments.size(); ++k) {
    const Moment& moment = timeline.moments[k];
    if (moment.kind != Moment::Kind::body_end || graph.scope(moment.scope).carried.empty()) continue;
    const Step end(static_cast<std::int64_t>(k));
    const std::span<const Interval> spans = timeline.spans(moment.op);
    const auto loop =
        std::find_if(spans.begin(), spans.end(), [&](const Interval& each) { return each.contains(end); });
    for (const Carried& pair : graph.scope(moment.scope).carried) {
      const ClassId in = sharing.class_of(pair.in);
      if (in != sharing.class_of(pair.out)) append_holes(timeline, {loop->lower, end}, in, all[in], holes);
    }
  }
  return holes;
}

/// Removes a hole from the lives.
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

/// The life if there were no exclusive parts.
Interval span_of(const Timeline& timeline, std::span<const Step> accesses, Sides sides) {
  // An output that nobody writes still has an address, which must not be shared.
  const Step lower = sides.before || accesses.empty() ? Step(0) : accesses.front();
  if (sides.after) return {lower, timeline.horizon()};
  return {lower, accesses.empty() ? timeline.first_op_end() : accesses.back() + Step(1)};
}

void fit_span(Life& life) {
  if (!life.parts.empty()) life.span = {life.parts.front().lower, life.parts.back().upper};
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

Life life_of(const Timeline& timeline, std::span<const Step> accesses, Sides sides) {
  Life life{.span = span_of(timeline, accesses, sides), .parts = {}, .sides = sides};
  const bool simple = !timeline.branches() || accesses.empty() || (sides.before && sides.after);
  if (!simple) LifeParts(life.parts).add(timeline.whole, accesses, sides);
  fit_span(life);
  return life;
}

ByClass<Life> find_lives(const Graph& graph, const Sharing& sharing, const Timeline& timeline, const Accesses& accesses,
                         const ByClass<Sides>& sides) {
  ByClass<Life> lives;
  lives.reserve(sharing.class_count());
  for (std::size_t c = 0; c < sharing.class_count(); ++c)
    lives.add(life_of(timeline, accesses[ClassId(c)], sides[ClassId(c)]));
  if (!graph.has_bodies()) return lives;
  for (const Hole& hole : find_holes(graph, sharing, timeline, accesses)) {
    dig(lives[hole.id].parts, hole.steps);
    fit_span(lives[hole.id]);
  }
  return lives;
}

std::vector<Interval> lives_between(const Timeline& timeline, std::span<const Interval> touched, Sides sides) {
  std::vector<Step> accesses;
  for (const Interval& each : touched) {
    accesses.push_back(each.lower);
    accesses.push_back(each.upper - Step(1));
  }
  std::vector<Interval> lives;
  LifeParts(lives).add(timeline.whole, accesses, sides);
  return lives;
}

}  // namespace stowage
