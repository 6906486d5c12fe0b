#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "files/interface/csv_text.hpp"
#include "io/csv/format.hpp"
#include "stowage/io.hpp"

namespace stowage {
namespace {

using files::content_of;
using files::next_line;
using files::parse_integer;
using files::split_fields;
using files::text_of;
using files::trim;

enum class Column : std::uint8_t { id, lower, upper, size, alignment, hint, gaps, offset, apart };
constexpr std::size_t kColumns = 9;
constexpr std::array<std::string_view, 4> kRequired{"id", "lower", "upper", "size"};  // in the order of Column

struct KnownName {
  std::string_view name;
  Column column;
};
constexpr std::string_view kInclusiveUpper = "end";
constexpr std::array kKnownNames{
    KnownName{"id", Column::id},         KnownName{"buffer", Column::id},
    KnownName{"buffer_id", Column::id},  KnownName{"lower", Column::lower},
    KnownName{"begin", Column::lower},   KnownName{"start", Column::lower},
    KnownName{"upper", Column::upper},   KnownName{"end", Column::upper},
    KnownName{"size", Column::size},     KnownName{"alignment", Column::alignment},
    KnownName{"hint", Column::hint},     KnownName{"gaps", Column::gaps},
    KnownName{"offset", Column::offset}, KnownName{"apart", Column::apart},
};

/// Null for any other name.
const KnownName* find_column(std::string_view name) {
  const auto found =
      std::find_if(kKnownNames.begin(), kKnownNames.end(), [&](const KnownName& k) { return k.name == name; });
  return found == kKnownNames.end() ? nullptr : &*found;
}

/// A gap, and the bytes that stay occupied during it; none if the whole item is free.
struct Gap {
  Interval when;
  std::optional<ByteRange> window;
};

// --------------------------------------------------------------------------------------------------------------- gaps

/// `first` SEPARATOR `second`, both within [0, 2^62].
std::optional<std::pair<std::int64_t, std::int64_t>> parse_pair(std::string_view text, char separator) {
  const std::size_t at = text.find(separator);
  if (at == text.npos) return {};
  const auto first = parse_integer(text.substr(0, at));
  const auto second = parse_integer(text.substr(at + 1));
  const auto fits = [](const auto& value) { return value && 0 <= *value && *value <= kMaxBytes.value(); };
  if (!fits(first) || !fits(second)) return {};
  return std::pair{*first, *second};
}

/// `lower-upper` or `lower-upper@window_lower:window_upper`.
std::optional<Gap> parse_gap(std::string_view text, Step beyond_upper) {
  const std::size_t at = text.find('@');
  const auto when = parse_pair(text.substr(0, at), '-');
  if (!when) return {};
  Gap gap{{Step(when->first), Step(when->second) + beyond_upper}, {}};
  if (at == text.npos) return gap;
  const auto window = parse_pair(text.substr(at + 1), ':');
  if (!window) return {};
  gap.window = ByteRange{Bytes(window->first), Bytes(window->second)};
  return gap;
}

/// Appends a piece, or extends the last one if it has the same bytes.
void append_piece(std::vector<Piece>& pieces, Piece piece) {
  if (piece.when.empty()) return;
  if (!pieces.empty() && pieces.back().when.upper == piece.when.lower && pieces.back().bytes == piece.bytes) {
    pieces.back().when.upper = piece.when.upper;
  } else {
    pieces.push_back(piece);
  }
}

/// The pieces of a lifetime without its gaps. Precondition: the gaps are ascending, disjoint and inside the lifetime.
std::vector<Piece> cut(Interval life, Bytes size, const std::vector<Gap>& gaps) {
  const ByteRange whole{Bytes(0), size};
  std::vector<Piece> pieces;
  Step from = life.lower;
  for (const Gap& gap : gaps) {
    append_piece(pieces, {{from, gap.when.lower}, whole});
    if (gap.window) append_piece(pieces, {gap.when, *gap.window});
    from = gap.when.upper;
  }
  append_piece(pieces, {{from, life.upper}, whole});
  return pieces;
}

// ------------------------------------------------------------------------------------------------------------- reader

/// Reads one table; the members are its current position.
class CsvReader {
 public:
  CsvReader(std::string_view text, const std::string& file) : text_(text), file_(file) {}

  Result<CsvProblem> read();

 private:
  [[nodiscard]] Error error(std::string message) const {
    return Error{ErrorCode::parse, std::move(message), {.file = file_, .line = line_, .path = {}}};
  }
  /// An error about a field of the current row.
  [[nodiscard]] Error error(Column column, std::string_view message) const;

  /// Moves to the next line that is not blank; false at the end.
  bool advance();
  Status split_line();
  Status read_header();
  Status add_column(std::string_view name, std::size_t index);
  Status read_row();
  Result<Item> read_item() const;
  Result<Interval> read_life() const;
  Result<std::vector<Gap>> read_gaps(Interval life, Bytes size) const;
  Status check_gap(const Gap& gap, Interval life, Bytes size, std::string_view text) const;
  Status check_ids();
  Status read_apart();
  Status read_apart(std::size_t row, const std::unordered_map<std::string_view, std::size_t>& rows);
  Status check_items();

  [[nodiscard]] bool has(Column column) const { return index_[static_cast<std::size_t>(column)].has_value(); }
  /// The field of the current row; empty if there is no such column.
  [[nodiscard]] std::string_view field(Column column) const;
  [[nodiscard]] std::string id() const { return text_of(fields_[*index_[static_cast<std::size_t>(Column::id)]]); }
  Result<std::int64_t> integer(Column column, std::int64_t lowest, std::int64_t highest) const;
  /// None for an empty field and for -1.
  Result<std::optional<Bytes>> optional_bytes(Column column) const;

  std::string_view text_;
  const std::string& file_;
  std::int64_t line_ = 0;
  std::string_view current_;
  std::vector<std::string_view> fields_;
  std::array<std::optional<std::size_t>, kColumns> index_ = {};
  Step beyond_upper_;  ///< 1 when the upper ends are inclusive.
  CsvProblem table_;
  std::vector<std::int64_t> lines_;  ///< The line of each row.
};

Error CsvReader::error(Column column, std::string_view message) const {
  const std::string& name = table_.header[*index_[static_cast<std::size_t>(column)]];
  return error(fmt::format("id '{}': column '{}' {}", id(), name, message));
}

bool CsvReader::advance() {
  while (!text_.empty()) {
    current_ = next_line(text_);
    ++line_;
    if (!trim(current_).empty()) return true;
  }
  return false;
}

Status CsvReader::split_line() {
  if (!split_fields(current_, fields_)) return error("a quote is not closed");
  return Done{};
}

std::string_view CsvReader::field(Column column) const {
  const auto index = index_[static_cast<std::size_t>(column)];
  return index ? content_of(fields_[*index]) : std::string_view();
}

Result<std::int64_t> CsvReader::integer(Column column, std::int64_t lowest, std::int64_t highest) const {
  const std::string_view text = field(column);
  const std::optional<std::int64_t> value = parse_integer(text);
  if (value && lowest <= *value && *value <= highest) return *value;
  return error(column, fmt::format("must be an integer from {} to {}, not '{}'", lowest, highest, text));
}

Result<std::optional<Bytes>> CsvReader::optional_bytes(Column column) const {
  if (field(column).empty()) return std::optional<Bytes>();
  STOWAGE_TRY(const std::int64_t value, integer(column, -1, kMaxBytes.value()));
  if (value == -1) return std::optional<Bytes>();
  return std::optional<Bytes>(Bytes(value));
}

Status CsvReader::add_column(std::string_view name, std::size_t index) {
  const KnownName* const known = find_column(name);
  if (!known) return error(fmt::format("unknown column '{}'", name));
  std::optional<std::size_t>& place = index_[static_cast<std::size_t>(known->column)];
  if (place) return error(fmt::format("column '{}' occurs twice, first as '{}'", name, table_.header[*place]));
  place = index;
  table_.header.emplace_back(name);
  if (name == kInclusiveUpper) beyond_upper_ = Step(1);
  return Done{};
}

Status CsvReader::read_header() {
  if (!advance())
    return Error{ErrorCode::parse, "the file is empty: a header is missing", {.file = file_, .line = {}, .path = {}}};
  STOWAGE_TRY_STATUS(split_line());
  for (std::size_t i = 0; i < fields_.size(); ++i) STOWAGE_TRY_STATUS(add_column(content_of(fields_[i]), i));
  for (std::size_t i = 0; i < kRequired.size(); ++i) {
    if (!index_[i]) return error(fmt::format("column '{}' is missing", kRequired[i]));
  }
  return Done{};
}

Result<Interval> CsvReader::read_life() const {
  STOWAGE_TRY(const std::int64_t lower, integer(Column::lower, 0, kMaxBytes.value()));
  STOWAGE_TRY(const std::int64_t upper, integer(Column::upper, 0, kMaxBytes.value() - beyond_upper_.value()));
  const Interval life{Step(lower), Step(upper) + beyond_upper_};
  if (life.empty())
    return error(Column::upper, fmt::format("ends the lifetime at {}, but it begins at {}", upper, lower));
  return life;
}

Status CsvReader::check_gap(const Gap& gap, Interval life, Bytes size, std::string_view text) const {
  if (gap.when.empty()) return error(Column::gaps, fmt::format("has the empty gap '{}'", text));
  if (!life.contains(gap.when)) return error(Column::gaps, fmt::format("has the gap '{}' outside the lifetime", text));
  if (!gap.window) return Done{};
  const ByteRange whole{Bytes(0), size};
  if (gap.window->empty() || !whole.contains(*gap.window)) {
    return error(Column::gaps,
                 fmt::format("has the gap '{}', whose window is empty or outside the size {}", text, size.value()));
  }
  return Done{};
}

Result<std::vector<Gap>> CsvReader::read_gaps(Interval life, Bytes size) const {
  std::vector<Gap> gaps;
  for (std::string_view rest = trim(field(Column::gaps)); !rest.empty(); rest = trim(rest)) {
    const std::string_view text = rest.substr(0, rest.find_first_of(" \t"));
    rest.remove_prefix(text.size());
    const std::optional<Gap> gap = parse_gap(text, beyond_upper_);
    if (!gap)
      return error(Column::gaps, fmt::format("has '{}', which is not of the form lower-upper[@lower:upper]", text));
    STOWAGE_TRY_STATUS(check_gap(*gap, life, size, text));
    gaps.push_back(*gap);
  }
  std::sort(gaps.begin(), gaps.end(), [](const Gap& a, const Gap& b) { return a.when < b.when; });
  for (std::size_t i = 1; i < gaps.size(); ++i) {
    if (gaps[i - 1].when.overlaps(gaps[i].when)) {
      return error(Column::gaps, fmt::format("has gaps that overlap at {}", gaps[i].when.lower.value()));
    }
  }
  return gaps;
}

Result<Item> CsvReader::read_item() const {
  Item item;
  STOWAGE_TRY(const Interval life, read_life());
  STOWAGE_TRY(const std::int64_t size, integer(Column::size, 0, kMaxBytes.value()));
  item.size = Bytes(size);
  if (!field(Column::alignment).empty()) {
    STOWAGE_TRY(const std::int64_t alignment, integer(Column::alignment, 1, kMaxBytes.value()));
    item.alignment = Bytes(alignment);
    if (!is_power_of_two(item.alignment))
      return error(Column::alignment, fmt::format("is {}, not a power of two", alignment));
  }
  STOWAGE_TRY(item.pinned, optional_bytes(Column::offset));
  STOWAGE_TRY(const std::vector<Gap> gaps, read_gaps(life, item.size));
  item.pieces = cut(life, item.size, gaps);
  if (item.pieces.empty()) return error(Column::gaps, "leaves nothing of the item");
  return item;
}

Status CsvReader::read_row() {
  STOWAGE_TRY_STATUS(split_line());
  if (fields_.size() != table_.header.size()) {
    return error(fmt::format("{} fields where the header has {} columns", fields_.size(), table_.header.size()));
  }
  if (field(Column::id).empty()) return error("the id is empty");
  STOWAGE_TRY(Item item, read_item());
  STOWAGE_TRY(const std::optional<Bytes> hint, optional_bytes(Column::hint));
  table_.problem.items.push_back(std::move(item));
  table_.hints.push_back(hint);
  table_.ids.push_back(id());
  table_.rows.emplace_back(fields_.begin(), fields_.end());
  lines_.push_back(line_);
  return Done{};
}

Status CsvReader::check_ids() {
  std::unordered_set<std::string_view> seen;
  seen.reserve(table_.ids.size());
  for (std::size_t i = 0; i < table_.ids.size(); ++i) {
    line_ = lines_[i];
    if (!seen.insert(table_.ids[i]).second) return error(fmt::format("id '{}' occurs twice", table_.ids[i]));
  }
  return Done{};
}

/// Pairs may name rows in either order, and be given by one row or both.
Status CsvReader::read_apart() {
  if (!has(Column::apart)) return Done{};
  std::unordered_map<std::string_view, std::size_t> rows;
  for (std::size_t i = 0; i < table_.ids.size(); ++i) rows.emplace(table_.ids[i], i);
  for (std::size_t i = 0; i < table_.ids.size(); ++i) STOWAGE_TRY_STATUS(read_apart(i, rows));
  std::vector<ApartPair>& all = table_.problem.apart;
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return Done{};
}

Status CsvReader::read_apart(std::size_t row, const std::unordered_map<std::string_view, std::size_t>& rows) {
  line_ = lines_[row];
  const std::size_t column = *index_[static_cast<std::size_t>(Column::apart)];
  const std::string text = text_of(table_.rows[row][column]);
  const auto fault = [&](std::string_view what) {
    return error(fmt::format("id '{}': column '{}' {}", table_.ids[row], table_.header[column], what));
  };
  for (std::string_view rest = trim(text); !rest.empty(); rest = trim(rest)) {
    const std::string_view name = rest.substr(0, rest.find_first_of(" \t"));
    rest.remove_prefix(name.size());
    const auto other = rows.find(name);
    if (other == rows.end()) return fault(fmt::format("names '{}', which is the id of no row", name));
    if (other->second == row) return fault("names the row itself");
    const auto [a, b] = std::minmax(row, other->second);
    table_.problem.apart.push_back({static_cast<std::uint32_t>(a), static_cast<std::uint32_t>(b)});
  }
  return Done{};
}

/// Reports an error about an item as one about its row, with the row's id and line.
Status CsvReader::check_items() {
  Status status = check_problem(table_.problem);
  if (status) return status;
  Error& fault = status.error();
  for (std::size_t row = 0; row < lines_.size(); ++row) {
    if (fault.where.path != fmt::format("items[{}]", row)) continue;
    const std::string item = fmt::format("item {}", row);
    if (fault.message.starts_with(item)) fault.message.replace(0, item.size(), fmt::format("id '{}'", table_.ids[row]));
    fault.where.line = lines_[row];
  }
  fault.where.file = file_;
  fault.where.path.clear();
  return status;
}

Result<CsvProblem> CsvReader::read() {
  text_ = files::without_byte_order_mark(text_);
  STOWAGE_TRY_STATUS(read_header());
  while (advance()) STOWAGE_TRY_STATUS(read_row());
  STOWAGE_TRY_STATUS(check_ids());
  STOWAGE_TRY_STATUS(read_apart());
  STOWAGE_TRY_STATUS(check_items());
  return std::move(table_);
}

}  // namespace

Result<CsvProblem> parse_csv(std::string_view text, const std::string& file) { return CsvReader(text, file).read(); }

bool io::csv::is_table(std::string_view text) {
  text = files::without_byte_order_mark(text);
  std::string_view line;
  while (!text.empty() && trim(line).empty()) line = next_line(text);
  std::vector<std::string_view> fields;
  return split_fields(line, fields) && std::any_of(fields.begin(), fields.end(), [](std::string_view field) {
           return find_column(content_of(field)) != nullptr;
         });
}

Result<Imported> io::csv::import_table(std::string_view text, const std::string& file, const ImportOptions& options) {
  STOWAGE_TRY(CsvProblem table, parse_csv(text, file));
  if (!options.alignment) return Imported(std::move(table));
  for (Item& item : table.problem.items) {
    if (item.alignment == Bytes(1)) item.alignment = *options.alignment;
  }
  Status status = check_problem(table.problem);
  if (status) return Imported(std::move(table));
  if (status.error().where.file.empty()) status.error().where.file = file;
  return std::move(status).error();
}

}  // namespace stowage
