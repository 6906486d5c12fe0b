#include "report/story.hpp"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "report/labels.hpp"
#include "report/map.hpp"
#include "report/text.hpp"

namespace stowage::report {
namespace {

using Shares = std::map<std::string, Share>;

void add_to(Shares& shares, const std::string& word, Bytes bytes) {
  Share& share = shares[word];
  share.word = word;
  share.bytes += bytes;
  ++share.holders;
}

std::vector<Share> largest_first(const Shares& shares) {
  std::vector<Share> list;
  for (const auto& [word, share] : shares) list.push_back(share);
  std::sort(list.begin(), list.end(),
            [](const Share& a, const Share& b) { return a.bytes != b.bytes ? a.bytes > b.bytes : a.word < b.word; });
  return list;
}

/// Describes one peak; adds the item of each listed holder to `items`.
Peak tell_peak(const Scene& scene, const PlacedArena& arena, const BindingPeak& binding, std::size_t top,
               std::vector<const PlacedItem*>& items) {
  Peak peak{.steps = binding.steps,
            .at = binding.at,
            .op = {},
            .kind = {},
            .layer = {},
            .source = {},
            .live = binding.live,
            .holders = {},
            .by_kind = {},
            .by_scope = {}};
  if (const std::optional<OpId> op = op_at(scene, binding.at)) {
    peak.op = name_of(scene.graph(), *op);
    peak.kind = scene.graph().op(*op).kind;
    peak.layer = scene.graph().op(*op).layer;
    peak.source = scene.graph().op(*op).source;
  }
  peak.holder_count = binding.held.size();
  Shares kinds;
  Shares scopes;
  for (const Held& held : binding.held) {
    const PlacedItem& item = arena.items[held.item];
    Holder holder = holder_of(scene, item);
    holder.bytes = held.bytes;
    add_to(kinds, holder.kind, held.bytes);
    add_to(scopes, holder.scope, held.bytes);
    if (peak.holders.size() == top) continue;
    peak.holders.push_back(std::move(holder));
    items.push_back(&item);
  }
  peak.by_kind = largest_first(kinds);
  peak.by_scope = largest_first(scopes);
  return peak;
}

/// The first `top` peaks, and the fullest where it is not among them.
std::vector<std::size_t> told_peaks(const std::vector<BindingPeak>& peaks, std::size_t fullest, std::size_t top) {
  std::vector<std::size_t> told;
  for (std::size_t p = 0; p < peaks.size() && p < top; ++p) told.push_back(p);
  if (fullest >= told.size() && fullest < peaks.size()) told.push_back(fullest);
  return told;
}

Told tell_arena(const Scene& scene, const PlacedArena& arena, const ExplainOptions& options,
                const std::function<bool()>& stop) {
  const Arena& planned = scene.plan().arenas[arena.number.index()];
  const Binding binding = binding_of(scene, arena, options.within, stop);
  const auto fuller = [](const BindingPeak& a, const BindingPeak& b) { return a.live < b.live; };
  const auto fullest = std::max_element(binding.peaks.begin(), binding.peaks.end(), fuller);
  Told told;
  told.story = {.name = planned.name,
                .memory = scene.graph().memory(planned.memory).name,
                .kind = planned.kind,
                .size = planned.size,
                .lower_bound = planned.lower_bound,
                .live = planned.kind == ArenaKind::ring ? planned.size : binding.live,
                .concurrent = binding.concurrent,
                .peak_count = planned.kind == ArenaKind::ring ? 0 : binding.peaks.size(),
                .peaks = {},
                .map_at_peak = {},
                .map_of_time = {}};
  if (fullest == binding.peaks.end() || planned.kind == ArenaKind::ring) return told;
  const auto number = static_cast<std::size_t>(fullest - binding.peaks.begin());
  for (const std::size_t p : told_peaks(binding.peaks, number, options.top)) {
    std::vector<const PlacedItem*> items;
    told.story.peaks.push_back(tell_peak(scene, arena, binding.peaks[p], options.top, items));
    if (p != number) continue;
    told.story.fullest = told.story.peaks.size() - 1;
    told.holders = std::move(items);
  }
  told.story.map_at_peak = map_at(arena, planned.size, *fullest, options.top);
  told.story.map_of_time = map_over_time(scene, arena, *fullest, options.top);
  return told;
}

Bytes length_of_union(std::vector<ByteRange> ranges) {
  std::sort(ranges.begin(), ranges.end());
  Bytes sum;
  Bytes end;
  for (const ByteRange& range : ranges) {
    const ByteRange rest{std::max(range.lower, end), range.upper};
    sum += rest.length();
    end = std::max(end, range.upper);
  }
  return sum;
}

/// Adds the bytes of an item that ops access, by step.
void add_touched(const Scene& scene, const PlacedItem& item, std::map<Step, Bytes>& touched) {
  if (const auto* ref = std::get_if<WorkspaceId>(&item.occupant)) {
    for (const Interval& span : scene.liveness().timeline.spans(ref->op)) touched[span.lower] += item.size;
    return;
  }
  std::map<Step, std::vector<ByteRange>> ranges;
  for (const ClassId id : scene.layout().storage(std::get<StorageId>(item.occupant)).classes) {
    const Bytes offset = scene.layout().positions[id].offset;
    for (const Step step : scene.liveness().accesses[id])
      ranges[step].push_back({offset, offset + scene.layout().footprint(id)});
  }
  for (const auto& [step, bytes] : ranges) touched[step] += length_of_union(bytes);
}

std::string share_text(Bytes part, Bytes whole) {
  return fmt::format("{:.0f}%", whole == Bytes(0)
                                    ? 0.0
                                    : 100.0 * static_cast<double>(part.value()) / static_cast<double>(whole.value()));
}

/// "A (43 MiB, 38%), B (43 MiB, 38%) and 3 others".
std::string leading_holders(const Peak& peak, Bytes whole) {
  constexpr std::size_t kNamed = 3;
  std::vector<std::string> names;
  for (const Holder& holder : peak.holders) {
    // Small holders explain nothing.
    if (names.size() == kNamed || (!names.empty() && holder.bytes.value() < (whole.value() + 19) / 20)) break;
    names.push_back(
        fmt::format("{} ({}, {})", name_text(holder, 60), to_human(holder.bytes), share_text(holder.bytes, whole)));
  }
  const std::size_t others = peak.holder_count - names.size();
  if (others > 0) names.push_back(others == 1 ? "1 other" : fmt::format("{} others", others));
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) text += i + 1 == names.size() ? " and " : ", ";
    text += names[i];
  }
  return text;
}

std::string place_of(const ArenaStory& arena, const Peak& peak) {
  if (arena.concurrent) return " by ops that may run at the same time on several streams";
  std::string text = peak.op.empty() ? fmt::format(" at step {}", peak.at.value())
                                     : fmt::format(" at op '{}' (step {})", peak.op, peak.at.value());
  if (arena.peak_count > 1)
    text +=
        fmt::format(", and {} other {} as high", arena.peak_count - 1, arena.peak_count == 2 ? "peak is" : "peaks are");
  return text;
}

}  // namespace

std::vector<Told> tell_arenas(const Scene& scene, const ExplainOptions& options, const std::function<bool()>& stop) {
  std::vector<Told> list;
  for (const PlacedArena& arena : scene.arenas()) {
    if (is_paid(arena.problem->kind)) list.push_back(tell_arena(scene, arena, options, stop));
  }
  std::sort(list.begin(), list.end(), [](const Told& a, const Told& b) {
    return a.story.size != b.story.size ? a.story.size > b.story.size : a.story.name < b.story.name;
  });
  return list;
}

std::optional<LargestOp> largest_op(const Scene& scene) {
  std::map<Step, Bytes> touched;
  for (const PlacedArena& arena : scene.arenas()) {
    if (!is_paid(arena.problem->kind)) continue;
    for (const PlacedItem& item : arena.items) add_touched(scene, item, touched);
  }
  std::optional<LargestOp> largest;
  for (const auto& [step, bytes] : touched) {
    const std::optional<OpId> op = op_at(scene, step);
    if (!op || (largest && bytes <= largest->bytes)) continue;
    largest = {name_of(scene.graph(), *op), scene.graph().op(*op).kind, step, bytes};
  }
  return largest;
}

std::string cause_of(const Explanation& explanation) {
  const Bytes peak = explanation.summary.peak;
  const std::string& name = explanation.summary.name;
  if (peak == Bytes(0) || explanation.details->arenas.empty())
    return fmt::format("{} needs no memory that counts towards the peak.", name);
  const ArenaStory& arena = explanation.details->arenas.front();
  std::string text = fmt::format("{} needs {}", name, to_human(peak));
  if (arena.size < peak)
    text +=
        fmt::format(", {} of it ({}) in arena '{}',", to_human(arena.size), share_text(arena.size, peak), arena.name);
  if (arena.kind == ArenaKind::ring) return text + " because that is the size of the prefetch ring.";
  if (arena.peaks.empty()) return text + ".";
  const Peak& fullest = arena.peaks[arena.fullest];
  const bool alone = fullest.holder_count == 1;
  text += fmt::format(" because {} {} needed{}{}", leading_holders(fullest, arena.size), alone ? "is" : "are",
                      alone || arena.concurrent ? "" : " at the same time", place_of(arena, fullest));
  const Bytes lost = arena.size - arena.live;
  if (lost.value() > arena.size.value() / 50)
    text += fmt::format("; {} ({}) is lost to fragmentation", to_human(lost), share_text(lost, arena.size));
  return text + ".";
}

}  // namespace stowage::report
