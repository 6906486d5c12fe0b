#pragma once

#include <string>
#include <string_view>

#include "stowage/io.hpp"

namespace stowage::io::csv {

/// Text whose first line that is not blank names a column of such a table.
[[nodiscard]] bool is_table(std::string_view text);

/// `parse_csv` with the alignment of `options`, if there is one, in every row that has none of its own.
Result<Imported> import_table(std::string_view text, const std::string& file, const ImportOptions& options);

inline constexpr ImportOption kOptions[] = {ImportOption::alignment};
inline constexpr Format kFormat{.name = "csv",
                                .suffix = ".csv",
                                .holds = "table",
                                .description = "table of a packing problem, as MiniMalloc has it",
                                .options = kOptions,
                                .recognises = is_table,
                                .parse = import_table};

}  // namespace stowage::io::csv
