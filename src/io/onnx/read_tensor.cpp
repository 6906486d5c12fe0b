#include "io/onnx/read_tensor.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <type_traits>

#include <fmt/format.h>

#include "io/onnx/wire.hpp"

namespace stowage::io::onnx {
namespace {

/// The data of a tensor as the file has it: raw bytes, or numbers in one of the typed lists.
struct Data {
  std::optional<std::string_view> raw;
  std::vector<std::int64_t> integers;
  std::vector<double> reals;
  std::size_t typed_count = 0;  ///< Total of all typed lists, including numbers that were not kept.
};

void check_dims(const Dims& dims) {
  for (const std::int64_t dim : dims) {
    if (dim < 0) ReadContext::fail(ErrorCode::parse, fmt::format("has the negative dimension {}", dim));
  }
}

void check_size(const TensorInfo& tensor) {
  const bool has_size = tensor.type == ElementType::string ? element_count(tensor.dims).has_value()
                                                           : tensor_size(tensor.type, tensor.dims).has_value();
  if (!has_size) ReadContext::fail(ErrorCode::invalid, "has more than 2^62 bytes");
}

/// IEEE half precision.
double half_to_double(std::uint16_t bits) {
  const int exponent = bits >> 10 & 0x1f;
  const int fraction = bits & 0x3ff;
  const double sign = (bits & 0x8000) != 0 ? -1 : 1;
  if (exponent == 0x1f) return fraction != 0 ? std::nan("") : sign * HUGE_VAL;
  if (exponent == 0) return sign * std::ldexp(fraction, -24);
  return sign * std::ldexp(fraction + 1024, exponent - 25);
}

/// Converts little-endian numbers of type `Stored` to numbers of type `Kept`.
template <class Stored, class Kept>
std::vector<Kept> unpack(std::string_view raw) {
  static_assert(std::endian::native == std::endian::little, "raw data is little-endian, and is read as it is");
  std::vector<Kept> result(raw.size() / sizeof(Stored));
  for (std::size_t i = 0; i < result.size(); ++i) {
    Stored value;
    std::memcpy(&value, raw.data() + i * sizeof(Stored), sizeof(Stored));
    result[i] = static_cast<Kept>(value);
  }
  return result;
}

std::vector<double> halves(const std::vector<std::int64_t>& bits) {
  std::vector<double> result;
  for (const std::int64_t each : bits) result.push_back(half_to_double(static_cast<std::uint16_t>(each)));
  return result;
}

std::optional<Elements> elements_of_raw(ElementType type, std::string_view raw) {
  switch (type) {
    case ElementType::boolean:
    case ElementType::uint8:
      return unpack<std::uint8_t, std::int64_t>(raw);
    case ElementType::int8:
      return unpack<std::int8_t, std::int64_t>(raw);
    case ElementType::uint16:
      return unpack<std::uint16_t, std::int64_t>(raw);
    case ElementType::int16:
      return unpack<std::int16_t, std::int64_t>(raw);
    case ElementType::uint32:
      return unpack<std::uint32_t, std::int64_t>(raw);
    case ElementType::int32:
      return unpack<std::int32_t, std::int64_t>(raw);
    case ElementType::uint64:
    case ElementType::int64:
      return unpack<std::int64_t, std::int64_t>(raw);
    case ElementType::float16:
      return halves(unpack<std::uint16_t, std::int64_t>(raw));
    case ElementType::float32:
      return unpack<float, double>(raw);
    case ElementType::float64:
      return unpack<double, double>(raw);
    default:
      return std::nullopt;
  }
}

std::optional<Elements> elements_of_typed(ElementType type, Data data) {
  switch (type) {
    case ElementType::boolean:
    case ElementType::uint8:
    case ElementType::int8:
    case ElementType::uint16:
    case ElementType::int16:
    case ElementType::uint32:
    case ElementType::int32:
    case ElementType::uint64:
    case ElementType::int64:
      return std::move(data.integers);
    case ElementType::float16:
      return halves(data.integers);
    case ElementType::float32:
    case ElementType::float64:
      return std::move(data.reals);
    default:
      return std::nullopt;
  }
}

/// How many numbers the typed lists must hold: complex ones are two, and small integers may share one.
bool typed_count_fits(ElementType type, std::size_t count, std::int64_t elements) {
  const auto found = static_cast<std::int64_t>(count);
  if (type == ElementType::complex64 || type == ElementType::complex128) return found / 2 == elements && found % 2 == 0;
  if (element_bits(type) < 8 && type != ElementType::string)
    return found == elements || found == tensor_size(type, std::array{elements})->value();
  return found == elements;
}

/// Moves the data to be kept into the tensor. Precondition: the dimensions are checked.
void add_data(TensorInfo& tensor, Data data) {
  const std::int64_t count = *element_count(tensor.dims);
  if (data.raw && !data.raw->empty()) {
    if (tensor.type == ElementType::string)
      ReadContext::fail(ErrorCode::parse, "has raw data, which strings cannot have");
    const std::int64_t expected = tensor_size(tensor.type, tensor.dims)->value();
    if (static_cast<std::int64_t>(data.raw->size()) != expected)
      ReadContext::fail(ErrorCode::parse, fmt::format("has {} bytes of data, but its shape and type need {}",
                                                      data.raw->size(), expected));
    if (count <= static_cast<std::int64_t>(kMaxKeptElements)) tensor.elements = elements_of_raw(tensor.type, *data.raw);
    return;
  }
  if (data.typed_count == 0 && count > 0) return;  // weights are omitted
  if (!typed_count_fits(tensor.type, data.typed_count, count))
    ReadContext::fail(ErrorCode::parse,
                      fmt::format("has {} elements of data, but its shape has {}", data.typed_count, count));
  if (count <= static_cast<std::int64_t>(kMaxKeptElements))
    tensor.elements = elements_of_typed(tensor.type, std::move(data));
  const auto keeps_all = [&](const auto& kept) { return kept.size() == static_cast<std::size_t>(count); };
  if (tensor.elements && !std::visit(keeps_all, *tensor.elements))
    ReadContext::fail(ErrorCode::parse,
                      fmt::format("has type {}, but its data is of another type", to_string(tensor.type)));
}

void name_tensor(ReadContext& context, const std::string& name) { context.describe(fmt::format("tensor '{}'", name)); }

/// Fields may come in any order, so the whole message is read before it is checked.
TensorInfo read_tensor_fields(std::string_view bytes, Data& data, ReadContext& context) {
  TensorInfo tensor;
  bool has_type = false;
  for (Message message(bytes); message.next();) {
    switch (message.field()) {
      case 1:
        message.integers(tensor.dims);
        break;
      case 2:
        tensor.type = checked_element_type(message.integer());
        has_type = tensor.type != ElementType::undefined;
        break;
      case 4:
        data.typed_count += message.floats32(data.reals, kMaxKeptElements);
        break;
      case 5:
      case 7:
      case 11:
        data.typed_count += message.integers(data.integers, kMaxKeptElements);
        break;
      case 6:
        static_cast<void>(message.bytes());
        ++data.typed_count;
        break;
      case 8:
        tensor.name = message.bytes();
        name_tensor(context, tensor.name);
        break;
      case 9:
        data.raw = message.bytes();
        break;
      case 10:
        data.typed_count += message.floats64(data.reals, kMaxKeptElements);
        break;
      case 14:
        tensor.external = message.integer() == 1;
        break;
      default:
        break;
    }
  }
  if (!has_type) ReadContext::fail(ErrorCode::parse, "has no element type");
  return tensor;
}

/// What some exporters write for a dim that is not known.
constexpr std::int64_t kUnknownDim = -1;

Dim read_dim(std::string_view bytes) {
  Dim dim;
  for (Message message(bytes); message.next();) {
    if (message.field() == 1) {
      dim = {.value = message.integer(), .param = {}};
    } else if (message.field() == 2) {
      dim = {.value = {}, .param = std::string(message.bytes())};
    }
  }
  if (dim.value == kUnknownDim) dim.value.reset();
  if (dim.value && *dim.value < 0)
    ReadContext::fail(ErrorCode::parse, fmt::format("has the negative dimension {}", *dim.value));
  return dim;
}

/// TypeProto.Tensor.
void read_tensor_type(std::string_view bytes, ValueInfo& value) {
  for (Message message(bytes); message.next();) {
    if (message.field() == 1) value.type = checked_element_type(message.integer());
    if (message.field() != 2) continue;
    if (!value.shape) value.shape.emplace();
    for (Message shape(message.bytes()); shape.next();) {
      if (shape.field() == 1) value.shape->push_back(read_dim(shape.bytes()));
    }
  }
}

void read_type(std::string_view bytes, ValueInfo& value) {
  for (Message message(bytes); message.next();) {
    switch (message.field()) {
      case 1:
        value.kind = ValueKind::tensor;
        read_tensor_type(message.bytes(), value);
        break;
      case 4:
        value.kind = ValueKind::sequence;
        break;
      case 5:
        value.kind = ValueKind::map;
        break;
      case 7:
        value.kind = ValueKind::opaque;
        break;
      case 8:
        value.kind = ValueKind::sparse_tensor;
        break;
      case 9:
        value.kind = ValueKind::optional;
        break;
      default:
        break;
    }
  }
}

}  // namespace

ElementType checked_element_type(std::int64_t number) {
  const std::optional<ElementType> type = element_type(number);
  if (!type) ReadContext::fail(ErrorCode::invalid, fmt::format("has the unknown element type {}", number));
  return *type;
}

TensorInfo read_tensor(std::string_view bytes, ReadContext& context) {
  Data data;
  TensorInfo tensor = read_tensor_fields(bytes, data, context);
  check_dims(tensor.dims);
  check_size(tensor);
  if (!tensor.external) add_data(tensor, std::move(data));
  return tensor;
}

TensorInfo read_sparse_tensor(std::string_view bytes, ReadContext& context) {
  TensorInfo tensor;
  bool has_values = false;
  for (Message message(bytes); message.next();) {
    if (message.field() == 1) {
      const TensorInfo values = read_tensor(message.bytes(), context);
      tensor.name = values.name;
      tensor.type = values.type;
      has_values = true;
    } else if (message.field() == 3) {
      message.integers(tensor.dims);
    }
  }
  if (!has_values) ReadContext::fail(ErrorCode::parse, "a sparse tensor without values");
  tensor.sparse = true;
  check_dims(tensor.dims);
  check_size(tensor);
  return tensor;
}

ValueInfo read_value_info(std::string_view bytes, ReadContext& context) {
  ValueInfo value;
  for (Message message(bytes); message.next();) {
    if (message.field() == 1) {
      value.name = message.bytes();
      context.describe(fmt::format("value '{}'", value.name));
    } else if (message.field() == 2) {
      read_type(message.bytes(), value);
    }
  }
  if (value.name.empty()) ReadContext::fail(ErrorCode::parse, "a value without a name");
  return value;
}

}  // namespace stowage::io::onnx
