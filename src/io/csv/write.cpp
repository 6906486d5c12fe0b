#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "stowage/io.hpp"

namespace stowage {
namespace {

constexpr std::string_view kOffset = "offset";

Error unsupported(std::string message) { return Error{ErrorCode::unsupported, std::move(message), {}}; }

/// The bytes that are occupied during some steps: at most one range, because a gap cannot express more.
struct Segment {
  Interval when;
  ByteRange bytes;
};

/// The optional columns that a problem needs.
struct Needs {
  bool alignment = false;
  bool hint = false;
  bool gaps = false;
  bool apart = false;
  bool offset = false;
};

void append_fields(std::string& text, std::span<const std::string> fields) {
  const char* separator = "";
  for (const std::string& field : fields) {
    text += separator;
    text += field;
    separator = ",";
  }
}

/// The id, in quotes if a reader would otherwise misread it.
std::string quote(std::string_view id) {
  if (id.find_first_of(",\" \t\r") == id.npos) return std::string(id);
  std::string result = "\"";
  for (const char c : id) result += c == '"' ? std::string("\"\"") : std::string(1, c);
  return result + '"';
}

std::vector<Step> boundaries(const Item& item) {
  std::vector<Step> steps;
  for (const Piece& piece : item.pieces) {
    steps.push_back(piece.when.lower);
    steps.push_back(piece.when.upper);
  }
  std::sort(steps.begin(), steps.end());
  steps.erase(std::unique(steps.begin(), steps.end()), steps.end());
  return steps;
}

/// The range that is occupied at `step`, maybe empty; none if there are several with free bytes between them.
std::optional<ByteRange> occupied_at(const Item& item, Step step) {
  std::vector<ByteRange> ranges;
  for (const Piece& piece : item.pieces) {
    if (piece.when.contains(step) && !piece.bytes.empty()) ranges.push_back(piece.bytes);
  }
  if (ranges.empty()) return ByteRange{};
  std::sort(ranges.begin(), ranges.end());
  for (std::size_t i = 1; i < ranges.size(); ++i) {
    if (ranges[i - 1].upper != ranges[i].lower) return {};
  }
  return ByteRange{ranges.front().lower, ranges.back().upper};
}

/// The whole lifetime, split where the occupied bytes change.
Result<std::vector<Segment>> segments_of(const Item& item, std::string_view id) {
  std::vector<Segment> segments;
  const std::vector<Step> steps = boundaries(item);
  for (std::size_t i = 0; i + 1 < steps.size(); ++i) {
    const std::optional<ByteRange> bytes = occupied_at(item, steps[i]);
    if (!bytes) {
      return unsupported(fmt::format("item '{}' occupies separate byte ranges at step {}, which a CSV cannot express",
                                     id, steps[i].value()));
    }
    if (!segments.empty() && segments.back().bytes == *bytes) {
      segments.back().when.upper = steps[i + 1];
    } else {
      segments.push_back({{steps[i], steps[i + 1]}, *bytes});
    }
  }
  return segments;
}

std::string gaps_of(std::span<const Segment> segments, Bytes size) {
  std::string text;
  for (const auto& [when, bytes] : segments) {
    if (bytes == ByteRange{Bytes(0), size}) continue;
    if (!text.empty()) text += ' ';
    text += fmt::format("{}-{}", when.lower.value(), when.upper.value());
    if (!bytes.empty()) text += fmt::format("@{}:{}", bytes.lower.value(), bytes.upper.value());
  }
  return text;
}

/// Fails if a CSV cannot express the problem.
Status check_expressible(const Problem& problem) {
  if (problem.regions.size() != 1)
    return unsupported(fmt::format("a CSV has one region, not {}", problem.regions.size()));
  if (problem.regions[0].limit) return unsupported("a CSV cannot express a region limit");
  if (!problem.regions[0].paid) return unsupported("a CSV cannot express an unpaid region");
  if (!problem.order.empty()) return unsupported("a CSV cannot express stream order");
  if (problem.capacity) return unsupported("a CSV cannot express a capacity");
  return Done{};
}

Status check_ids(std::span<const std::string> ids) {
  std::unordered_set<std::string_view> seen;
  for (const std::string& id : ids) {
    if (id.empty()) return unsupported("a CSV cannot have an empty id");
    if (id.find('\n') != id.npos)
      return unsupported(fmt::format("the id '{}' has a line break, which a CSV cannot express", id));
    if (!seen.insert(id).second) return unsupported(fmt::format("two items have the id '{}'", id));
  }
  return Done{};
}

/// The fields of a row that are not part of its item.
struct Extras {
  std::string gaps;
  std::string apart;
  std::optional<Bytes> hint;
};

Needs needs_of(const Problem& problem, std::span<const Extras> extras) {
  const auto& items = problem.items;
  return {
      .alignment = std::any_of(items.begin(), items.end(), [](const Item& item) { return item.alignment != Bytes(1); }),
      .hint = std::any_of(extras.begin(), extras.end(), [](const Extras& each) { return each.hint.has_value(); }),
      .gaps = std::any_of(extras.begin(), extras.end(), [](const Extras& each) { return !each.gaps.empty(); }),
      .apart = !problem.apart.empty(),
      .offset = std::any_of(items.begin(), items.end(), [](const Item& item) { return item.pinned.has_value(); })};
}

void append_row(std::string& text, const Item& item, const Extras& extras, Needs needs) {
  const Interval life = item.life();
  text += fmt::format(",{},{},{}", life.lower.value(), life.upper.value(), item.size.value());
  if (needs.alignment) text += fmt::format(",{}", item.alignment.value());
  if (needs.hint) text += fmt::format(",{}", extras.hint ? extras.hint->value() : -1);
  if (needs.gaps) text += fmt::format(",{}", extras.gaps);
  if (needs.apart) text += fmt::format(",{}", extras.apart);
  if (needs.offset) text += fmt::format(",{}", item.pinned ? item.pinned->value() : -1);
  text += '\n';
}

/// Each pair stands in the row of its later item, or of the one whose id a list separated by spaces cannot hold.
Status add_apart(const Problem& problem, std::span<const std::string> ids, std::vector<Extras>& extras) {
  const auto is_word = [&](std::size_t item) { return ids[item].find_first_of(" \t\r") == std::string::npos; };
  for (const ApartPair& pair : problem.apart) {
    if (pair.of_a || pair.of_b)
      return unsupported(fmt::format("only some bytes of '{}' and '{}' are kept apart, which a CSV cannot express",
                                     ids[pair.a], ids[pair.b]));
    std::size_t named = std::min(pair.a, pair.b);
    std::size_t row = std::max(pair.a, pair.b);
    if (!is_word(named)) std::swap(named, row);
    if (!is_word(named)) {
      return unsupported(
          fmt::format("'{}' and '{}' are kept apart, but the column of a CSV cannot name an id with spaces",
                      ids[pair.a], ids[pair.b]));
    }
    std::string& list = extras[row].apart;
    list += (list.empty() ? "" : " ") + ids[named];
  }
  for (Extras& each : extras) {
    if (each.apart.find_first_of(",\"") != std::string::npos) each.apart = quote(each.apart);
  }
  return Done{};
}

Result<std::string> write_rows(const Problem& problem, std::span<const std::string> ids, std::vector<Extras> extras) {
  STOWAGE_CHECK(ids.size() == problem.items.size(), "one id per item");
  STOWAGE_TRY_STATUS(check_problem(problem));
  STOWAGE_TRY_STATUS(check_expressible(problem));
  STOWAGE_TRY_STATUS(check_ids(ids));
  for (std::size_t i = 0; i < ids.size(); ++i) {
    STOWAGE_TRY(const std::vector<Segment> segments, segments_of(problem.items[i], ids[i]));
    extras[i].gaps = gaps_of(segments, problem.items[i].size);
  }
  STOWAGE_TRY_STATUS(add_apart(problem, ids, extras));
  const Needs needs = needs_of(problem, extras);
  std::string text =
      fmt::format("id,lower,upper,size{}{}{}{}{}\n", needs.alignment ? ",alignment" : "", needs.hint ? ",hint" : "",
                  needs.gaps ? ",gaps" : "", needs.apart ? ",apart" : "", needs.offset ? ",offset" : "");
  for (std::size_t i = 0; i < ids.size(); ++i) {
    text += quote(ids[i]);
    append_row(text, problem.items[i], extras[i], needs);
  }
  return text;
}

}  // namespace

std::string csv_with_offsets(const CsvProblem& table, std::span<const Position> positions) {
  STOWAGE_CHECK(positions.size() == table.rows.size(), "one position per row");
  std::vector<std::string> fields = table.header;
  const auto column = static_cast<std::size_t>(std::find(fields.begin(), fields.end(), kOffset) - fields.begin());
  if (column == fields.size()) fields.emplace_back(kOffset);
  std::string text;
  append_fields(text, fields);
  text += '\n';
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    fields = table.rows[i];
    fields.resize(std::max(fields.size(), column + 1));
    fields[column] = fmt::format_int(positions[i].offset.value()).str();
    append_fields(text, fields);
    text += '\n';
  }
  return text;
}

Result<std::string> problem_to_csv(const Problem& problem, std::span<const std::string> ids) {
  return write_rows(problem, ids, std::vector<Extras>(ids.size()));
}

Result<std::string> table_to_csv(const CsvProblem& table) {
  std::vector<Extras> extras;
  for (const std::optional<Bytes>& hint : table.hints) extras.push_back({.gaps = {}, .apart = {}, .hint = hint});
  return write_rows(table.problem, table.ids, std::move(extras));
}

}  // namespace stowage
