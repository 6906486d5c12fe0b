#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "stowage/base.hpp"

namespace stowage::io::onnx {

/// The reader's position in a model, for error messages.
///
/// A level is popped only after it was read successfully: after an exception, the position is that of the error, for
/// `fault_at`.
class ReadContext {
 public:
  /// Thrown by `fail`, caught by `read_model`.
  struct Fault {
    ErrorCode code;
    std::string message;
  };

  void enter(std::string_view field) { levels_.push_back({field, kNoIndex, {}}); }
  void enter(std::string_view field, std::size_t index) { levels_.push_back({field, index, {}}); }
  /// Sets the subject of errors at this level and below: "node 'conv_1' (Conv)".
  void describe(std::string subject) { levels_.back().subject = std::move(subject); }
  void leave() { levels_.pop_back(); }

  [[noreturn]] static void fail(ErrorCode code, std::string message) { throw Fault{code, std::move(message)}; }

  /// An error at the place where reading stopped.
  [[nodiscard]] Error fault_at(const std::string& file, ErrorCode code, const std::string& message) const;

 private:
  static constexpr std::size_t kNoIndex = static_cast<std::size_t>(-1);

  struct Level {
    std::string_view field;  ///< Of the enclosing message.
    std::size_t index;       ///< Among the fields of that name.
    std::string subject;
  };
  std::vector<Level> levels_;
};

}  // namespace stowage::io::onnx
