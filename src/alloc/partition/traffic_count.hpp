#pragma once

#include <cstddef>
#include <vector>

#include "alloc/partition/model.hpp"

namespace stowage::partitioning {

/// The traffic of every family, kept up while groups go from backend to backend one by one.
///
/// Most families are *simple*: reads name one tensor, and nothing is written behind a read. Their traffic follows from
/// the first read of each backend, however many there are: what everybody reads (positions, a mask) costs no more than
/// anything else. When a first read goes elsewhere, the next one is searched from there on, which is a step or two for
/// ops that move in their order. Other families are counted anew, all their accesses, whenever an op of theirs moves.
class TrafficCount {
 public:
  /// Both outlive it. Precondition: `traffic_is_countable`.
  TrafficCount(const Model& model, const Assignment& assignment);

  /// To be told after every change of the assignment: `group` was on `from`. Returns by how much traffic has grown.
  Bytes moved(std::size_t group, std::size_t from);

 private:
  [[nodiscard]] bool is_simple(std::size_t family) const;
  [[nodiscard]] std::size_t& first_read(std::size_t family, std::size_t backend) {
    return first_reads_[family * model_.backends + backend];
  }
  void find_first_reads(std::size_t family);
  void move_reads(std::size_t op, std::size_t from);
  /// The first access from `start` on that is a read of that backend, else their number.
  [[nodiscard]] std::size_t next_read(std::size_t family, std::size_t backend, std::size_t start) const;
  [[nodiscard]] Bytes count(std::size_t family);
  [[nodiscard]] Bytes count_simple(std::size_t family);

  const Model& model_;
  const Assignment& assignment_;
  std::vector<Bytes> traffic_;  ///< By family.
  std::vector<std::size_t>
      first_reads_;  ///< By family and backend, of simple ones: among the accesses; their number: none.
  std::vector<std::size_t> readers_;  ///< Scratch.
};

}  // namespace stowage::partitioning
