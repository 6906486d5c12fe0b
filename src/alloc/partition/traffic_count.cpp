#include "alloc/partition/traffic_count.hpp"

#include <algorithm>
#include <utility>

#include "alloc/partition/traffic.hpp"

namespace stowage::partitioning {

TrafficCount::TrafficCount(const Model& model, const Assignment& assignment)
    : model_(model), assignment_(assignment), first_reads_(model.families.list.size() * model.backends) {
  for (std::size_t f = 0; f < model.families.list.size(); ++f) {
    if (is_simple(f)) find_first_reads(f);
    traffic_.push_back(count(f));
  }
}

Bytes TrafficCount::moved(std::size_t group, std::size_t from) {
  for (const std::size_t op : model_.groups[group].ops) move_reads(op, from);
  Bytes growth;
  for (const std::size_t family : model_.groups[group].families) {
    const Bytes traffic = count(family);
    growth += traffic - std::exchange(traffic_[family], traffic);
  }
  return growth;
}

bool TrafficCount::is_simple(std::size_t family) const {
  const Family& members = model_.families.list[family];
  return !members.several_read && !members.overwritten;
}

void TrafficCount::find_first_reads(std::size_t family) {
  const std::vector<Access>& accesses = model_.families.list[family].accesses;
  for (std::size_t b = 0; b < model_.backends; ++b) first_read(family, b) = accesses.size();
  for (std::size_t i = accesses.size(); i-- > 0;) {
    if (!accesses[i].write) first_read(family, backend_of(model_, accesses[i].op, assignment_)) = i;
  }
}

void TrafficCount::move_reads(std::size_t op, std::size_t from) {
  for (const std::size_t family : model_.families.of_op[op]) {
    if (!is_simple(family)) continue;
    const std::vector<Access>& accesses = model_.families.list[family].accesses;
    const auto access = std::lower_bound(accesses.begin(), accesses.end(), op,
                                         [](const Access& each, std::size_t number) { return each.op < number; });
    if (access->write) continue;
    const auto index = static_cast<std::size_t>(access - accesses.begin());
    std::size_t& here = first_read(family, backend_of(model_, op, assignment_));
    here = std::min(here, index);
    std::size_t& there = first_read(family, from);
    if (there == index) there = next_read(family, from, index);
  }
}

std::size_t TrafficCount::next_read(std::size_t family, std::size_t backend, std::size_t start) const {
  const std::vector<Access>& accesses = model_.families.list[family].accesses;
  const auto found = std::find_if(
      accesses.begin() + static_cast<std::ptrdiff_t>(start), accesses.end(),
      [&](const Access& each) { return !each.write && backend_of(model_, each.op, assignment_) == backend; });
  return static_cast<std::size_t>(found - accesses.begin());
}

Bytes TrafficCount::count(std::size_t family) {
  return is_simple(family) ? count_simple(family) : traffic_of(model_, family, assignment_);
}

/// Like `crossings_of`: each reader, in order, gets a copy, unless it can use an existing one.
Bytes TrafficCount::count_simple(std::size_t family) {
  const Family& members = model_.families.list[family];
  if (!members.read) return Bytes(0);
  const std::size_t home = home_of(model_, family, assignment_);
  readers_.clear();
  for (std::size_t b = 0; b < model_.backends; ++b) {
    if (!model_.uses[b][home] && first_read(family, b) < members.accesses.size()) readers_.push_back(b);
  }
  std::sort(readers_.begin(), readers_.end(),
            [&](std::size_t a, std::size_t b) { return first_read(family, a) < first_read(family, b); });
  auto copies = readers_.begin();  // readers that get a copy are moved to the front
  for (auto reader = readers_.begin(); reader != readers_.end(); ++reader) {
    const bool found =
        std::any_of(readers_.begin(), copies, [&](std::size_t target) { return model_.uses[*reader][target]; });
    if (!found) *copies++ = *reader;
  }
  return Bytes(model_.graph->tensor(*members.read).size.value() * (copies - readers_.begin()));
}

}  // namespace stowage::partitioning
