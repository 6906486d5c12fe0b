#include "outputs.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "commands.hpp"
#include "input.hpp"
#include "output.hpp"

namespace stowage::cli {
namespace {

namespace fs = std::filesystem;

/// Where a file lies, or would lie if it existed: with a link to a file that does not exist followed too.
fs::path place_of(const std::string& name) {
  static constexpr int kMaxLinks = 40;  // the limit of Linux
  std::error_code failure;
  fs::path path = fs::absolute(name, failure);
  for (int i = 0; i < kMaxLinks && fs::is_symlink(path, failure); ++i)
    path = path.parent_path() / fs::read_symlink(path, failure);
  return fs::weakly_canonical(path, failure);
}

/// Whether both names lead to one file: through links too, and also if it does not exist yet.
bool is_same_file(const std::string& a, const std::string& b) {
  std::error_code failure;
  if (fs::equivalent(a, b, failure)) return true;
  return place_of(a) == place_of(b);
}

/// Several outputs may go to one terminal, pipe or device, such as /dev/null.
bool is_stored(const std::string& path) {
  std::error_code failure;
  const fs::file_status status = fs::status(path, failure);
  return !fs::exists(status) || fs::is_regular_file(status);
}

void check_pair(const OutputFile& a, const OutputFile& b) {
  if (a.path == "-" && b.path == "-")
    end_with(kUsage, fmt::format("only one output can go to standard output, not both {} and {}", a.option, b.option));
  if (a.path != "-" && b.path != "-" && is_stored(a.path) && is_same_file(a.path, b.path))
    end_with(kUsage, fmt::format("{} and {} would write one file, '{}': choose two", a.option, b.option, b.path));
}

}  // namespace

void check_outputs(const std::vector<OutputFile>& outputs, const std::vector<std::string>& inputs) {
  std::vector<OutputFile> used;
  for (const OutputFile& output : outputs) {
    if (!output.path.empty()) used.push_back(output);
  }
  for (auto output = used.begin(); output != used.end(); ++output) {
    for (const std::string& input : inputs) {
      if (output->path != "-" && input != "-" && is_stored(output->path) && is_same_file(input, output->path))
        end_with(kUsage,
                 fmt::format("'{}' is the input, which is never overwritten: choose another file", output->path));
    }
    std::for_each(used.begin(), output, [&](const OutputFile& other) { check_pair(other, *output); });
  }
}

void check_suffix(const OutputFile& output, const std::vector<OutputKind>& kinds) {
  if (output.path.empty() || output.path == "-" || !is_stored(output.path)) return;
  fs::path name = fs::path(output.path).filename();
  if (name.extension() == ".gz") name = name.stem();
  if (name.extension().empty()) return;
  std::string known;
  for (const OutputKind& kind : kinds) {
    if (name.extension() == kind.suffix) return;
    known += fmt::format("{}{} ({})", known.empty() ? "" : ", ", kind.suffix, kind.meaning);
  }
  end_with(kUsage, fmt::format("'{}': {} can be {}; each also with .gz", output.path, output.option, known));
}

}  // namespace stowage::cli
