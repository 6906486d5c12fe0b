#include <algorithm>

#include <fmt/format.h>

#include "report/page_plan.hpp"

namespace stowage::report {
namespace {

/// Maps the times of a table to steps: one to one, or, if the times are sparse, only those at which something begins or
/// ends.
class Clock {
 public:
  explicit Clock(const Problem& problem) {
    for (const Item& item : problem.items) {
      for (const Piece& piece : item.pieces) times_.insert(times_.end(), {piece.when.lower, piece.when.upper});
    }
    std::sort(times_.begin(), times_.end());
    times_.erase(std::unique(times_.begin(), times_.end()), times_.end());
    const Step last = times_.empty() ? Step(0) : times_.back();
    sparse_ = last.value() > std::max<std::int64_t>(kFew, 4 * static_cast<std::int64_t>(times_.size()));
  }

  [[nodiscard]] std::int64_t count() const {
    if (times_.empty()) return 0;
    return sparse_ ? static_cast<std::int64_t>(times_.size()) - 1 : times_.back().value();
  }
  [[nodiscard]] Step step(Step time) const {
    return sparse_ ? Step(std::lower_bound(times_.begin(), times_.end(), time) - times_.begin()) : time;
  }
  [[nodiscard]] Interval steps(Interval times) const { return {step(times.lower), step(times.upper)}; }
  [[nodiscard]] std::int64_t time(std::int64_t step) const {
    return sparse_ ? times_[static_cast<std::size_t>(step)].value() : step;
  }

 private:
  static constexpr std::int64_t kFew = 10'000;
  std::vector<Step> times_;
  bool sparse_ = false;
};

void add_row(PlanData& data, const std::string& id, Bytes size, Interval life) {
  data.tensors.name.push_back(data.strings.number(id));
  data.tensors.type.push_back(0);
  data.tensors.shape.push_back(0);
  data.tensors.size.push_back(size.value());
  data.tensors.role.push_back(static_cast<std::int64_t>(TensorRole::ordinary));
  data.tensors.holder.push_back(-1);
  data.tensors.producer.push_back(life.lower.value());
  data.tensors.read_count.push_back(1);
  data.reads.push_back(life.upper.value() - 1);
}

}  // namespace

PlanData table_data(const CsvProblem& table, std::span<const Position> positions, const Summary& summary) {
  const Clock clock(table.problem);
  PlanData data;
  data.summary = summary;
  data.steps = clock.count();
  for (std::int64_t step = 0; step < data.steps; ++step) {
    data.ops.name.push_back(data.strings.number(fmt::format("step {}", clock.time(step))));
    data.ops.kind.push_back(0);
    data.ops.stream.push_back(0);
    data.ops.layer.push_back(0);
    data.ops.source.push_back(0);
  }
  for (const Summary::ArenaLine& arena : summary.arenas) {
    data.arenas.push_back({arena.name,
                           arena.memory,
                           ArenaKind::shared,
                           arena.size,
                           arena.lower_bound,
                           arena.proven_optimal,
                           {arena.size}});
  }
  std::vector<PageHolder> holders;
  for (std::size_t i = 0; i < table.ids.size(); ++i) {
    const Item& item = table.problem.items[i];
    const Interval life = clock.steps(item.life());
    add_row(data, table.ids[i], item.size, life);
    if (item.size == Bytes(0)) continue;
    const Bytes low = positions[i].offset;
    PageHolder holder{.tensor = static_cast<std::int64_t>(i),
                      .life = life,
                      .size = item.size,
                      .low = low,
                      .pieces = {},
                      .tensors = {i}};
    for (const Piece& piece : item.pieces) {
      if (!piece.bytes.empty())
        holder.pieces.push_back({clock.steps(piece.when), {low + piece.bytes.lower, low + piece.bytes.upper}});
    }
    holders.push_back(std::move(holder));
  }
  set_holders(data, holders);
  return data;
}

}  // namespace stowage::report
