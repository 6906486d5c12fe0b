#include "io/onnx/views.hpp"

#include <algorithm>
#include <optional>
#include <string_view>
#include <unordered_map>

namespace stowage::io::onnx {
namespace {

using Views = std::vector<View>;

bool all_known(const Operands& operands) {
  const auto known = [](const std::optional<Operand>& operand) { return !operand || operand->facts->is_known(); };
  return std::all_of(operands.inputs.begin(), operands.inputs.end(), known) &&
         std::all_of(operands.outputs.begin(), operands.outputs.end(), known);
}

const std::vector<std::int64_t>* integers_of(const Operand* operand) {
  return operand != nullptr && operand->facts->elements
             ? std::get_if<std::vector<std::int64_t>>(&*operand->facts->elements)
             : nullptr;
}

/// The only written output is all of input 0.
Views whole(const Node&, const Operands& operands) {
  const Operand* const input = operands.input(0);
  const Operand* const output = operands.output(0);
  const bool same =
      input != nullptr && output != nullptr && input->size == output->size && input->facts->type == output->facts->type;
  return same ? Views{{0, 0, Bytes(0)}} : Views{};
}

/// Not a view if it writes a mask or is in training mode.
Views dropout(const Node& node, const Operands& operands) {
  const auto* const training = integers_of(operands.input(2));
  const bool trains =
      operands.input(2) != nullptr && (training == nullptr || training->empty() || training->front() != 0);
  const bool trained_before = node.version < 7 && node.integer("is_test", 0) == 0;
  if (trains || trained_before || operands.output(1) != nullptr) return {};
  return whole(node, operands);
}

/// A view if only dims of 1 are moved.
Views transpose(const Node& node, const Operands& operands) {
  const Operand* const input = operands.input(0);
  if (input == nullptr) return {};
  const Dims& dims = *input->facts->dims;
  Dims reversed;
  for (std::size_t i = dims.size(); i-- > 0;) reversed.push_back(static_cast<std::int64_t>(i));
  const auto* const given = node.integers("perm");
  const Dims& order = given != nullptr ? *given : reversed;
  std::int64_t last = -1;
  for (const std::int64_t axis : order) {
    if (axis < 0 || axis >= static_cast<std::int64_t>(dims.size())) return {};
    if (dims[static_cast<std::size_t>(axis)] == 1) continue;
    if (axis < last) return {};
    last = axis;
  }
  return whole(node, operands);
}

/// A view if only one input has elements.
Views concat(const Node&, const Operands& operands) {
  const Operand* const output = operands.output(0);
  for (std::uint32_t i = 0; i < operands.inputs.size() && output != nullptr; ++i) {
    const Operand* const input = operands.input(i);
    if (input != nullptr && input->size == output->size && output->size > Bytes(0)) return {{0, i, Bytes(0)}};
  }
  return {};
}

/// The offset of a range along `axis` of a tensor; none if the range is not contiguous. Precondition: the tensor has
/// elements, so that products are bounded by its size.
std::optional<Bytes> part_offset(const ValueFacts& whole, std::size_t axis, std::int64_t start) {
  const Dims& dims = *whole.dims;
  std::int64_t stride = 1;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (i < axis && dims[i] != 1) return std::nullopt;
    if (i > axis) stride *= dims[i];
  }
  const std::int64_t elements = start * stride;
  const std::int64_t bits = element_bits(whole.type);
  if (bits % 8 == 0) return Bytes(elements * (bits / 8));
  return elements % 8 == 0 ? std::optional(Bytes(elements / 8 * bits)) : std::nullopt;
}

std::optional<std::size_t> axis_of(std::int64_t axis, const ValueFacts& of) {
  const auto rank = static_cast<std::int64_t>(of.dims->size());
  if (axis < -rank || axis >= rank) return std::nullopt;
  return static_cast<std::size_t>(axis < 0 ? axis + rank : axis);
}

Views split(const Node& node, const Operands& operands) {
  const Operand* const input = operands.input(0);
  const auto axis = input != nullptr ? axis_of(node.integer("axis", 0), *input->facts) : std::nullopt;
  Views views;
  std::int64_t start = 0;
  for (std::uint32_t i = 0; axis && i < operands.outputs.size(); ++i) {
    const Operand* const output = operands.output(i);
    const bool alike = output != nullptr && output->facts->dims->size() == input->facts->dims->size();
    const std::optional<Bytes> offset = alike ? part_offset(*input->facts, *axis, start) : std::nullopt;
    if (!offset) return {};  // the start after an omitted output is unknown
    views.push_back({i, 0, *offset});
    start += (*output->facts->dims)[*axis];
  }
  return views;
}

/// The indices of a gather as one range of its axis.
std::optional<std::int64_t> range_start(const std::vector<std::int64_t>& indices, std::int64_t extent) {
  if (indices.empty()) return std::nullopt;
  const std::int64_t start = indices.front() < 0 ? indices.front() + extent : indices.front();
  for (std::size_t i = 0; i < indices.size(); ++i) {
    const std::int64_t index = indices[i] < 0 ? indices[i] + extent : indices[i];
    if (index != start + static_cast<std::int64_t>(i) || index < 0 || index >= extent) return std::nullopt;
  }
  return start;
}

Views gather(const Node& node, const Operands& operands) {
  const Operand* const input = operands.input(0);
  const auto* const indices = integers_of(operands.input(1));
  const auto axis = input != nullptr ? axis_of(node.integer("axis", 0), *input->facts) : std::nullopt;
  if (!axis || indices == nullptr) return {};
  const auto start = range_start(*indices, (*input->facts->dims)[*axis]);
  const auto offset = start ? part_offset(*input->facts, *axis, *start) : std::nullopt;
  return offset ? Views{{0, 0, *offset}} : Views{};
}

/// The ranges of a slice: inputs since version 10, attributes before.
struct SliceRanges {
  const std::vector<std::int64_t>* starts = nullptr;
  const std::vector<std::int64_t>* axes = nullptr;   ///< Absent: the first ones.
  const std::vector<std::int64_t>* steps = nullptr;  ///< Absent: all 1.
};

std::optional<SliceRanges> slice_ranges(const Node& node, const Operands& operands) {
  SliceRanges ranges;
  if (node.inputs.size() < 2) {
    ranges = {node.integers("starts"), node.integers("axes"), nullptr};
  } else {
    ranges = {integers_of(operands.input(1)), integers_of(operands.input(3)), integers_of(operands.input(4))};
    const bool hidden = (operands.input(3) != nullptr && ranges.axes == nullptr) ||
                        (operands.input(4) != nullptr && ranges.steps == nullptr);
    if (hidden) return std::nullopt;
  }
  const auto fits = [&](const auto* list) { return list == nullptr || list->size() == ranges.starts->size(); };
  if (ranges.starts == nullptr || !fits(ranges.axes) || !fits(ranges.steps)) return std::nullopt;
  return ranges;
}

Views slice(const Node& node, const Operands& operands) {
  const Operand* const input = operands.input(0);
  const Operand* const output = operands.output(0);
  const auto ranges = slice_ranges(node, operands);
  if (!ranges || input == nullptr || output == nullptr) return {};
  const Dims& from = *input->facts->dims;
  const Dims& to = *output->facts->dims;
  if (from.size() != to.size()) return {};
  std::optional<Bytes> offset = Bytes(0);
  std::size_t cuts = 0;
  for (std::size_t i = 0; i < ranges->starts->size(); ++i) {
    const auto axis =
        axis_of(ranges->axes != nullptr ? (*ranges->axes)[i] : static_cast<std::int64_t>(i), *input->facts);
    const bool stepped = ranges->steps != nullptr && (*ranges->steps)[i] != 1;
    if (!axis || (stepped && to[*axis] > 1) || to[*axis] > from[*axis])
      return {};  // a type stated in the file may be wrong
    if (to[*axis] == from[*axis]) continue;
    std::int64_t start = (*ranges->starts)[i];
    if (start < 0) start += from[*axis];
    start = std::clamp<std::int64_t>(start, 0, from[*axis] - to[*axis]);
    offset = part_offset(*input->facts, *axis, start);
    if (!offset || ++cuts > 1) return {};
  }
  return {{0, 0, *offset}};
}

using Find = Views (*)(const Node&, const Operands&);

const std::unordered_map<std::string_view, Find>& finders() {
  static const std::unordered_map<std::string_view, Find> kFinders = {
      {"Reshape", whole}, {"Flatten", whole},  {"Squeeze", whole},       {"Unsqueeze", whole}, {"Identity", whole},
      {"Cast", whole},    {"CastLike", whole}, {"Expand", whole},        {"Tile", whole},      {"Dropout", dropout},
      {"Split", split},   {"Concat", concat},  {"Transpose", transpose}, {"Gather", gather},   {"Slice", slice},
  };
  return kFinders;
}

/// Whether the view is inside its input and not empty.
bool is_inside(const View& view, const Operands& operands) {
  const Operand* const input = operands.input(view.input);
  const Operand* const output = operands.output(view.output);
  return output->size > Bytes(0) && view.offset >= Bytes(0) && view.offset <= input->size &&
         output->size <= input->size - view.offset;
}

}  // namespace

bool may_be_view(const Node& node) { return node.domain.empty() && finders().contains(node.kind); }

std::vector<View> find_views(const Node& node, const Operands& operands) {
  if (!may_be_view(node) || !all_known(operands)) return {};
  if (operands.input(0) == nullptr || operands.input(0)->size == Bytes(0)) return {};
  Views views = finders().at(node.kind)(node, operands);
  const auto written = static_cast<std::size_t>(std::count_if(operands.outputs.begin(), operands.outputs.end(),
                                                              [](const auto& output) { return output.has_value(); }));
  const bool hold = views.size() == written && std::all_of(views.begin(), views.end(),
                                                           [&](const View& view) { return is_inside(view, operands); });
  return hold ? views : Views{};
}

}  // namespace stowage::io::onnx
