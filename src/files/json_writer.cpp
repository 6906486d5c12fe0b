#include "files/interface/json_writer.hpp"

namespace stowage::files {

std::string to_line(const OrderedJson& value) {
  return value.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
}

}  // namespace stowage::files
