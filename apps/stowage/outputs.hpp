#pragma once

#include <string>
#include <string_view>
#include <vector>

/// The files that a command writes.
namespace stowage::cli {

/// A file to be written. An empty path: none.
struct OutputFile {
  std::string_view option;  ///< "--html", as in messages.
  const std::string& path;
};

/// Ends the command, before any work, if writing the outputs would lose something: if one of them is an input, whatever
/// its name, if two of them are one file, or if two of them go to standard output. "-" among the inputs is ignored.
void check_outputs(const std::vector<OutputFile>& outputs, const std::vector<std::string>& inputs);

/// A kind of file that a command can write, such as {".h", "a C header"}.
struct OutputKind {
  std::string_view suffix;
  std::string_view meaning;
};

/// Ends the command if the name of the file has a suffix, and it is none of these, each also with .gz. A name without a
/// suffix, "-" and a file that is not regular, such as a pipe, are fine.
void check_suffix(const OutputFile& output, const std::vector<OutputKind>& kinds);

}  // namespace stowage::cli
