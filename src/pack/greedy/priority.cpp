#include "pack/greedy/priority.hpp"

#include <cmath>

namespace stowage::pack {

std::vector<double> priorities(const Plain& plain, Priority priority) {
  std::vector<double> result(plain.count());
  for (std::uint32_t i = 0; i < plain.count(); ++i) {
    const double width = plain.last[i] - plain.first[i];
    const auto size = static_cast<double>(plain.size[i]);
    switch (priority) {
      case Priority::area:
        result[i] = width * size;
        break;
      case Priority::width:
        result[i] = width * 1e15 + size;
        break;
      case Priority::life_root_size:
        result[i] = static_cast<double>(plain.steps[i]) * std::sqrt(size);
        break;
      case Priority::life:
        result[i] = static_cast<double>(plain.steps[i]);
        break;
      case Priority::size_root_width:
        result[i] = size * std::sqrt(width);
        break;
      case Priority::width_root_size:
        result[i] = width * std::sqrt(size);
        break;
      case Priority::size:
        result[i] = size;
        break;
    }
  }
  return result;
}

}  // namespace stowage::pack
