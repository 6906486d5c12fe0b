#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "stowage/graph.hpp"
#include "stowage/plan.hpp"
#include "verify/findings.hpp"
#include "verify/places.hpp"

namespace stowage::verification {

/// A clear of the plan.
struct ClearEntry {
  OpId before;
  bool at_start = false;  ///< It runs before the first op.
  std::size_t cell = 0;
  ByteRange bytes;
  std::uint8_t value = 0;
  ArenaId arena;
  bool exists = false;
};

/// The clears of the plan, indexed by when they run. The constructor reports references to what does not exist, ranges
/// outside their regions, and clears before ops without a task.
class Clears {
 public:
  Clears(const Graph& graph, const Plan& plan, const Cells& cells, Findings& findings);

  [[nodiscard]] std::size_t size() const { return entries_.size(); }
  [[nodiscard]] const ClearEntry& operator[](std::uint32_t index) const { return entries_[index]; }
  [[nodiscard]] std::span<const std::uint32_t> at_start() const { return at_start_; }
  [[nodiscard]] std::span<const std::uint32_t> before(std::uint32_t op) const;

 private:
  bool read(const Graph& graph, const Clear& clear, const std::string& who, ClearEntry& entry, Findings& findings);

  std::vector<ClearEntry> entries_;
  std::vector<std::uint32_t> at_start_;
  std::map<std::uint32_t, std::vector<std::uint32_t>> before_;
};

}  // namespace stowage::verification
