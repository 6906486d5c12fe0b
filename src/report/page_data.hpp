#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "stowage/plan.hpp"
#include "stowage/planner.hpp"
#include "stowage/report/explain.hpp"

/// The data of a page, and its JSON text. docs/page.md says what each column means.
namespace stowage::report {

using Column = std::vector<std::int64_t>;

/// Distinct strings, numbered in the order of first use; 0 is the empty string.
class StringTable {
 public:
  StringTable() { (void)number({}); }
  StringTable(const StringTable&) = delete;
  StringTable& operator=(const StringTable&) = delete;
  StringTable(StringTable&&) = default;
  StringTable& operator=(StringTable&&) = default;

  std::int64_t number(std::string_view text);
  void reserve(std::size_t count) { numbers_.reserve(count); }
  [[nodiscard]] const std::deque<std::string>& texts() const { return texts_; }

 private:
  std::deque<std::string> texts_;                               ///< A deque: views of its elements stay valid.
  std::unordered_map<std::string_view, std::int64_t> numbers_;  ///< Of the texts.
};

struct OpColumns {
  Column name, kind, stream, layer, source;
};
struct TensorColumns {
  Column name, type, shape, size, role, holder, producer, read_count;
};
struct HolderColumns {
  Column arena, tensor, op, kind, scope, first, end, size, piece_count;
};
struct PieceColumns {
  Column first, end, low, size;
};

enum class TensorRole : std::int64_t { ordinary = 0, input = 1, output = 2, constant = 3, variable = 4, stays = 8 };

struct PageArena {
  std::string name;
  std::string memory;
  ArenaKind kind = ArenaKind::shared;
  Bytes size;
  Bytes lower_bound;
  bool proven_optimal = false;
  std::vector<Bytes> regions;
  bool concurrent = false;
};

/// Something that occupies bytes. `tensors` are the rows of the tensors in it.
struct PageHolder {
  std::size_t arena = 0;
  std::int64_t tensor = -1;
  std::int64_t op = -1;
  std::int64_t kind = 0;   ///< String.
  std::int64_t scope = 0;  ///< String.
  Interval life;
  Bytes size;
  Bytes low;
  std::vector<Piece> pieces;  ///< With offsets in the arena.
  std::vector<std::size_t> tensors;
};

/// One plan of a page.
struct PlanData {
  std::string label;
  Summary summary;
  std::optional<Bytes> capacity;
  StringTable strings;
  std::int64_t steps = 0;
  OpColumns ops;
  TensorColumns tensors;
  Column reads;
  std::vector<PageArena> arenas;
  HolderColumns holders;
  PieceColumns pieces;
  const Explanation* explanation = nullptr;  ///< Null: none.
};

/// Fills the columns of holders and pieces, sorted by arena, first step and lowest byte, and the holders of tensors.
void set_holders(PlanData& data, const std::vector<PageHolder>& holders);

/// Appends `"name":[…]` with the values, without a comma before or after it.
void append_column(std::string& text, std::string_view name, const Column& values);
/// Appends a JSON string. Bytes that are not UTF-8 become U+FFFD.
void append_string(std::string& text, std::string_view value);
/// Appends the object PLAN of docs/page.md.
void append_plan(std::string& text, const PlanData& data);

}  // namespace stowage::report
