#include "layout/interface/analysis.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <tuple>
#include <utility>

#include "layout/stages.hpp"

namespace stowage {
namespace {

template <class T>
std::vector<T> joined(std::vector<T> first, std::vector<T> second) {
  first.insert(first.end(), std::make_move_iterator(second.begin()), std::make_move_iterator(second.end()));
  return first;
}

std::vector<PlannedCopy> sorted(std::vector<PlannedCopy> copies) {
  const auto key = [](const PlannedCopy& copy) {
    // The back edge comes after everything else in its body.
    const std::int64_t when = copy.before < 0 ? std::numeric_limits<std::int64_t>::max() : copy.before;
    return std::tuple(copy.scope, when, copy.number, copy.tensor, copy.to ? copy.to->id : ClassId(), copy.offset);
  };
  std::sort(copies.begin(), copies.end(), [&](const PlannedCopy& a, const PlannedCopy& b) { return key(a) < key(b); });
  return copies;
}

struct Analyzed {
  Analysis analysis;
  CopiedMembers refused;  ///< See `layout::Storages`.
};

Analyzed analyze_once(const Graph& graph, const AnalysisOptions& options) {
  layout::Classes classes = layout::form_classes(graph);
  const CopiedMembers copied = layout::find_copyable(graph, classes.sharing, options.copied);
  Timeline timeline = make_timeline(graph, classes.sharing, copied);
  Accesses accesses = collect_accesses(graph, classes.sharing, timeline, copied);

  NoReuse no_reuse = layout::find_no_reuse(graph, options);
  ByClass<Demands> demands = layout::find_demands(graph, options, classes.sharing, no_reuse);
  std::vector<char> fills = layout::find_central_fills(graph, options, classes.sharing, timeline, accesses);
  const layout::ResidenceInput input{graph, options, classes, demands, accesses};
  layout::Residences residences = layout::find_residences(input);

  const ByClass<Sides> sides = layout::find_sides(input, residences.list, fills);
  ByClass<Life> lives = find_lives(graph, classes.sharing, timeline, accesses, sides);
  Order order = find_order(graph, classes.sharing, timeline, accesses);

  layout::Storages storages = layout::form_storages({.graph = graph,
                                                     .options = options,
                                                     .sharing = classes.sharing,
                                                     .classes = classes.list,
                                                     .demands = demands,
                                                     .timeline = timeline,
                                                     .accesses = accesses,
                                                     .order = order.steps,
                                                     .fused = residences.fused,
                                                     .central_fills = fills,
                                                     .copies_so_far = classes.copies,
                                                     .copied = copied},
                                                    {std::move(residences.list), std::move(lives)});
  Analysis analysis{.liveness = {.timeline = std::move(timeline),
                                 .accesses = std::move(accesses),
                                 .lives = std::move(storages.tenancy.lives),
                                 .order = std::move(order)},
                    .layout = {.sharing = std::move(classes.sharing),
                               .classes = std::move(classes.list),
                               .demands = std::move(demands),
                               .residences = std::move(storages.tenancy.residences),
                               .positions = std::move(storages.positions),
                               .storages = std::move(storages.list),
                               .joins = std::move(storages.joins),
                               .has_alternatives = storages.has_alternatives,
                               .copies = sorted(joined(std::move(classes.copies), std::move(storages.copies))),
                               .central_fills = std::move(fills),
                               .bound = std::move(residences.bound),
                               .notes = joined(std::move(residences.notes), std::move(storages.notes)),
                               .no_reuse = std::move(no_reuse),
                               .base = options.base,
                               .padding = options.padding}};
  return {std::move(analysis), std::move(storages.refused)};
}

}  // namespace

Analysis analyze(const Graph& graph, const AnalysisOptions& options) {
  Analyzed result = analyze_once(graph, options);
  if (result.refused.empty()) return std::move(result.analysis);
  AnalysisOptions fewer = options;
  std::erase_if(fewer.copied, [&](const CopiedMember& each) {
    return std::any_of(result.refused.begin(), result.refused.end(), [&](const CopiedMember& refused) {
      return refused.op == each.op && refused.tensor == each.tensor;
    });
  });
  return analyze(graph, fewer);
}

}  // namespace stowage
