#include "support/trace_file.hpp"

#include <algorithm>
#include <cstdio>
#include <sstream>
#include <string>
#include <system_error>

#include "stowage/io.hpp"
#include "support/data.hpp"

namespace stowage::testing {

namespace fs = std::filesystem;

std::vector<fs::path> trace_files() {
  std::vector<fs::path> files;
  const std::optional<fs::path> data = data_dir();
  if (!data) return files;
  std::error_code failure;
  for (const fs::directory_entry& entry : fs::directory_iterator(*data / "traces", failure)) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

std::optional<Trace> read_trace_file(const fs::path& file) {
  const Result<std::string> text = read_file(file.string());
  if (!text) return std::nullopt;
  std::istringstream lines(*text);
  std::string line;
  Trace trace;
  std::getline(lines, line);
  while (std::getline(lines, line)) {
    char op = 0;
    unsigned id = 0;
    long long size = 0;
    unsigned stream = 0;
    if (std::sscanf(line.c_str(), "%c,%u,%lld,%u", &op, &id, &size, &stream) != 4) return std::nullopt;
    const bool allocates = op == 'a';
    trace.events.push_back(
        {allocates ? Trace::Action::allocate : Trace::Action::free, id, Bytes(size), StreamId(std::size_t{stream})});
    if (allocates) ++trace.allocations;
  }
  return trace;
}

}  // namespace stowage::testing
