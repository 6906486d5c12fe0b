#include "shadow/memory.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

namespace stowage::testing {

// --------------------------------------------------------------------------------------------------------- SparseMemory

SparseMemory::SparseMemory(std::vector<Extent> extents) {
  std::erase_if(extents, [](const Extent& extent) { return extent.count == 0; });
  std::sort(extents.begin(), extents.end(),
            [](const Extent& a, const Extent& b) { return std::tie(a.space, a.first) < std::tie(b.space, b.first); });
  for (const Extent& extent : extents) {
    Extent* last = segments_.empty() ? nullptr : &segments_.back().extent;
    if (last != nullptr && last->space == extent.space && extent.first < last->first + last->count) {
      last->count = std::max(last->count, extent.first + extent.count - last->first);
    } else {
      segments_.push_back({extent, 0});
    }
  }
  std::size_t size = 0;
  for (Segment& segment : segments_) {
    segment.start = size;
    size += segment.extent.count;
  }
  bytes_.assign(size, kPoison);
}

std::span<std::byte> SparseMemory::at(const Extent& extent) {
  if (extent.count == 0) return {};
  const auto after = std::upper_bound(segments_.begin(), segments_.end(), extent, [](const Extent& a, const Segment& b) {
    return std::tie(a.space, a.first) < std::tie(b.extent.space, b.extent.first);
  });
  const Segment& segment = *(after - 1);
  return std::span(bytes_).subspan(segment.start + (extent.first - segment.extent.first), extent.count);
}

// --------------------------------------------------------------------------------------------------------- WrittenCells

void WrittenCells::add(std::size_t first, std::size_t count) {
  Cells added{first, first + count};
  std::vector<Cells> kept;
  for (const Cells& range : ranges_) {
    if (range.last < added.first || added.last < range.first) {
      kept.push_back(range);
    } else {
      added = {std::min(added.first, range.first), std::max(added.last, range.last)};
    }
  }
  kept.push_back(added);
  ranges_ = std::move(kept);
}

std::vector<std::byte> WrittenCells::mask(std::size_t first, std::size_t count) const {
  const std::size_t last = first + count;
  for (const Cells& range : ranges_) {
    if (range.first <= first && last <= range.last) return {};
  }
  std::vector<std::byte> result(count, std::byte{0});
  for (const Cells& range : ranges_) {
    for (std::size_t cell = std::max(first, range.first); cell < std::min(last, range.last); ++cell) {
      result[cell - first] = std::byte{0xff};
    }
  }
  return result;
}

// ------------------------------------------------------------------------------------------------------------ reference

RunMemory reference_memory(const Families& families) {
  std::vector<Extent> extents;
  for (std::size_t i = 0; i < families.families.size(); ++i) {
    const Family& family = families.families[i];
    extents.push_back({i, 0, family.flags.has(TensorFlag::constant) ? 0 : family.cells});
  }
  RunMemory run{SparseMemory(extents)};
  for (const Seat& seat : families.seats) {
    const bool none = extents[seat.family].count == 0;
    run.tensors.push_back(none ? std::span<std::byte>{} : run.memory.at({seat.family, seat.first, seat.count}));
  }
  return run;
}

// -------------------------------------------------------------------------------------------------------------- planned
namespace {

/// Turns placements into extents, and complains.
class Locator {
 public:
  Locator(const Graph& graph, const Plan& plan, const Families& families, Bytes granularity, std::vector<std::string>& findings)
      : graph_(graph),
        plan_(plan),
        families_(families),
        granularity_(granularity),
        findings_(findings),
        places_(graph.tensors().size()) {
    for (const Arena& arena : plan.arenas) {
      first_space_.push_back(spaces_);
      spaces_ += arena.regions.size();
    }
    for (const Placement& place : plan.placements) {
      if (place.tensor.index() < places_.size()) places_[place.tensor.index()] = &place;
    }
    for (const WorkspacePlacement& place : plan.workspaces) workspaces_[{place.op, place.index}] = &place;
  }

  [[nodiscard]] Extent tensor(TensorId id) const {
    const Seat& seat = families_.seats[id.index()];
    const TensorFlags flags = families_.families[seat.family].flags;
    if (seat.count == 0 || flags.has(TensorFlag::constant)) return {};
    if (flags.has(TensorFlag::external)) return {spaces_ + seat.family, seat.first, seat.count};
    const std::string name = describe(graph_.tensor(id), id);
    const bool is_view = graph_.tensor(id).view_of.has_value();
    if (!is_view && !is_aligned(graph_.alignment(id), granularity_)) return complain(name + " is aligned too finely to shadow");
    const Placement* place = places_[id.index()];
    if (place == nullptr) return complain(name + " has no place");
    return extent(*place, graph_.tensor(id).size, seat.count, name);
  }

  [[nodiscard]] Extent workspace(OpId op, std::uint32_t index) const {
    const Workspace& workspace = graph_.op(op).workspaces[index];
    const std::int64_t cells = (workspace.size.value() + granularity_.value() - 1) / granularity_.value();
    if (cells == 0) return {};
    const std::string name = "workspace " + std::to_string(index) + " of " + describe(graph_.op(op), op);
    if (!is_aligned(graph_.alignment(workspace), granularity_)) return complain(name + " is aligned too finely to shadow");
    const auto place = workspaces_.find({op, index});
    if (place == workspaces_.end()) return complain(name + " has no place");
    return extent(*place->second, workspace.size, static_cast<std::size_t>(cells), name);
  }

 private:
  template <class AnyPlacement>
  [[nodiscard]] Extent extent(const AnyPlacement& place, Bytes size, std::size_t cells, const std::string& name) const {
    if (place.arena.index() >= plan_.arenas.size()) return complain(name + " lies in an arena that does not exist");
    const Arena& arena = plan_.arenas[place.arena.index()];
    if (place.region >= arena.regions.size()) return complain(name + " lies in a region that does not exist");
    const Bytes top = arena.regions[place.region];
    const bool inside = Bytes{} <= place.offset && place.offset <= top && size <= top - place.offset;
    if (!inside) return complain(name + " lies outside its region");
    const std::size_t first = static_cast<std::size_t>(place.offset.value() / granularity_.value());
    return {first_space_[place.arena.index()] + place.region, first, cells};
  }

  [[nodiscard]] Extent complain(std::string finding) const {
    findings_.push_back(std::move(finding));
    return {};
  }

  const Graph& graph_;
  const Plan& plan_;
  const Families& families_;
  Bytes granularity_;
  std::vector<std::string>& findings_;
  std::vector<std::size_t> first_space_;  ///< By arena.
  std::size_t spaces_ = 0;
  std::vector<const Placement*> places_;  ///< By tensor.
  std::map<std::pair<OpId, std::uint32_t>, const WorkspacePlacement*> workspaces_;
};

/// Tensors that the run touches: those of ops that do something, what the caller writes or reads, and what holds a value for
/// ever.
std::vector<bool> touched_tensors(const Graph& graph, const Families& families) {
  std::vector<bool> touched;
  for (std::size_t i = 0; i < graph.tensors().size(); ++i) {
    const TensorFlags of_family = families.families[families.seats[i].family].flags;
    touched.push_back(graph.tensors()[i].flags.any_of({TensorFlag::input, TensorFlag::output}) ||
                      of_family.any_of({TensorFlag::variable, TensorFlag::external}));
  }
  for (const Op& op : graph.ops()) {
    if (op.no_task) continue;
    for (const TensorId output : op.outputs) touched[output.index()] = true;
    for (const std::optional<TensorId>& input : op.inputs) {
      if (input) touched[input->index()] = true;
    }
  }
  return touched;
}

}  // namespace

RunMemory planned_memory(const Graph& graph, const Plan& plan, const Families& families, Bytes granularity,
                         std::vector<std::string>& findings) {
  const Locator locator(graph, plan, families, granularity, findings);
  const std::vector<bool> touched = touched_tensors(graph, families);
  std::vector<Extent> tensors(graph.tensors().size());
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (touched[i]) tensors[i] = locator.tensor(TensorId(i));
  }
  std::vector<Extent> extents = tensors;
  std::vector<std::vector<Extent>> workspaces(graph.ops().size());
  for (std::size_t op = 0; op < graph.ops().size(); ++op) {
    if (graph.ops()[op].no_task) continue;
    for (std::uint32_t index = 0; index < graph.ops()[op].workspaces.size(); ++index) {
      workspaces[op].push_back(locator.workspace(OpId(op), index));
      extents.push_back(workspaces[op].back());
    }
  }
  if (!findings.empty()) return RunMemory{SparseMemory({})};

  RunMemory run{SparseMemory(std::move(extents))};
  for (const Extent& extent : tensors) run.tensors.push_back(run.memory.at(extent));
  for (const std::vector<Extent>& of_op : workspaces) {
    run.workspaces.emplace_back();
    for (const Extent& extent : of_op) run.workspaces.back().push_back(run.memory.at(extent));
  }
  return run;
}

}  // namespace stowage::testing
