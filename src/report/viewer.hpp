#pragma once

#include <cstddef>
#include <string_view>

namespace stowage::report {

/// The viewer (viewer/, joined by the build) as the page around a title and data: head, title, middle, data, tail.
/// Valid for ever.
struct Viewer {
  std::string_view head;
  std::string_view middle;
  std::string_view tail;
};
[[nodiscard]] Viewer viewer();

}  // namespace stowage::report
