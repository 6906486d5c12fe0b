#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "pack/plain.hpp"

namespace stowage::pack {

/// What makes an item come first in a valley. None wins alone.
enum class Priority : std::uint8_t { area, life_root_size, width, life, width_root_size, size, size_root_width };

/// All of them, the most promising first. Life × √size alone reaches the bound of large training graphs, where
/// sections, dense in some parts and rare in others, mislead the priorities by width.
inline constexpr std::array kPriorities = {Priority::area,           Priority::life_root_size,  Priority::width,
                                           Priority::life,           Priority::width_root_size, Priority::size,
                                           Priority::size_root_width};

/// A number for each item of which the largest comes first.
[[nodiscard]] std::vector<double> priorities(const Plain& plain, Priority priority);

}  // namespace stowage::pack
