#include "io/onnx/shape/declared.hpp"

#include <fmt/format.h>

#include "io/onnx/shape/dims.hpp"

namespace stowage::io::onnx::shape {
namespace {

/// Declared dimensions with names replaced by values; none: no value.
using Resolved = std::vector<std::optional<std::int64_t>>;

Resolved resolve(const std::vector<Dim>& shape, const DimValues& values) {
  Resolved dims;
  for (const Dim& dim : shape) {
    const auto given = dim.value ? values.end() : values.find(dim.param);
    dims.push_back(given != values.end() ? given->second : dim.value);
  }
  return dims;
}

/// Why the shape is not completely known; empty if it is.
std::string gap_in(const std::vector<Dim>& shape, const Resolved& dims) {
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (dims[i]) continue;
    return shape[i].param.empty() ? "one of its dims has neither value nor name"
                                  : fmt::format("the dim '{}' has no value", shape[i].param);
  }
  return {};
}

bool agree(const Resolved& declared, const Dims& dims) {
  if (declared.size() != dims.size()) return false;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (declared[i] && *declared[i] != dims[i]) return false;
  }
  return true;
}

/// Values of symbolic dims that make the shapes agree; empty if other dims differ too.
DimValues agreeing_dims(const std::vector<Dim>& shape, const Resolved& declared, const Dims& dims) {
  DimValues values;
  if (shape.size() != dims.size()) return values;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (!declared[i] || *declared[i] == dims[i]) continue;
    if (shape[i].value || !values.try_emplace(shape[i].param, dims[i]).second) return {};
  }
  return values;
}

std::string describe_shape(const std::vector<Dim>& shape, const Resolved& dims) {
  std::string text;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (i > 0) text += ", ";
    text += dims[i] ? std::to_string(*dims[i]) : shape[i].param.empty() ? "?" : shape[i].param;
  }
  return fmt::format("[{}]", text);
}

void take_dims(ValueFacts& facts, const Resolved& declared) {
  Dims dims;
  for (const std::optional<std::int64_t>& dim : declared) dims.push_back(*dim);
  try {
    check_dims(facts.type, dims);
  } catch (const Stop& no) {
    facts.reason = no.reason;
    return;
  }
  facts.dims = std::move(dims);
}

std::optional<Difference> reconcile_shape(ValueFacts& facts, const std::vector<Dim>& shape, const DimValues& values) {
  const Resolved declared = resolve(shape, values);
  if (facts.dims) {
    if (agree(declared, *facts.dims)) return std::nullopt;
    return Difference{fmt::format("its shape is {} in the file, but {} by inference", describe_shape(shape, declared),
                                  to_string(*facts.dims)),
                      agreeing_dims(shape, declared, *facts.dims)};
  }
  const std::string gap = gap_in(shape, declared);
  if (gap.empty()) {
    take_dims(facts, declared);
  } else if (facts.reason.empty()) {
    facts.reason = gap;
  } else if (facts.stopped_by.empty()) {
    facts.reason += ", and " + gap;
  }
  return std::nullopt;
}

}  // namespace

std::optional<Difference> reconcile(ValueFacts& facts, const ValueInfo& info, const DimValues& values) {
  if (info.kind != ValueKind::tensor && info.kind != ValueKind::unknown) {
    facts = {.kind = info.kind, .reason = fmt::format("it is {}", to_string(info.kind))};
    return std::nullopt;
  }
  if (info.type != ElementType::undefined) {
    if (facts.type != ElementType::undefined && facts.type != info.type)
      return Difference{
          fmt::format("its type is {} in the file, but {} by inference", to_string(info.type), to_string(facts.type))};
    facts.type = info.type;
  }
  if (info.shape) {
    if (std::optional<Difference> difference = reconcile_shape(facts, *info.shape, values)) return difference;
  }
  if (facts.is_known()) {
    facts.stopped_by.clear();
    facts.reason.clear();
  }
  return std::nullopt;
}

}  // namespace stowage::io::onnx::shape
