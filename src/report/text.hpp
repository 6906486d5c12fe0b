#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "stowage/base.hpp"
#include "stowage/report/explain.hpp"

/// Text for people.
namespace stowage::report {

inline constexpr std::size_t kWidth = 100;

/// "1.25 MiB" or "1310720"; below 0 too.
[[nodiscard]] std::string size_text(Bytes bytes, SizeStyle style);

/// Of the whole, with one digit behind the point: "37.5%".
[[nodiscard]] std::string percent_text(Bytes part, Bytes whole);

/// A name that takes no more than `width` columns, its middle left out where it is longer; what a terminal might act on
/// is ?.
[[nodiscard]] std::string clipped(std::string_view name, std::size_t width);

/// Lines of at most `kWidth` columns: `start` as it is, then the words of `text`; all lines but the first are indented.
/// A word that is longer than a line is cut.
[[nodiscard]] std::string wrapped(std::string start, std::string_view text, std::size_t indent);

/// Its name; where others move with it, how many: "weight +3".
[[nodiscard]] std::string name_text(const Holder& holder, std::size_t width);

/// How many columns a UTF-8 text takes; all characters are taken to be one wide.
[[nodiscard]] std::size_t columns_of(std::string_view text);

/// "1 place", "3 places".
[[nodiscard]] std::string count_text(std::size_t count, std::string_view one, std::string_view many);

/// "12-15" for [12, 16), "12" for [12, 13).
[[nodiscard]] std::string steps_text(Interval steps);

/// "ffn_gate-* (32)": holders of one family together, in the order of their first.
[[nodiscard]] std::string families_text(const std::vector<Holder>& holders);

}  // namespace stowage::report
