#pragma once

#include <cstddef>
#include <vector>

#include "alloc/partition/model.hpp"

namespace stowage::partitioning {

/// The traffic of every family, updated as groups move between backends one at a time.
///
/// Most families are *simple*: all reads name one tensor, and nothing is written after a read. Their traffic depends
/// only on the first read of each backend, so that a tensor that every op reads (positions, a mask) costs no more than
/// any other. When a first read moves to another backend, the next one is searched from there on, which takes a step or
/// two if ops move in order. For other families, all accesses are counted again whenever one of their ops moves.
class TrafficCount {
 public:
  /// Both must outlive this object. Precondition: `traffic_is_countable`.
  TrafficCount(const Model& model, const Assignment& assignment);

  /// Must be called after every change of the assignment: `group` was on `from`. Returns by how much the traffic has
  /// grown.
  Bytes moved(std::size_t group, std::size_t from);

 private:
  [[nodiscard]] bool is_simple(std::size_t family) const;
  [[nodiscard]] std::size_t& first_read(std::size_t family, std::size_t backend) {
    return first_reads_[family * model_.backends + backend];
  }
  void find_first_reads(std::size_t family);
  void move_reads(std::size_t op, std::size_t from);
  /// The first access from `start` on that is a read by that backend, or the number of accesses if there is none.
  [[nodiscard]] std::size_t next_read(std::size_t family, std::size_t backend, std::size_t start) const;
  [[nodiscard]] Bytes count(std::size_t family);
  [[nodiscard]] Bytes count_simple(std::size_t family);

  const Model& model_;
  const Assignment& assignment_;
  std::vector<Bytes> traffic_;  ///< By family.
  /// By family and backend, for simple families: the index of the first read among the accesses, or their number if
  /// there is none.
  std::vector<std::size_t> first_reads_;
  std::vector<std::size_t> readers_;  ///< Scratch.
};

}  // namespace stowage::partitioning
