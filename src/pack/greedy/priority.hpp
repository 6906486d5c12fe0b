#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "pack/plain.hpp"

namespace stowage::pack {

/// Which item comes first in a valley. No priority is best on all problems.
enum class Priority : std::uint8_t { area, life_root_size, width, life, width_root_size, size, size_root_width };

/// All priorities, the most promising first. Only life × √size reaches the bound of large training graphs: their
/// sections are dense in some parts and sparse in others, which misleads the priorities by width.
inline constexpr std::array kPriorities = {Priority::area,           Priority::life_root_size,  Priority::width,
                                           Priority::life,           Priority::width_root_size, Priority::size,
                                           Priority::size_root_width};

/// A number per item; the largest comes first.
[[nodiscard]] std::vector<double> priorities(const Plain& plain, Priority priority);

}  // namespace stowage::pack
