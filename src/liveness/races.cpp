#include "liveness/interface/races.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "graph/interface/dependencies.hpp"
#include "liveness/interface/touches.hpp"

/// Finds unordered accesses to one value.
///
/// On each stream the accesses to a class form a chain, so an access that comes after the last one of a stream comes
/// after all of them. Usually this takes one query for each stream that has accessed the class.
namespace stowage {
namespace {

struct Access {
  Step step;
  TensorId tensor;
  bool writes;
};

/// The accesses of one stream to one class, ascending.
struct StreamAccesses {
  std::size_t stream;
  std::vector<Access> reads;
  std::vector<Access> writes;
};

class Races {
 public:
  Races(const Graph& graph, const Sharing& sharing, const std::vector<Moment>& moments, const HappensBefore& order)
      : graph_(graph), sharing_(sharing), moments_(moments), order_(order), streams_(sharing.class_count()) {}

  std::optional<Race> find() {
    const ByClass<char> written = written_classes();
    for (std::size_t k = 0; k < moments_.size() && !found_; ++k) {
      for_each_touched(graph_, moments_[k], [&](TensorId tensor, bool writes) {
        if (written[sharing_.class_of(tensor)] == 0) return;
        add({Step(static_cast<std::int64_t>(k)), tensor, writes});
      });
    }
    return found_;
  }

 private:
  [[nodiscard]] ByClass<char> written_classes() const {
    ByClass<char> written(streams_.size());
    for (const Moment& moment : moments_) {
      for_each_touched(graph_, moment, [&](TensorId tensor, bool writes) {
        if (writes) written[sharing_.class_of(tensor)] = 1;
      });
    }
    return written;
  }

  void add(const Access& access) {
    std::vector<StreamAccesses>& streams = streams_[sharing_.class_of(access.tensor)];
    const std::size_t stream = order_.stream(access.step);
    StreamAccesses* own = nullptr;
    for (StreamAccesses& other : streams) {
      if (other.stream == stream) {
        own = &other;
        continue;
      }
      compare(other.writes, access);
      if (access.writes) compare(other.reads, access);
    }
    if (own == nullptr) own = &streams.emplace_back(StreamAccesses{stream, {}, {}});
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

  [[nodiscard]] OpId op_of(const Access& access) const {
    return moments_[static_cast<std::size_t>(access.step.value())].op;
  }

  /// Offsets within the class of the tensor.
  [[nodiscard]] ByteRange bytes_of(TensorId tensor) const {
    const Bytes offset = sharing_.place(tensor).offset;
    return {offset, offset + graph_.tensor(tensor).size};
  }

  const Graph& graph_;
  const Sharing& sharing_;
  const std::vector<Moment>& moments_;
  const HappensBefore& order_;
  ByClass<std::vector<StreamAccesses>> streams_;
  std::optional<Race> found_;
};

}  // namespace

std::optional<Race> find_race(const Graph& graph, const Sharing& sharing, const Timeline& timeline,
                              const Order& order) {
  if (graph.stream_count() == 1) return std::nullopt;
  if (graph.batches().empty()) return Races(graph, sharing, timeline.moments, order.steps).find();
  const Dependencies dependencies = find_dependencies(graph, WantedDependencies::waited_for);
  // The order over all batches at once is weaker than that of each batch, because it must hold in all of them.
  for (std::uint32_t batch = 1; batch <= graph.batches().size(); ++batch) {
    const Timeline run = run_of(timeline, batch);
    const HappensBefore steps(graph, run, dependencies.in_run(graph, batch), order.edges);
    if (std::optional<Race> race = Races(graph, sharing, run.moments, steps).find()) return race;
  }
  return std::nullopt;
}

std::string describe(const Race& race, const Graph& graph) {
  const auto side = [&](const Race::Access& access) {
    return fmt::format("{} on stream {} {} {}", describe(graph, access.op), graph.op(access.op).stream.index(),
                       access.writes ? "writes" : "reads", describe(graph, access.tensor));
  };
  return fmt::format(
      "{} and {}: both access the same bytes, but neither is ordered after the other; order them with `after`",
      side(race.first), side(race.second));
}

}  // namespace stowage
