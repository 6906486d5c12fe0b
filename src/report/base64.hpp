#pragma once

#include <string>
#include <string_view>

namespace stowage::report {

/// The base64 of RFC 4648 with padding, on one line.
[[nodiscard]] std::string to_base64(std::string_view bytes);

}  // namespace stowage::report
