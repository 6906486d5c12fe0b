#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

#include <protozero/pbf_reader.hpp>

namespace stowage::io::onnx {

/// The fields of one protobuf message in their order, each asked for by the type it must have. A view of bytes that
/// live elsewhere.
///
/// Throws, for `read_model` to catch: `protozero::exception` on bytes that are not protobuf, `WrongType` on a field
/// that has another wire type than the one asked for. A field that nobody asked for is skipped.
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

  /// Repeated numbers: one, or where the file has them packed any number. Adds them to `to` as long as that has fewer
  /// than `limit`, and returns how many there are.
  std::size_t integers(std::vector<std::int64_t>& to, std::size_t limit = kAll);
  std::size_t floats32(std::vector<double>& to, std::size_t limit = kAll);
  std::size_t floats64(std::vector<double>& to, std::size_t limit = kAll);

 private:
  void take(protozero::pbf_wire_type type);
  [[nodiscard]] bool is_packed() const { return reader_.has_wire_type(protozero::pbf_wire_type::length_delimited); }

  protozero::pbf_reader reader_;
  std::uint32_t field_ = 0;  ///< The reader forgets it once the field is taken.
  bool taken_ = true;
};

}  // namespace stowage::io::onnx
