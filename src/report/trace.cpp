#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "files/interface/json_writer.hpp"
#include "report/labels.hpp"
#include "report/peaks.hpp"
#include "report/scene.hpp"
#include "stowage/report/timeline.hpp"

/// Chrome trace events. Slices of one thread must nest, and lifetimes do not. So each arena is a process, and its
/// storages are distributed over threads ("lanes"), as few as the most storages live at once. Async events would need
/// no lanes, but Perfetto draws a separate track for each name.
namespace stowage {
namespace {

using files::OrderedJson;
using namespace report;  // the module's own parts

constexpr std::int64_t kOps = 1;     // the process of the ops
constexpr std::int64_t kArenas = 2;  // the process of the first arena

class TraceWriter {
 public:
  explicit TraceWriter(const Scene& scene) : scene_(scene) {}

  std::string run() {
    write_ops();
    for (std::size_t a = 0; a < scene_.arenas().size(); ++a)
      write_arena(scene_.arenas()[a], kArenas + static_cast<std::int64_t>(a));
    std::string text = "{\"displayTimeUnit\":\"ms\",\n\"traceEvents\":[";
    files::append_lines(text, events_, [](const OrderedJson& event) { return files::to_line(event); });
    return text + "}\n";
  }

 private:
  void name(const char* what, std::int64_t pid, std::int64_t tid, const std::string& value) {
    events_.push_back({{"ph", "M"}, {"name", what}, {"pid", pid}, {"tid", tid}, {"args", {{"name", value}}}});
  }
  void name_process(std::int64_t pid, const std::string& value) {
    name("process_name", pid, 0, value);
    events_.push_back(
        {{"ph", "M"}, {"name", "process_sort_index"}, {"pid", pid}, {"tid", 0}, {"args", {{"sort_index", pid}}}});
  }

  void write_ops();
  void write_arena(const PlacedArena& arena, std::int64_t pid);
  void write_item(const PlacedItem& item, std::int64_t pid, std::int64_t lane);

  const Scene& scene_;
  std::vector<OrderedJson> events_;
};

void TraceWriter::write_ops() {
  name_process(kOps, "ops");
  std::set<std::size_t> streams;
  const Step horizon = scene_.liveness().timeline.horizon();
  for (Step step(0); step < horizon; step += Step(1)) {
    const std::optional<OpId> id = op_at(scene_, step);
    if (!id) continue;
    const Op& op = scene_.graph().op(*id);
    if (streams.insert(op.stream.index()).second)
      name("thread_name", kOps, static_cast<std::int64_t>(op.stream.index()),
           fmt::format("stream {}", op.stream.index()));
    events_.push_back({{"ph", "X"},
                       {"name", name_of(scene_.graph(), *id)},
                       {"cat", op.kind.empty() ? "op" : op.kind},
                       {"pid", kOps},
                       {"tid", op.stream.index()},
                       {"ts", step.value()},
                       {"dur", 1}});
  }
}

void TraceWriter::write_item(const PlacedItem& item, std::int64_t pid, std::int64_t lane) {
  const Holder holder = holder_of(scene_, item);
  events_.push_back({{"ph", "X"},
                     {"name", holder.name},
                     {"cat", holder.kind.empty() ? "storage" : holder.kind},
                     {"pid", pid},
                     {"tid", lane},
                     {"ts", item.life.lower.value()},
                     {"dur", item.life.length().value()},
                     {"args",
                      {{"bytes", item.size.value()},
                       {"offset", item.offset.value()},
                       {"region", item.region},
                       {"tensors", holder.tensors.size()},
                       {"scope", holder.scope}}}});
}

void TraceWriter::write_arena(const PlacedArena& arena, std::int64_t pid) {
  name_process(pid, fmt::format("{} ({})", arena.problem->name, to_string(arena.problem->kind)));
  for (const Level& level : live_levels(arena, scene_.liveness().timeline.horizon())) {
    events_.push_back({{"ph", "C"},
                       {"name", "live bytes"},
                       {"pid", pid},
                       {"ts", level.steps.lower.value()},
                       {"args", {{"live", level.live.value()}}}});
  }
  events_.push_back({{"ph", "C"},
                     {"name", "live bytes"},
                     {"pid", pid},
                     {"ts", scene_.liveness().timeline.horizon().value()},
                     {"args", {{"live", 0}}}});

  std::vector<const PlacedItem*> items;
  for (const PlacedItem& item : arena.items) items.push_back(&item);
  std::sort(items.begin(), items.end(), [](const PlacedItem* a, const PlacedItem* b) {
    return a->life != b->life ? a->life < b->life : a->offset < b->offset;
  });
  std::set<std::int64_t> free;
  std::multimap<Step, std::int64_t> busy;  // lanes, by the step at which they become free
  std::int64_t lanes = 0;
  for (const PlacedItem* item : items) {
    while (!busy.empty() && busy.begin()->first <= item->life.lower) {
      free.insert(busy.begin()->second);
      busy.erase(busy.begin());
    }
    if (free.empty()) {
      name("thread_name", pid, ++lanes, fmt::format("lane {}", lanes));
      free.insert(lanes);
    }
    const std::int64_t lane = *free.begin();
    free.erase(free.begin());
    busy.emplace(item->life.upper, lane);
    write_item(*item, pid, lane);
  }
}

}  // namespace

std::string timeline_to_trace(const PlanScene& scene) { return TraceWriter(scene.scene()).run(); }

}  // namespace stowage
