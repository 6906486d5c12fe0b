#pragma once

#include <string>
#include <string_view>

#include "stowage/io.hpp"

namespace stowage::io::csv {

/// True if the first line that is not blank names a column of such a table.
[[nodiscard]] bool is_table(std::string_view text);

/// `parse_csv`, with the alignment of `options`, if any, in every row without one.
Result<Imported> import_table(std::string_view text, const std::string& file, const ImportOptions& options);

inline constexpr ImportOption kOptions[] = {ImportOption::alignment};
inline constexpr Format kFormat{.name = "csv",
                                .suffix = ".csv",
                                .holds = "table",
                                .description = "table of a packing problem, as in MiniMalloc",
                                .options = kOptions,
                                .recognises = is_table,
                                .parse = import_table};

}  // namespace stowage::io::csv
