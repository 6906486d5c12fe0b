#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "support/judges/oracle/run_order.hpp"

namespace stowage::oracle {

/// The memory of one run. Every writer leaves its own marks, and a value that is needed must find its marks intact.
class RunMarks : protected RunOrder {
 protected:
  /// A writer of marks: one lifetime of a value, a copy, or a clear.
  struct Writer {
    std::size_t owner;  ///< kNone for copies and clears.
    std::map<Segment, std::size_t> marks = {};
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

  void forget_marks();
  /// The value begins again.
  void forget_owner(std::size_t owner) {
    current_[owner] = kNone;
    stale_[owner].clear();
  }
  void fail(const std::string& what) {
    if (!fault_) fault_ = what;
  }

  [[nodiscard]] bool active(const Op& op) const { return op.batch.empty() || op.batch == batch_; }
  [[nodiscard]] bool is_begun(std::size_t owner) const { return current_[owner] != kNone; }
  std::size_t add_writer(std::size_t owner);
  [[nodiscard]] bool intact(std::size_t writer) const;
  /// Whether the marks that the writer wrote, or shares, are intact.
  [[nodiscard]] bool holds(std::size_t writer, const Spot& spot) const;

  /// Performs all accesses of an op: existing values must be intact; new values take their bytes, after all earlier
  /// accesses.
  void touch(const std::vector<std::size_t>& owners, std::size_t now, std::optional<OpId> op = {});
  /// New marks for these bytes of the tensor's owner.
  void write(TensorId tensor, const Spot& spot, std::size_t now);
  void write_copy(std::size_t writer, const Spot& to, std::size_t now);
  void fill(const Clear& clear, std::size_t event);
  void check_filled(const Spot& spot, std::uint8_t value);
  /// Bytes that values have in common because a packed op copies nothing: a write to one value makes the others stale
  /// there, until they are written themselves or made anew. `bytes` are those of the tensor that are read or written.
  void read_shared(TensorId tensor, const Spot& bytes);
  void write_shared(TensorId tensor, const Spot& bytes, std::size_t now, std::optional<OpId> op = {});
  void derive_shared(TensorId tensor);
  [[nodiscard]] bool is_met(std::size_t clear) const { return met_.contains(clear); }
  /// The owner has its bytes for the whole run.
  void reserve(std::size_t owner);
  /// Whether its marks matter. Nobody else may take the bytes of a constant or variable, unless they are in a packed
  /// group.
  [[nodiscard]] bool is_tracked(std::size_t owner) const;
  /// The owner has its bytes when the run starts.
  std::size_t begin_at_start(std::size_t owner);

  /// A writer that took another's bytes is accessed only after that.
  void check_order_of_takers();

  std::string batch_;
  std::vector<Writer> writers_;
  std::vector<std::size_t> current_;  ///< By owner: its writer.
  std::optional<std::string> fault_;

 private:
  [[nodiscard]] std::set<std::size_t> relatives(std::size_t owner, Segment segment) const;
  void make_stale(std::size_t relative, std::size_t owner, Segment segment, std::size_t now, std::optional<OpId> op);
  void begin(std::size_t owner, std::size_t now, std::optional<OpId> op);
  void put(Segment segment, std::size_t writer, std::optional<std::uint8_t> fill);
  void take(Segment segment, std::size_t writer, std::optional<std::size_t> now, std::optional<OpId> op = {},
            std::optional<std::uint8_t> fill = {});
  void take_from(Segment segment, std::size_t from, std::size_t writer, std::optional<std::size_t> now,
                 std::optional<OpId> op);
  void share(std::size_t mark, std::size_t writer, Segment segment);
  void check_reserved(Segment segment, std::size_t owner);
  [[nodiscard]] bool is_there(std::size_t writer, Segment segment, std::size_t mark) const;
  [[nodiscard]] bool is_made_of(std::size_t owner, std::size_t writer, Segment segment) const;
  [[nodiscard]] bool is_made_of_owner(std::size_t whole, std::size_t part, Segment segment) const;

  template <class F>
  static void for_each_segment(const std::vector<Spot>& spots, F&& f) {
    for (const Spot& spot : spots) {
      for (Segment segment = spot.first; segment < spot.last; ++segment) f(segment);
    }
  }

  std::vector<std::size_t> memory_;  ///< By segment: its mark.
  std::vector<Mark> marks_;
  std::vector<std::size_t> reserved_;            ///< By segment: the owner.
  std::vector<std::set<Segment>> stale_;         ///< By owner.
  std::map<std::size_t, std::size_t> clear_of_;  ///< By writer: which clear it is.
  std::set<std::size_t> met_;                    ///< Clears that some run has found.
};

}  // namespace stowage::oracle
