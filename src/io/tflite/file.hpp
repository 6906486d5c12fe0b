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

/// The bytes of a .tflite file, checked: whatever is reached from `model()` through the schema lies inside them. What
/// the numbers in it refer to (tensors, buffers, subgraphs) is not checked here. Movable; the bytes must outlive it.
class File {
 public:
  /// Fails with `ErrorCode::parse` for bytes that are no TFLite file, are damaged, or end early, and with
  /// `ErrorCode::unsupported` for another version of the format. O(size), no more than a second; takes no memory that
  /// depends on what the file claims.
  static Result<File> open(std::string_view bytes, const std::string& name);

  [[nodiscard]] const schema::Model& model() const { return *model_; }
  /// As given, at an address that is a multiple of 16.
  [[nodiscard]] std::string_view bytes() const { return bytes_; }
  [[nodiscard]] const std::string& name() const { return name_; }

  /// An error at a place of this file: "subgraphs[1].operators[3]".
  [[nodiscard]] Error fault(ErrorCode code, std::string path, std::string message) const;

 private:
  File() = default;

  struct AlignedDelete {
    void operator()(char* memory) const;
  };

  std::unique_ptr<char, AlignedDelete> copy_;  ///< Where the bytes given were not aligned.
  std::string_view bytes_;
  std::string name_;
  const schema::Model* model_ = nullptr;
};

}  // namespace stowage::io::tflite
