#include "support/judges/oracle/run_marks.hpp"

#include <algorithm>

namespace stowage::oracle {

void RunMarks::forget_marks() {
  memory_.assign(segments_, kNone);
  reserved_.assign(segments_, kNone);
  marks_.clear();
  writers_.clear();
  current_.assign(facts_.owners.size(), kNone);
  stale_.assign(facts_.owners.size(), {});
  clear_of_.clear();
}

std::size_t RunMarks::add_writer(std::size_t owner) {
  writers_.push_back({.owner = owner});
  if (owner != kNone) current_[owner] = writers_.size() - 1;
  return writers_.size() - 1;
}

// ------------------------------------------------------------------------------------------------------- who is there

/// Its own mark, or one of a part that was written since.
bool RunMarks::is_there(std::size_t writer, Segment segment, std::size_t mark) const {
  const std::size_t found = memory_[segment];
  if (found == kNone) return false;
  if (found == mark) return true;
  const std::size_t by = marks_[found].writer;
  return by != writer && writers_[writer].owner != kNone && is_made_of(writers_[writer].owner, by, segment);
}

bool RunMarks::intact(std::size_t writer) const {
  return std::all_of(writers_[writer].marks.begin(), writers_[writer].marks.end(),
                     [&](const auto& mark) { return is_there(writer, mark.first, mark.second); });
}

bool RunMarks::holds(std::size_t writer, const Spot& spot) const {
  bool all = true;
  for_each_segment({spot}, [&](Segment segment) {
    const auto mark = writers_[writer].marks.find(segment);
    if (mark != writers_[writer].marks.end() && !is_there(writer, segment, mark->second)) all = false;
  });
  return all;
}

/// Through parts, at any distance.
bool RunMarks::is_made_of(std::size_t owner, std::size_t writer, Segment segment) const {
  const std::size_t source = writers_[writer].owner;
  if (source == kNone) return false;
  if (parts_.empty()) return source == owner;
  std::set<std::size_t> reached = {owner};
  for (bool grown = true; grown;) {
    grown = false;
    for (const Part& part : parts_) {
      if (part.spot.has(segment) && reached.contains(part.derived)) grown |= reached.insert(part.source).second;
    }
  }
  return reached.contains(source);
}

bool RunMarks::is_made_of_owner(std::size_t whole, std::size_t part, Segment segment) const {
  return writers_[whole].owner != kNone && is_made_of(writers_[whole].owner, part, segment);
}

// ------------------------------------------------------------------------------------------------------ who comes new

void RunMarks::touch(const std::vector<std::size_t>& owners, std::size_t now, std::optional<OpId> op) {
  std::vector<std::size_t> fresh;
  for (const std::size_t owner : owners) {
    if (extent_[owner].empty() || !is_tracked(owner)) continue;
    if (!is_begun(owner)) {
      add_writer(owner);
      fresh.push_back(owner);
    } else if (std::find(fresh.begin(), fresh.end(), owner) == fresh.end() && !intact(current_[owner])) {
      fail("lost: owner " + std::to_string(owner));
    }
    writers_[current_[owner]].accesses.push_back(now);
  }
  for (const std::size_t owner : fresh) begin(owner, now, op);
}

void RunMarks::begin(std::size_t owner, std::size_t now, std::optional<OpId> op) {
  const std::size_t writer = current_[owner];
  for (const Part& part : parts_) {
    if (part.derived != owner || !active(graph_.op(part.op)) || !is_begun(part.source)) continue;
    if (!holds(current_[part.source], part.spot)) fail("part lost");
  }
  for_each_segment(extent_[owner], [&](Segment segment) {
    check_reserved(segment, owner);
    const std::size_t there = memory_[segment];
    if (there != kNone && is_made_of(owner, marks_[there].writer, segment)) {
      share(there, writer, segment);
      return;
    }
    take(segment, writer, now, op);
  });
}

std::size_t RunMarks::begin_at_start(std::size_t owner) {
  const std::size_t writer = add_writer(owner);
  for_each_segment(extent_[owner], [&](Segment segment) {
    check_reserved(segment, owner);
    const std::size_t there = memory_[segment];
    if (there != kNone && is_made_of(owner, marks_[there].writer, segment)) {
      share(there, writer, segment);
    } else {
      take(segment, writer, std::nullopt);
    }
  });
  return writer;
}

void RunMarks::write(TensorId tensor, const Spot& spot, std::size_t now) {
  const std::size_t owner = facts_.owner(tensor);
  const bool is_new = !is_begun(owner);
  const std::size_t writer = is_new ? add_writer(owner) : current_[owner];
  writers_[writer].accesses.push_back(now);
  for_each_segment({spot}, [&](Segment segment) {
    check_reserved(segment, owner);
    take(segment, writer, now);
  });
  if (is_new) begin(owner, now, {});
}

void RunMarks::write_copy(std::size_t writer, const Spot& to, std::size_t now) {
  writers_[writer].accesses.push_back(now);
  for_each_segment({to}, [&](Segment segment) {
    check_reserved(segment, kNone);
    take(segment, writer, now);
  });
}

// ------------------------------------------------------------------------------------------------------------- taking

/// The writer puts a mark of its own on the segment.
void RunMarks::take(Segment segment, std::size_t writer, std::optional<std::size_t> now, std::optional<OpId> op,
                    std::optional<std::uint8_t> fill) {
  std::vector<std::size_t> following;
  const std::size_t there = memory_[segment];
  if (there != kNone) {
    const Mark mark = marks_[there];
    const bool own = mark.writer == writer ||
                     (writers_[writer].owner != kNone && writers_[mark.writer].owner == writers_[writer].owner);
    const bool whole = is_made_of_owner(mark.writer, writer, segment);
    for (const std::size_t other : mark.shared) {
      if (other == writer || writers_[other].marks[segment] != there) continue;
      if (own || whole || is_made_of_owner(other, writer, segment)) {
        following.push_back(other);
      } else {
        const bool itself = writers_[mark.writer].owner == writers_[other].owner;
        take_from(segment, other, writer, now, itself ? op : std::nullopt);
      }
    }
  }
  put(segment, writer, fill);
  for (const std::size_t other : following) share(memory_[segment], other, segment);
}

void RunMarks::put(Segment segment, std::size_t writer, std::optional<std::uint8_t> fill) {
  marks_.push_back({writer, fill, {writer}});
  memory_[segment] = marks_.size() - 1;
  writers_[writer].marks[segment] = marks_.size() - 1;
}

void RunMarks::share(std::size_t mark, std::size_t writer, Segment segment) {
  writers_[writer].marks[segment] = mark;
  marks_[mark].shared.insert(writer);
}

void RunMarks::take_from(Segment segment, std::size_t from, std::size_t writer, std::optional<std::size_t> now,
                         std::optional<OpId> op) {
  if (writers_[from].waits_for) fail("an unread input is overwritten");
  if (!now) {
    fail("two from the start");
    return;
  }
  for (const std::size_t access : writers_[from].accesses) {
    const bool in_place =
        access == *now && op && may_overwrite(*op, writers_[from].owner, writers_[writer].owner, segment);
    if (!is_over(access, *now) && !in_place) fail("overwritten: owner " + std::to_string(writers_[from].owner));
  }
  writers_[writer].took.insert({from, *now});
}

void RunMarks::check_order_of_takers() {
  for (const Writer& writer : writers_) {
    for (const auto& [from, event] : writer.took) {
      for (const std::size_t a : writers_[from].accesses) {
        for (const std::size_t b : writer.accesses) {
          if (a == b || b < event || happens_before(a, b) || a > event) continue;
          fail("not ordered: owner " + std::to_string(writers_[from].owner));
        }
      }
    }
  }
}

// ------------------------------------------------------------------------------------------------------- shared bytes

/// Through parts and wholes, at any distance.
std::set<std::size_t> RunMarks::relatives(std::size_t owner, Segment segment) const {
  std::set<std::size_t> reached = {owner};
  for (bool grown = true; grown;) {
    grown = false;
    for (const Part& part : parts_) {
      if (!part.spot.has(segment)) continue;
      if (reached.contains(part.derived)) grown |= reached.insert(part.source).second;
      if (reached.contains(part.source)) grown |= reached.insert(part.derived).second;
    }
  }
  reached.erase(owner);
  return reached;
}

bool RunMarks::is_tracked(std::size_t owner) const {
  return !facts_.is_persistent(owner) || std::any_of(parts_.begin(), parts_.end(), [&](const Part& part) {
    return part.source == owner || part.derived == owner;
  });
}

void RunMarks::read_shared(TensorId tensor, const Spot& bytes) {
  const std::size_t owner = facts_.owner(tensor);
  for_each_segment({bytes}, [&](Segment segment) {
    if (stale_[owner].contains(segment)) fail("stale: owner " + std::to_string(owner));
  });
}

void RunMarks::write_shared(TensorId tensor, const Spot& bytes, std::size_t now, std::optional<OpId> op) {
  const std::size_t owner = facts_.owner(tensor);
  for_each_segment({bytes}, [&](Segment segment) {
    stale_[owner].erase(segment);
    for (const std::size_t relative : relatives(owner, segment)) make_stale(relative, owner, segment, now, op);
  });
}

void RunMarks::make_stale(std::size_t relative, std::size_t owner, Segment segment, std::size_t now,
                          std::optional<OpId> op) {
  if (!is_begun(relative)) return;
  stale_[relative].insert(segment);
  const Writer& overwritten = writers_[current_[relative]];
  if (overwritten.waits_for) fail("an unread input is overwritten");
  for (const std::size_t access : overwritten.accesses) {
    const bool in_place = access == now && op && may_overwrite(*op, relative, owner, segment);
    if (!is_over(access, now) && !in_place) fail("overwritten through owner " + std::to_string(owner));
  }
}

void RunMarks::derive_shared(TensorId tensor) {
  for_each_segment({spot_of(tensor)}, [&](Segment segment) { stale_[facts_.owner(tensor)].erase(segment); });
}

// ------------------------------------------------------------------------------------------- reserved bytes and fills

void RunMarks::reserve(std::size_t owner) {
  for_each_segment(extent_[owner], [&](Segment segment) {
    if (reserved_[segment] == kNone) reserved_[segment] = owner;
    if (kin_[reserved_[segment]] != kin_[owner]) fail("two that share with nobody");
  });
}

void RunMarks::check_reserved(Segment segment, std::size_t owner) {
  const std::size_t reserved = reserved_[segment];
  if (reserved == kNone || reserved == owner) return;
  if (owner == kNone || kin_[reserved] != kin_[owner]) fail("takes what is shared with nobody");
}

void RunMarks::fill(const Clear& clear, std::size_t event) {
  const std::size_t writer = add_writer(kNone);
  clear_of_[writer] = static_cast<std::size_t>(&clear - plan_.clears.data());
  writers_[writer].accesses.push_back(event);
  for_each_segment({spot_of(clear)}, [&](Segment segment) {
    if (reserved_[segment] != kNone && !is_filled_kin(reserved_[segment])) fail("fills what is shared with nobody");
    take(segment, writer, event, {}, clear.value);
  });
}

void RunMarks::check_filled(const Spot& spot, std::uint8_t value) {
  for_each_segment({spot}, [&](Segment segment) {
    const std::size_t mark = memory_[segment];
    if (mark != kNone && clear_of_.contains(marks_[mark].writer)) met_.insert(clear_of_[marks_[mark].writer]);
    if (mark == kNone || marks_[mark].fill != value) fail("not filled");
  });
}

}  // namespace stowage::oracle
