#include "io/json_writer.hpp"

namespace stowage::io {

std::string to_line(const OrderedJson& value) { return value.dump(-1, ' ', false, OrderedJson::error_handler_t::replace); }

}  // namespace stowage::io
