#pragma once

#include <cstddef>
#include <string_view>

namespace stowage::report {

/// The viewer (viewer/, joined by the build): the parts of a page around its title and data, in the order head, title,
/// middle, data, tail. The texts have static storage duration.
struct Viewer {
  std::string_view head;
  std::string_view middle;
  std::string_view tail;
};
[[nodiscard]] Viewer viewer();

}  // namespace stowage::report
