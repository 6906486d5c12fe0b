#include <algorithm>
#include <cstdint>

#include <protozero/pbf_reader.hpp>

#include "io/onnx/format.hpp"

namespace stowage::io::onnx {
namespace {

using protozero::pbf_wire_type;

constexpr char kVersionTag = '\x08';  // field 1, a varint
constexpr std::uint32_t kGraph = 7;

struct ModelField {
  std::uint32_t number;
  pbf_wire_type type;
};
constexpr ModelField kModelFields[] = {
    {1, pbf_wire_type::varint},
    {2, pbf_wire_type::length_delimited},
    {3, pbf_wire_type::length_delimited},
    {4, pbf_wire_type::length_delimited},
    {5, pbf_wire_type::varint},
    {6, pbf_wire_type::length_delimited},
    {7, pbf_wire_type::length_delimited},
    {8, pbf_wire_type::length_delimited},
    {14, pbf_wire_type::length_delimited},
    {20, pbf_wire_type::length_delimited},
    {25, pbf_wire_type::length_delimited},
    {26, pbf_wire_type::length_delimited},
};

bool is_known(std::uint32_t number, pbf_wire_type type) {
  return std::any_of(std::begin(kModelFields), std::end(kModelFields),
                     [&](const ModelField& field) { return field.number == number && field.type == type; });
}

bool is_message_of_a_model(std::string_view bytes) {
  bool has_graph = false;
  try {
    protozero::pbf_reader message(bytes.data(), bytes.size());
    while (message.next()) {
      if (!is_known(message.tag(), message.wire_type())) return false;
      has_graph |= message.tag() == kGraph;
      message.skip();
    }
  } catch (const protozero::exception&) {
    return false;
  }
  return has_graph;
}

}  // namespace

bool is_model(std::string_view bytes) {
  if (bytes.size() >= 2 && bytes[0] == kVersionTag && bytes[1] != 0) return true;
  return is_message_of_a_model(bytes);
}

}  // namespace stowage::io::onnx
