#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "report/explanation.hpp"
#include "stowage/base.hpp"

/// Text for people.
namespace stowage::report {

inline constexpr std::size_t kWidth = 100;

/// "1.25 MiB" or "1310720"; below 0 too.
[[nodiscard]] std::string size_text(Bytes bytes, SizeStyle style);

/// The part as a share of the whole, with one decimal: "37.5%".
[[nodiscard]] std::string percent_text(Bytes part, Bytes whole);

/// A name shortened in the middle to at most `width` columns; control characters become '?'.
[[nodiscard]] std::string clipped(std::string_view name, std::size_t width);

/// Lines of at most `kWidth` columns: `start` unchanged, then the words of `text`; all lines except the first are
/// indented. A word that is longer than a line is shortened.
[[nodiscard]] std::string wrapped(std::string start, std::string_view text, std::size_t indent);

/// The holder's name, with the number of those that move with it, if any: "weight +3".
[[nodiscard]] std::string name_text(const Holder& holder, std::size_t width);

/// The number of columns of a UTF-8 text, assuming that every character is one column wide.
[[nodiscard]] std::size_t columns_of(std::string_view text);

/// "1 place", "3 places".
[[nodiscard]] std::string count_text(std::size_t count, std::string_view one, std::string_view many);

/// "12-15" for [12, 16), "12" for [12, 13).
[[nodiscard]] std::string steps_text(Interval steps);

/// "ffn_gate-* (32)": holders grouped by family, in the order of first occurrence.
[[nodiscard]] std::string families_text(const std::vector<Holder>& holders);

}  // namespace stowage::report
