#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

#include <protozero/pbf_reader.hpp>

namespace stowage::io::onnx {

/// Iterates over the fields of one protobuf message, each read as the type that it must have. Does not own the bytes.
///
/// Throws, for `read_model` to catch: `protozero::exception` on bytes that are not protobuf, `WrongType` on a field
/// with another wire type than the requested one. A field that is not read is skipped.
class Message {
 public:
  struct WrongType {
    std::uint32_t field;
  };
  static constexpr std::size_t kAll = std::numeric_limits<std::size_t>::max();

  explicit Message(std::string_view bytes) : reader_(bytes.data(), bytes.size()) {}

  /// Goes to the next field; false at the end.
  bool next();
  [[nodiscard]] std::uint32_t field() const { return field_; }

  [[nodiscard]] std::string_view bytes();
  [[nodiscard]] std::int64_t integer();
  [[nodiscard]] float float32();

  /// Repeated numbers: one, or any number if they are packed. Appends them to `to` up to a total of `limit`, and
  /// returns
  /// how many there are.
  std::size_t integers(std::vector<std::int64_t>& to, std::size_t limit = kAll);
  std::size_t floats32(std::vector<double>& to, std::size_t limit = kAll);
  std::size_t floats64(std::vector<double>& to, std::size_t limit = kAll);

 private:
  void take(protozero::pbf_wire_type type);
  [[nodiscard]] bool is_packed() const { return reader_.has_wire_type(protozero::pbf_wire_type::length_delimited); }

  protozero::pbf_reader reader_;
  std::uint32_t field_ = 0;  ///< The reader forgets it when the field is read.
  bool taken_ = true;
};

}  // namespace stowage::io::onnx
