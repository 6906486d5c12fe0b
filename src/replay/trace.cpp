#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <limits>
#include <unordered_map>

#include <fmt/format.h>

#include "files/interface/csv_text.hpp"
#include "stowage/replay.hpp"

namespace stowage {
namespace {

enum class Column : std::uint8_t { action, id, size, stream };
constexpr std::size_t kColumns = 4;
using Names = std::array<std::string_view, kColumns>;  // in the order of Column
constexpr std::size_t kMaxStreams = 1024;              // as in a graph
constexpr Bytes kMostLive{std::int64_t{1} << 50};      // more than any machine has; replaying it takes a page each
constexpr Names kOwnNames{"op", "id", "size", "stream"};
constexpr Names kRmmNames{"Action", "Pointer", "Size", "Stream"};

std::optional<std::uint64_t> parse_hexadecimal(std::string_view text) {
  if (text == "(nil)") return 0;
  if (text.starts_with("0x") || text.starts_with("0X")) text.remove_prefix(2);
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (error != std::errc() || end != text.data() + text.size()) return {};
  return value;
}

/// Reads one trace. Its members are the state of reading.
class TraceReader {
 public:
  TraceReader(std::string_view text, const std::string& file)
      : text_(files::without_byte_order_mark(text)), file_(file) {}

  Result<Trace> read();

 private:
  struct Row {
    std::uint64_t id = 0;
    Bytes size;
    StreamId stream;
  };
  struct Live {
    std::uint32_t allocation = 0;
    Bytes size;
  };

  [[nodiscard]] Error error(std::string message) const {
    return Error{ErrorCode::parse, std::move(message), {.file = file_, .line = line_, .path = {}}};
  }
  [[nodiscard]] std::string_view field(Column column) const {
    return files::content_of(fields_[index_[place(column)]]);
  }
  [[nodiscard]] Error bad_field(Column column, std::string_view wanted) const {
    return error(fmt::format("column '{}' must be {}, not '{}'", names_[place(column)], wanted, field(column)));
  }
  static std::size_t place(Column column) { return static_cast<std::size_t>(column); }

  /// Moves to the next line that is not blank, and splits it into fields; false at the end.
  Result<bool> advance();
  Status read_header();
  Result<Row> read_row();
  Result<std::uint64_t> number(Column column, std::string_view wanted) const;
  StreamId stream_of(std::uint64_t name);
  Status add(std::string_view action);
  Status allocate(const Row& row);
  Status free(const Row& row);

  std::string_view text_;
  const std::string& file_;
  std::int64_t line_ = 0;
  std::vector<std::string_view> fields_;
  std::size_t columns_ = 0;
  Names names_ = kOwnNames;
  std::array<std::size_t, kColumns> index_ = {};
  Bytes requested_;
  std::unordered_map<std::uint64_t, Live> live_;  ///< By id or pointer.
  std::unordered_map<std::uint64_t, StreamId> streams_;
  Trace trace_;
};

Result<bool> TraceReader::advance() {
  while (!text_.empty()) {
    const std::string_view line = files::next_line(text_);
    ++line_;
    if (files::trim(line).empty()) continue;
    if (!files::split_fields(line, fields_)) return error("a quote is not closed");
    return true;
  }
  return false;
}

Status TraceReader::read_header() {
  STOWAGE_TRY(const bool there, advance());
  if (!there)
    return Error{ErrorCode::parse, "the file is empty: a header is missing", {.file = file_, .line = {}, .path = {}}};
  columns_ = fields_.size();
  const auto find = [&](std::string_view name) {
    return std::find_if(fields_.begin(), fields_.end(),
                        [&](std::string_view each) { return files::content_of(each) == name; });
  };
  if (find(kRmmNames[0]) != fields_.end()) names_ = kRmmNames;
  for (std::size_t i = 0; i < kColumns; ++i) {
    const auto found = find(names_[i]);
    if (found == fields_.end()) {
      return error(fmt::format("column '{}' is missing: a trace has {}, an RMM log has {}", names_[i],
                               fmt::join(kOwnNames, ", "), fmt::join(kRmmNames, ", ")));
    }
    index_[i] = static_cast<std::size_t>(found - fields_.begin());
  }
  return Done{};
}

/// An id or a stream: any number, which identifies the same thing each time.
Result<std::uint64_t> TraceReader::number(Column column, std::string_view wanted) const {
  if (names_ == kRmmNames) {
    if (const auto value = parse_hexadecimal(field(column))) return *value;
  } else if (const auto value = files::parse_integer(field(column)); value && *value >= 0) {
    return static_cast<std::uint64_t>(*value);
  }
  return bad_field(column, wanted);
}

StreamId TraceReader::stream_of(std::uint64_t name) {
  return streams_.try_emplace(name, streams_.size()).first->second;
}

Result<TraceReader::Row> TraceReader::read_row() {
  Row row;
  STOWAGE_TRY(row.id, number(Column::id, names_ == kRmmNames ? "an address" : "a number from 0"));
  const std::optional<std::int64_t> size = files::parse_integer(field(Column::size));
  if (!size || *size < 0 || Bytes(*size) > kMaxBytes) {
    return bad_field(Column::size, fmt::format("an integer from 0 to {}", kMaxBytes.value()));
  }
  row.size = Bytes(*size);
  STOWAGE_TRY(const std::uint64_t stream, number(Column::stream, names_ == kRmmNames ? "a stream" : "a number from 0"));
  row.stream = stream_of(stream);
  if (streams_.size() > kMaxStreams) return error(fmt::format("there are more than {} streams", kMaxStreams));
  return row;
}

Status TraceReader::allocate(const Row& row) {
  if (trace_.allocations == std::numeric_limits<std::uint32_t>::max()) return error("there are too many allocations");
  const auto [entry, added] = live_.try_emplace(row.id, Live{trace_.allocations, row.size});
  if (!added) {
    return error(
        fmt::format("{} '{}' is allocated again without a free", names_[place(Column::id)], field(Column::id)));
  }
  if (row.size > kMostLive - requested_)
    return error(fmt::format("more than {} bytes are live at once", kMostLive.value()));
  requested_ += row.size;
  trace_.events.push_back({Trace::Action::allocate, trace_.allocations++, row.size, row.stream});
  return Done{};
}

Status TraceReader::free(const Row& row) {
  const auto found = live_.find(row.id);
  if (found == live_.end()) {
    return error(fmt::format("{} '{}' is freed but not allocated", names_[place(Column::id)], field(Column::id)));
  }
  const auto [allocation, size] = found->second;
  if (size != row.size) {
    return error(fmt::format("{} '{}' was allocated with {} bytes but is freed with {}", names_[place(Column::id)],
                             field(Column::id), size.value(), row.size.value()));
  }
  live_.erase(found);
  requested_ -= size;
  trace_.events.push_back({Trace::Action::free, allocation, size, row.stream});
  return Done{};
}

Status TraceReader::add(std::string_view action) {
  const bool from_rmm = names_ == kRmmNames;
  if (from_rmm && action == "allocate failure") return Done{};
  const bool allocates = action == (from_rmm ? "allocate" : "a");
  if (!allocates && action != (from_rmm ? "free" : "f")) {
    return bad_field(Column::action, from_rmm ? "allocate, allocate failure or free" : "a or f");
  }
  STOWAGE_TRY(const Row row, read_row());
  if (from_rmm && row.id == 0 && row.size == Bytes(0))
    return Done{};  // all allocations of 0 bytes share the null pointer
  return allocates ? allocate(row) : free(row);
}

Result<Trace> TraceReader::read() {
  STOWAGE_TRY_STATUS(read_header());
  while (true) {
    STOWAGE_TRY(const bool there, advance());
    if (!there) return std::move(trace_);
    if (fields_.size() != columns_) {
      return error(fmt::format("{} fields where the header has {} columns", fields_.size(), columns_));
    }
    STOWAGE_TRY_STATUS(add(field(Column::action)));
  }
}

}  // namespace

Result<Trace> parse_trace(std::string_view text, const std::string& file) { return TraceReader(text, file).read(); }

std::string trace_to_csv(const Trace& trace) {
  std::string text = fmt::format("{}\n", fmt::join(kOwnNames, ","));
  for (const Trace::Event& event : trace.events) {
    const char action = event.action == Trace::Action::allocate ? 'a' : 'f';
    text += fmt::format("{},{},{},{}\n", action, event.allocation, event.size.value(), event.stream.index());
  }
  return text;
}

}  // namespace stowage
