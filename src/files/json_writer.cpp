#include "files/interface/json_writer.hpp"

#include <cmath>
#include <cstdint>

namespace stowage::files {

OrderedJson number_to_json(double value) {
  constexpr double kExact = 9007199254740992;  // 2^53
  if (std::abs(value) > kExact || value != std::floor(value)) return value;
  return static_cast<std::int64_t>(value);
}

std::string to_line(const OrderedJson& value) {
  return value.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
}

}  // namespace stowage::files
