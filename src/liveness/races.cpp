#include <algorithm>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "graph/interface/dependencies.hpp"
#include "liveness/touches.hpp"
#include "stowage/liveness.hpp"

/// Finds accesses to one value that nothing orders.
///
/// On each stream the steps of a class form a chain, so that an access that is after the last one of a stream is after all of
/// them: mostly one question for each stream that has touched the class.
namespace stowage {
namespace {

struct Access {
  Step step;
  TensorId tensor;
  bool writes;
};

/// Of one stream to one class, ascending.
struct Column {
  std::size_t stream;
  std::vector<Access> reads;
  std::vector<Access> writes;
};

class Races {
 public:
  Races(const Graph& graph, const Liveness& liveness, const std::vector<Moment>& moments, const HappensBefore& order)
      : graph_(graph), places_(liveness.places), moments_(moments), order_(order), columns_(liveness.classes.size()) {}

  std::optional<Race> find() {
    const std::vector<bool> written = written_classes();
    for (std::size_t k = 0; k < moments_.size() && !found_; ++k) {
      liveness::for_each_touched(graph_, moments_[k], [&](TensorId tensor, bool writes) {
        if (!written[id_of(tensor)]) return;
        add({Step(static_cast<std::int64_t>(k)), tensor, writes});
      });
    }
    return found_;
  }

 private:
  [[nodiscard]] std::size_t id_of(TensorId tensor) const { return places_[tensor.index()].id.index(); }

  [[nodiscard]] std::vector<bool> written_classes() const {
    std::vector<bool> written(columns_.size());
    for (const Moment& moment : moments_) {
      liveness::for_each_touched(graph_, moment, [&](TensorId tensor, bool writes) {
        if (writes) written[id_of(tensor)] = true;
      });
    }
    return written;
  }

  void add(const Access& access) {
    std::vector<Column>& columns = columns_[id_of(access.tensor)];
    const std::size_t stream = order_.stream(access.step);
    Column* own = nullptr;
    for (Column& column : columns) {
      if (column.stream == stream) {
        own = &column;
        continue;
      }
      compare(column.writes, access);
      if (access.writes) compare(column.reads, access);
    }
    if (own == nullptr) own = &columns.emplace_back(Column{stream, {}, {}});
    (access.writes ? own->writes : own->reads).push_back(access);
  }

  void compare(const std::vector<Access>& earlier, const Access& access) {
    for (auto each = earlier.rbegin(); each != earlier.rend() && !found_; ++each) {
      if (order_.before(each->step, access.step)) return;
      if (bytes_of(each->tensor).overlaps(bytes_of(access.tensor))) report(*each, access);
    }
  }

  void report(const Access& first, const Access& second) {
    found_ = Race{{op_of(first), first.tensor, first.writes}, {op_of(second), second.tensor, second.writes}};
  }

  [[nodiscard]] OpId op_of(const Access& access) const { return moments_[static_cast<std::size_t>(access.step.value())].op; }

  /// In its class.
  [[nodiscard]] ByteRange bytes_of(TensorId tensor) const {
    const Bytes offset = places_[tensor.index()].offset;
    return {offset, offset + graph_.tensor(tensor).size};
  }

  const Graph& graph_;
  const std::vector<ClassPlace>& places_;
  const std::vector<Moment>& moments_;
  const HappensBefore& order_;
  std::vector<std::vector<Column>> columns_;  ///< By class.
  std::optional<Race> found_;
};

/// What happens when `batch` is chosen.
Timeline run_of(const Timeline& timeline, std::uint32_t batch) {
  Timeline run;
  for (Moment moment : timeline.moments) {
    if (moment.batch != 0 && moment.batch != batch) continue;
    moment.batch = 0;
    run.moments.push_back(moment);
  }
  return run;
}

}  // namespace

std::optional<Race> find_race(const Graph& graph, const Liveness& liveness) {
  if (graph.stream_count() == 1) return std::nullopt;
  if (graph.batches().empty()) return Races(graph, liveness, liveness.timeline.moments, liveness.order).find();
  const Dependencies dependencies = find_dependencies(graph, WantedDependencies::waited_for);
  // The order over all batches at once knows less than that of each: it must suit them all.
  for (std::uint32_t batch = 1; batch <= graph.batches().size(); ++batch) {
    const Timeline run = run_of(liveness.timeline, batch);
    const HappensBefore order(graph, run, dependencies.in_run(graph, batch), liveness.edges);
    if (std::optional<Race> race = Races(graph, liveness, run.moments, order).find()) return race;
  }
  return std::nullopt;
}

std::string describe(const Race& race, const Graph& graph) {
  const auto side = [&](const Race::Access& access) {
    return fmt::format("{} on stream {} {} {}", describe(graph, access.op), graph.op(access.op).stream.index(),
                       access.writes ? "writes" : "reads", describe(graph, access.tensor));
  };
  return fmt::format("{} and {}: the same bytes, but neither comes after the other; `after` would order them", side(race.first),
                     side(race.second));
}

}  // namespace stowage
