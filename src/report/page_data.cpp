#include "report/page_data.hpp"

#include <algorithm>
#include <charconv>
#include <initializer_list>
#include <numeric>
#include <tuple>
#include <utility>

#include "files/interface/json_writer.hpp"
#include "stowage/io.hpp"

namespace stowage::report {
namespace {

using files::OrderedJson;

void append_number(std::string& text, std::int64_t value) {
  char digits[24];
  const auto [end, failure] = std::to_chars(std::begin(digits), std::end(digits), value);
  text.append(digits, end);
}

void append_columns(std::string& text, std::string_view name,
                    std::initializer_list<std::pair<std::string_view, const Column*>> columns) {
  text += ",\n\"";
  text += name;
  text += "\":{";
  const char* separator = "";
  for (const auto& [key, values] : columns) {
    text += separator;
    append_column(text, key, *values);
    separator = ",\n";
  }
  text += '}';
}

/// Whether a JSON string may hold the character unescaped. Names nearly always consist of such characters.
bool is_plain(char c) { return c >= 0x20 && c < 0x7F && c != '"' && c != '\\'; }

void append_strings(std::string& text, const StringTable& strings) {
  text += ",\n\"strings\":[";
  const char* separator = "";
  for (const std::string& each : strings.texts()) {
    text += separator;
    append_string(text, each);
    separator = ",";
  }
  text += ']';
}

OrderedJson arena_json(const PageArena& arena) {
  OrderedJson regions = OrderedJson::array();
  for (const Bytes top : arena.regions) regions.push_back(top.value());
  return {{"name", arena.name},
          {"memory", arena.memory},
          {"kind", to_string(arena.kind)},
          {"size", arena.size.value()},
          {"lower_bound", arena.lower_bound.value()},
          {"proven_optimal", arena.proven_optimal},
          {"regions", regions},
          {"counts", is_paid(arena.kind)},
          {"concurrent", arena.concurrent}};
}

void append_explanation(std::string& text, const Explanation* explanation) {
  text += ",\n\"explain\":" + (explanation ? explanation_to_json(*explanation) : std::string("null"));
  text += ",\n\"text\":";
  if (explanation) {
    append_string(text, explanation_to_text(*explanation, SizeStyle::human));
  } else {
    text += "null";
  }
}

}  // namespace

std::int64_t StringTable::number(std::string_view text) {
  if (const auto known = numbers_.find(text); known != numbers_.end()) return known->second;
  const auto number = static_cast<std::int64_t>(texts_.size());
  numbers_.emplace(texts_.emplace_back(text), number);
  return number;
}

void set_holders(PlanData& data, const std::vector<PageHolder>& holders) {
  std::vector<std::size_t> order(holders.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto rank = [&](std::size_t h) {
    return std::tuple(holders[h].arena, holders[h].life.lower, holders[h].low, h);
  };
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return rank(a) < rank(b); });
  for (std::size_t number = 0; number < order.size(); ++number) {
    const PageHolder& holder = holders[order[number]];
    data.holders.arena.push_back(static_cast<std::int64_t>(holder.arena));
    data.holders.tensor.push_back(holder.tensor);
    data.holders.op.push_back(holder.op);
    data.holders.kind.push_back(holder.kind);
    data.holders.scope.push_back(holder.scope);
    data.holders.first.push_back(holder.life.lower.value());
    data.holders.end.push_back(holder.life.upper.value());
    data.holders.size.push_back(holder.size.value());
    data.holders.piece_count.push_back(static_cast<std::int64_t>(holder.pieces.size()));
    for (const Piece& piece : holder.pieces) {
      data.pieces.first.push_back(piece.when.lower.value());
      data.pieces.end.push_back(piece.when.upper.value());
      data.pieces.low.push_back(piece.bytes.lower.value());
      data.pieces.size.push_back(piece.bytes.length().value());
    }
    for (const std::size_t tensor : holder.tensors) data.tensors.holder[tensor] = static_cast<std::int64_t>(number);
  }
}

void append_column(std::string& text, std::string_view name, const Column& values) {
  text += '"';
  text += name;
  text += "\":[";
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i > 0) text += ',';
    append_number(text, values[i]);
  }
  text += ']';
}

void append_string(std::string& text, std::string_view value) {
  if (!std::all_of(value.begin(), value.end(), is_plain)) {
    text += files::to_line(value);
    return;
  }
  text += '"';
  text += value;
  text += '"';
}

void append_plan(std::string& text, const PlanData& data) {
  text += "{\"label\":";
  append_string(text, data.label);
  text += ",\n\"summary\":" + summary_to_json(data.summary);
  text += ",\"capacity\":" + (data.capacity ? std::to_string(data.capacity->value()) : std::string("null"));
  append_strings(text, data.strings);
  text += ",\n\"steps\":" + std::to_string(data.steps);
  const OpColumns& ops = data.ops;
  append_columns(text, "ops",
                 {{"name", &ops.name},
                  {"kind", &ops.kind},
                  {"stream", &ops.stream},
                  {"layer", &ops.layer},
                  {"source", &ops.source}});
  const TensorColumns& tensors = data.tensors;
  append_columns(text, "tensors",
                 {{"name", &tensors.name},
                  {"type", &tensors.type},
                  {"shape", &tensors.shape},
                  {"size", &tensors.size},
                  {"role", &tensors.role},
                  {"holder", &tensors.holder},
                  {"producer", &tensors.producer},
                  {"read_count", &tensors.read_count}});
  text += ",\n";
  append_column(text, "reads", data.reads);
  files::append_list(text, "arenas", data.arenas, arena_json);
  const HolderColumns& holders = data.holders;
  append_columns(text, "holders",
                 {{"arena", &holders.arena},
                  {"tensor", &holders.tensor},
                  {"op", &holders.op},
                  {"kind", &holders.kind},
                  {"scope", &holders.scope},
                  {"first", &holders.first},
                  {"end", &holders.end},
                  {"size", &holders.size},
                  {"piece_count", &holders.piece_count}});
  const PieceColumns& pieces = data.pieces;
  append_columns(text, "pieces",
                 {{"first", &pieces.first}, {"end", &pieces.end}, {"low", &pieces.low}, {"size", &pieces.size}});
  append_explanation(text, data.explanation);
  text += '}';
}

}  // namespace stowage::report
