#pragma once

#include <array>
#include <string_view>

namespace stowage::report {

/// The columns of a sweep's table, in their order.
inline constexpr std::array<std::string_view, 12> kSweepColumns = {
    "input", "hash", "dims", "options", "peak", "bound", "proven", "weights", "total", "status", "ms", "error"};

}  // namespace stowage::report
