#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "support/judges/run_order.hpp"

namespace stowage::oracle {

/// The bytes of one run. Whoever writes leaves marks of its own, and whoever is needed must find them again.
class RunMarks : protected RunOrder {
 protected:
  /// Who writes marks: a value between two beginnings, a copy, a clear.
  struct Writer {
    std::size_t klass;  ///< kOther for copies and clears.
    std::map<Byte, std::size_t> marks = {};
    std::vector<std::size_t> accesses = {};                   ///< Events.
    std::optional<std::size_t> waits_for = {};                ///< An unread input: it is needed until that op.
    std::set<std::pair<std::size_t, std::size_t>> took = {};  ///< From which writer, at which event.
  };
  struct Mark {
    std::size_t writer;
    std::optional<std::uint8_t> fill = {};
    std::set<std::size_t> shared = {};  ///< Writers that are made of it.
  };

  using RunOrder::RunOrder;

  void fail(const std::string& what) {
    if (!fault_) fault_ = what;
  }

  [[nodiscard]] bool active(const Op& op) const { return op.batch.empty() || op.batch == batch_; }
  std::size_t add_writer(std::size_t klass) {
    writers_.push_back({.klass = klass});
    if (klass != kOther) current_[klass] = writers_.size() - 1;
    return writers_.size() - 1;
  }

  void put(const Byte& byte, std::size_t writer, std::optional<std::uint8_t> fill = {}) {
    marks_.push_back({writer, fill, {writer}});
    memory_[byte] = marks_.size() - 1;
    writers_[writer].marks[byte] = marks_.size() - 1;
  }

  void check_filled(const Spot& spot, std::uint8_t value) {
    for_each_byte({spot}, [&](const Byte& byte) {
      const auto mark = memory_.find(byte);
      if (mark == memory_.end() || marks_[mark->second].fill != value) fail("not filled");
    });
  }

  /// Its own mark, or one of a part that was written since.
  [[nodiscard]] bool is_there(std::size_t writer, const Byte& byte, std::size_t mark) const {
    const auto found = memory_.find(byte);
    if (found == memory_.end()) return false;
    const std::size_t by = marks_[found->second].writer;
    if (found->second == mark) return true;
    return by != writer && writers_[writer].klass != kOther && is_made_of(writers_[writer].klass, by, byte);
  }

  [[nodiscard]] bool intact(std::size_t writer) const {
    return std::all_of(writers_[writer].marks.begin(), writers_[writer].marks.end(),
                       [&](const auto& mark) { return is_there(writer, mark.first, mark.second); });
  }

  /// All that an op touches: what is there must be whole; what is new takes its bytes, behind all accesses.
  void touch(const std::vector<std::size_t>& classes, std::size_t now, std::optional<OpId> op = {}) {
    std::vector<std::size_t> fresh;
    for (const std::size_t klass : classes) {
      if (!extent_.contains(klass) || is_persistent(klass)) continue;
      const bool is_new = !current_.contains(klass);
      if (is_new) {
        add_writer(klass);
        fresh.push_back(klass);
      } else if (std::find(fresh.begin(), fresh.end(), klass) == fresh.end() && !intact(current_[klass])) {
        fail("lost: class " + std::to_string(klass));
      }
      writers_[current_[klass]].accesses.push_back(now);
    }
    for (const std::size_t klass : fresh) begin(klass, now, op);
  }

  void begin(std::size_t klass, std::size_t now, std::optional<OpId> op) {
    const std::size_t writer = current_[klass];
    for (const Part& part : parts_) {
      if (part.derived != klass || !active(graph_.op(part.op)) || !current_.contains(part.source)) continue;
      for_each_byte({part.spot}, [&](const Byte& byte) {
        const auto& marks = writers_[current_[part.source]].marks;
        if (marks.contains(byte) && !is_there(current_[part.source], byte, marks.at(byte))) fail("part lost");
      });
    }
    for_each_byte(extent_[klass], [&](const Byte& byte) {
      check_reserved(byte, klass);
      const auto there = memory_.find(byte);
      if (there != memory_.end() && is_made_of(klass, marks_[there->second].writer, byte)) {
        share(there->second, writer, byte);
        return;
      }
      take(byte, writer, now, op);
    });
  }

  /// Through parts, at any distance.
  [[nodiscard]] bool is_made_of(std::size_t klass, std::size_t writer, const Byte& byte) const {
    const std::size_t source = writers_[writer].klass;
    if (source == kOther) return false;
    std::set<std::size_t> reached = {klass};
    for (bool grown = true; grown;) {
      grown = false;
      for (const Part& part : parts_) {
        if (part.spot.has(byte) && reached.contains(part.derived)) grown |= reached.insert(part.source).second;
      }
    }
    return reached.contains(source);
  }

  /// The writer puts a mark of its own on the byte.
  void take(const Byte& byte, std::size_t writer, std::optional<std::size_t> now, std::optional<OpId> op = {},
            std::optional<std::uint8_t> fill = {}) {
    std::vector<std::size_t> following;
    const auto there = memory_.find(byte);
    if (there != memory_.end()) {
      const Mark mark = marks_[there->second];
      const bool own =
          mark.writer == writer || (writers_[writer].klass != kOther && writers_[mark.writer].klass == writers_[writer].klass);
      const bool whole = is_made_of_class(mark.writer, writer, byte);
      for (const std::size_t other : mark.shared) {
        if (other == writer || writers_[other].marks[byte] != there->second) continue;
        if (own || whole || is_made_of_class(other, writer, byte)) {
          following.push_back(other);
        } else {
          const bool itself = writers_[mark.writer].klass == writers_[other].klass;
          take_from(byte, other, writer, now, itself ? op : std::nullopt);
        }
      }
    }
    put(byte, writer, fill);
    for (const std::size_t other : following) share(memory_[byte], other, byte);
  }

  void share(std::size_t mark, std::size_t writer, const Byte& byte) {
    writers_[writer].marks[byte] = mark;
    marks_[mark].shared.insert(writer);
  }

  [[nodiscard]] bool is_made_of_class(std::size_t whole, std::size_t part, const Byte& byte) const {
    return writers_[whole].klass != kOther && is_made_of(writers_[whole].klass, part, byte);
  }

  void take_from(const Byte& byte, std::size_t from, std::size_t writer, std::optional<std::size_t> now, std::optional<OpId> op) {
    if (writers_[from].waits_for) fail("an unread input is overwritten");
    if (!now) {
      fail("two from the start");
      return;
    }
    for (const std::size_t access : writers_[from].accesses) {
      const bool in_place = access == *now && op && may_overwrite(*op, writers_[from].klass, writers_[writer].klass, byte);
      if (!is_over(access, *now) && !in_place) fail("overwritten: class " + std::to_string(writers_[from].klass));
    }
    writers_[writer].took.insert({from, *now});
  }

  /// Whoever took another one's bytes is only touched after that.
  void check_order_of_takers() {
    for (const Writer& writer : writers_) {
      for (const auto& [from, event] : writer.took) {
        for (const std::size_t a : writers_[from].accesses) {
          for (const std::size_t b : writer.accesses) {
            if (a == b || b < event || happens_before(a, b) || a > event) continue;
            fail("not ordered: class " + std::to_string(writers_[from].klass));
          }
        }
      }
    }
  }

  void check_reserved(const Byte& byte, std::size_t klass) {
    const auto owner = reserved_.find(byte);
    if (owner == reserved_.end() || owner->second == klass) return;
    if (klass == kOther || kin_[owner->second] != kin_[klass]) fail("takes what is shared with nobody");
  }

  void fill(const Clear& clear, std::size_t event) {
    const std::size_t writer = add_writer(kOther);
    writers_[writer].accesses.push_back(event);
    const Spot spot{{clear.arena.index(), clear.region}, clear.offset.value(), clear.size.value()};
    for_each_byte({spot}, [&](const Byte& byte) {
      const auto owner = reserved_.find(byte);
      if (owner != reserved_.end() && !is_filled_kin(owner->second)) fail("fills what is shared with nobody");
      take(byte, writer, event, {}, clear.value);
    });
  }

  /// New marks for these bytes of the tensor's class.
  void write(TensorId tensor, const Spot& spot, std::size_t now) {
    const std::size_t klass = class_[tensor.index()];
    const bool is_new = !current_.contains(klass);
    const std::size_t writer = is_new ? add_writer(klass) : current_[klass];
    writers_[writer].accesses.push_back(now);
    for_each_byte({spot}, [&](const Byte& byte) {
      check_reserved(byte, klass);
      take(byte, writer, now);
    });
    if (is_new) begin(klass, now, {});
  }

  std::string batch_;
  std::map<Byte, std::size_t> memory_;
  std::vector<Mark> marks_;
  std::vector<Writer> writers_;
  std::map<std::size_t, std::size_t> current_;  ///< By class: its writer.
  std::map<Byte, std::size_t> reserved_;
  std::optional<std::string> fault_;
};

}  // namespace stowage::oracle
