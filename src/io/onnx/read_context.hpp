#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "stowage/base.hpp"

namespace stowage::io::onnx {

/// Where in a model the reader is, so that an error can say it.
///
/// Levels are left only when reading went well: whatever throws leaves the place where it happened behind, for
/// `fault_at`.
class ReadContext {
 public:
  /// What `fail` throws, for `read_model` to catch.
  struct Fault {
    ErrorCode code;
    std::string message;
  };

  void enter(std::string_view field) { levels_.push_back({field, kNoIndex, {}}); }
  void enter(std::string_view field, std::size_t index) { levels_.push_back({field, index, {}}); }
  /// What errors at this level and below are about: "node 'conv_1' (Conv)".
  void describe(std::string subject) { levels_.back().subject = std::move(subject); }
  void leave() { levels_.pop_back(); }

  [[noreturn]] static void fail(ErrorCode code, std::string message) { throw Fault{code, std::move(message)}; }

  /// An error at the place where reading stopped.
  [[nodiscard]] Error fault_at(const std::string& file, ErrorCode code, const std::string& message) const;

 private:
  static constexpr std::size_t kNoIndex = static_cast<std::size_t>(-1);

  struct Level {
    std::string_view field;  ///< Of the message around it.
    std::size_t index;       ///< Among those of that name.
    std::string subject;
  };
  std::vector<Level> levels_;
};

}  // namespace stowage::io::onnx
