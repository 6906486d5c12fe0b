#pragma once

#include <string_view>

namespace stowage::io {

/// A kind of file that users take for a model that we can read, but that we cannot.
struct ForeignFormat {
  std::string_view what;    ///< "a PyTorch archive".
  std::string_view advice;  ///< What to do instead: a sentence without its final period.
};

/// By content. Null if it is none that we know. Accepts any bytes.
[[nodiscard]] const ForeignFormat* find_foreign(std::string_view bytes);
/// By the suffix of its name, for kinds whose content can look like anything.
[[nodiscard]] const ForeignFormat* find_foreign_by_name(std::string_view name);

}  // namespace stowage::io
