#include "io/onnx/wire.hpp"

namespace stowage::io::onnx {
namespace {

using protozero::pbf_wire_type;

template <class Range, class Number>
std::size_t append(const Range& range, std::vector<Number>& to, std::size_t limit) {
  std::size_t count = 0;
  for (const auto value : range) {
    if (to.size() < limit) to.push_back(static_cast<Number>(value));
    ++count;
  }
  return count;
}

template <class Number, class Value>
std::size_t append_one(Value value, std::vector<Number>& to, std::size_t limit) {
  if (to.size() < limit) to.push_back(static_cast<Number>(value));
  return 1;
}

}  // namespace

bool Message::next() {
  if (!taken_) reader_.skip();
  taken_ = !reader_.next();
  if (!taken_) field_ = reader_.tag();
  return !taken_;
}

void Message::take(pbf_wire_type type) {
  if (!reader_.has_wire_type(type)) throw WrongType{field_};
  taken_ = true;
}

std::string_view Message::bytes() {
  take(pbf_wire_type::length_delimited);
  const protozero::data_view view = reader_.get_view();
  return {view.data(), view.size()};
}

std::int64_t Message::integer() {
  take(pbf_wire_type::varint);
  return reader_.get_int64();
}

float Message::float32() {
  take(pbf_wire_type::fixed32);
  return reader_.get_float();
}

std::size_t Message::integers(std::vector<std::int64_t>& to, std::size_t limit) {
  if (!is_packed()) return append_one(integer(), to, limit);
  take(pbf_wire_type::length_delimited);
  return append(reader_.get_packed_int64(), to, limit);
}

std::size_t Message::floats32(std::vector<double>& to, std::size_t limit) {
  if (!is_packed()) return append_one(float32(), to, limit);
  take(pbf_wire_type::length_delimited);
  return append(reader_.get_packed_float(), to, limit);
}

std::size_t Message::floats64(std::vector<double>& to, std::size_t limit) {
  if (!is_packed()) {
    take(pbf_wire_type::fixed64);
    return append_one(reader_.get_double(), to, limit);
  }
  take(pbf_wire_type::length_delimited);
  return append(reader_.get_packed_double(), to, limit);
}

}  // namespace stowage::io::onnx
