#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace stowage::report {

/// Writes one Python object as pickle, protocol 4. Uses only what every reader of memory snapshots supports: no memo,
/// no frames, no classes. Lists and dicts are written in batches, as in Python, for readers that push a whole batch
/// onto a stack.
///
/// Use: `list(n, [&](i) { value i })`, `dict` with `key`s each followed by one value, `take` at the end.
class PickleWriter {
 public:
  PickleWriter();

  void none() { out_ += 'N'; }
  void boolean(bool value) { out_ += value ? '\x88' : '\x89'; }
  void integer(std::int64_t value);
  void real(double value);
  /// Bytes that are not UTF-8 become '?'.
  void text(std::string_view value);
  /// Begins an entry of the open dict; its value must follow.
  void key(std::string_view name) { text(name); }

  template <class Write>
  void list(std::size_t count, Write write) {
    out_ += ']';
    for (std::size_t i = 0; i < count; ++i) {
      if (i % kBatch == 0) out_ += '(';
      write(i);
      if (i % kBatch == kBatch - 1 || i + 1 == count) out_ += 'e';
    }
  }
  /// `write` writes keys and values.
  template <class Write>
  void dict(Write write) {
    out_ += "}(";
    write();
    out_ += 'u';
  }
  /// Two integers.
  void pair(std::int64_t first, std::int64_t second);

  [[nodiscard]] std::string take() &&;

 private:
  static constexpr std::size_t kBatch = 1000;

  void append(std::uint64_t value, std::size_t bytes);  ///< Little-endian.

  std::string out_;
};

}  // namespace stowage::report
