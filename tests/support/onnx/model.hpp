#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include <protozero/pbf_writer.hpp>

/// Models for tests, written byte by byte: fields that are put together to messages.
namespace stowage::io::onnx::testing {

inline std::string bytes(std::uint32_t field, std::string_view content) {
  std::string result;
  protozero::pbf_writer(result).add_bytes(field, content.data(), content.size());
  return result;
}
inline std::string text(std::uint32_t field, std::string_view content) { return bytes(field, content); }
inline std::string number(std::uint32_t field, std::int64_t value) {
  std::string result;
  protozero::pbf_writer(result).add_int64(field, value);
  return result;
}
inline std::string packed(std::uint32_t field, const std::vector<std::int64_t>& values) {
  std::string result;
  protozero::pbf_writer(result).add_packed_int64(field, values.begin(), values.end());
  return result;
}

inline std::string message(std::initializer_list<std::string> fields) {
  std::string result;
  for (const std::string& field : fields) result += field;
  return result;
}

/// A TensorProto without data. `type` is a TensorProto.DataType.
inline std::string tensor(std::string_view name, std::int64_t type, const std::vector<std::int64_t>& dims) {
  std::string result;
  for (const std::int64_t dim : dims) result += number(1, dim);
  return result + number(2, type) + text(8, name);
}

/// A ValueInfoProto of a tensor.
inline std::string value(std::string_view name, std::int64_t type, const std::vector<std::int64_t>& dims) {
  std::string shape;
  for (const std::int64_t dim : dims) shape += bytes(1, number(1, dim));
  return message({text(1, name), bytes(2, bytes(1, message({number(1, type), bytes(2, shape)})))});
}

/// A NodeProto without attributes.
inline std::string node(std::string_view kind, const std::vector<std::string>& inputs,
                        const std::vector<std::string>& outputs, std::string_view name) {
  std::string result;
  for (const std::string& input : inputs) result += text(1, input);
  for (const std::string& output : outputs) result += text(2, output);
  return result + text(3, name) + text(4, kind);
}

/// An OperatorSetIdProto of ONNX's own operators.
inline std::string opset(std::int64_t version) { return message({text(1, ""), number(2, version)}); }

/// A ModelProto of opset 20 around the fields of a GraphProto.
inline std::string with_graph(std::initializer_list<std::string> fields) {
  return message({bytes(7, message(fields)), bytes(8, opset(20))});
}

}  // namespace stowage::io::onnx::testing
