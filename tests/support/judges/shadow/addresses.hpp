#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stowage/plan.hpp"
#include "support/judges/shadow/layout.hpp"

namespace stowage::testing {

/// The addresses of a planned run. Spaces lie far apart at multiples of 2^41, except for callers' buffers, which are
/// new in every run and aligned to no more than what the plan asks.
class Addresses {
 public:
  Addresses(std::uint64_t seed, AddressBase base) : seed_(seed), base_(base) {}

  /// Moves memory that may move between runs; its old content is lost.
  void begin_run(Layout& layout, std::size_t run);
  /// Gives `check_bindings` the buffers of this run; what it refuses is appended to `findings`.
  void check(const Plan& plan, const Layout& layout, std::vector<std::string>& findings) const;

  [[nodiscard]] std::uint64_t of(const Site& site) const {
    return bases_.empty() ? 0 : bases_[site.extent.space] + static_cast<std::uint64_t>(site.offset);
  }

 private:
  std::uint64_t seed_;
  AddressBase base_;
  std::vector<std::uint64_t> bases_;  ///< By space; empty for memory whose addresses are somebody else's.
};

}  // namespace stowage::testing
