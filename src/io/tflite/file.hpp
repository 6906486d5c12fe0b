#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "stowage/base.hpp"

namespace stowage::io::tflite {

namespace schema {
struct Model;
}

/// The bytes of a .tflite file, checked: everything reachable from `model()` through the schema lies inside them.
/// Indices of tensors, buffers and subgraphs are not checked here. Movable; the bytes must outlive it.
class File {
 public:
  /// Fails with `ErrorCode::parse` for bytes that are not a TFLite file, are damaged or truncated, and with
  /// `ErrorCode::unsupported` for another version of the format. O(size), at most a second; memory does not depend on
  /// sizes that the file claims.
  static Result<File> open(std::string_view bytes, const std::string& name);

  [[nodiscard]] const schema::Model& model() const { return *model_; }
  /// The bytes, at an address that is a multiple of 16.
  [[nodiscard]] std::string_view bytes() const { return bytes_; }
  [[nodiscard]] const std::string& name() const { return name_; }

  /// An error at a place of this file: "subgraphs[1].operators[3]".
  [[nodiscard]] Error fault(ErrorCode code, std::string path, std::string message) const;

 private:
  File() = default;

  struct AlignedDelete {
    void operator()(char* memory) const;
  };

  std::unique_ptr<char, AlignedDelete> copy_;  ///< Used if the given bytes are not aligned.
  std::string_view bytes_;
  std::string name_;
  const schema::Model* model_ = nullptr;
};

}  // namespace stowage::io::tflite
