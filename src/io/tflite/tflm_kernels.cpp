#include "io/tflite/tflm_kernels.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <string_view>

#include "io/tflite/types.hpp"

namespace stowage::io::tflite {
namespace {

// TFLM counts with 32 bits. Products of two such numbers, and sums of such buffers, stay far below 2^63.
constexpr std::int64_t kMaxElements = std::int64_t{1} << 28;
constexpr std::int64_t kMaxBuffer = std::numeric_limits<std::int32_t>::max();

/// What does not depend on the operator's tensors.
struct Fixed {
  std::string_view kind;
  std::int64_t options = 0;
  std::int64_t data = 0;  ///< What the kernel keeps from the beginning; 0: nothing.
  std::int64_t options_alignment = 4;
  std::int64_t descriptions = 1;  ///< 0: nothing is prepared.
  bool custom = false;
};

constexpr Fixed kFixed[] = {
    {.kind = "ABS", .data = 28},
    {.kind = "ADD", .options = 8, .data = 60},
    {.kind = "ARG_MAX", .options = 4, .descriptions = 0},
    {.kind = "ARG_MIN", .options = 4, .descriptions = 0},
    {.kind = "AVERAGE_POOL_2D", .options = 40, .data = 32},
    {.kind = "BATCH_TO_SPACE_ND"},
    {.kind = "BROADCAST_TO"},
    {.kind = "CAST", .options = 8},
    {.kind = "CEIL"},
    {.kind = "CONCATENATION", .options = 8, .data = 80, .descriptions = 2},
    {.kind = "CONV_2D", .options = 28, .data = 80, .descriptions = 2},
    {.kind = "COS"},
    {.kind = "CUMSUM", .options = 2, .options_alignment = 1},
    {.kind = "DEPTHWISE_CONV_2D", .options = 28, .data = 80, .descriptions = 2},
    {.kind = "DEPTH_TO_SPACE", .options = 4},
    {.kind = "DEQUANTIZE", .data = 32},
    {.kind = "DIV", .options = 4, .data = 28},
    {.kind = "ELU", .data = 256},
    {.kind = "EQUAL", .data = 32},
    {.kind = "EXP"},
    {.kind = "EXPAND_DIMS"},
    {.kind = "FLOOR", .descriptions = 0},
    {.kind = "FLOOR_DIV"},
    {.kind = "FLOOR_MOD"},
    {.kind = "FULLY_CONNECTED", .options = 32, .data = 72, .options_alignment = 8},
    {.kind = "GATHER", .options = 8},
    {.kind = "GREATER", .data = 32},
    {.kind = "GREATER_EQUAL", .data = 32},
    {.kind = "HARD_SWISH", .data = 20},
    {.kind = "L2_NORMALIZATION", .options = 4, .data = 4},
    {.kind = "L2_POOL_2D", .options = 40},
    {.kind = "LEAKY_RELU", .options = 4, .data = 24},
    {.kind = "LESS", .data = 32},
    {.kind = "LESS_EQUAL", .data = 32},
    {.kind = "LOG"},
    {.kind = "LOGICAL_AND", .descriptions = 0},
    {.kind = "LOGICAL_NOT"},
    {.kind = "LOGICAL_OR", .descriptions = 0},
    {.kind = "LOGISTIC", .data = 16},
    {.kind = "LOG_SOFTMAX"},
    {.kind = "MAXIMUM", .descriptions = 0},
    {.kind = "MAX_POOL_2D", .options = 40, .data = 32},
    {.kind = "MEAN", .options = 1, .data = 44, .options_alignment = 1, .descriptions = 2},
    {.kind = "MINIMUM", .descriptions = 0},
    {.kind = "MUL", .options = 4, .data = 36},
    {.kind = "NEG", .descriptions = 0},
    {.kind = "NOT_EQUAL", .data = 32},
    {.kind = "PACK", .options = 8, .descriptions = 0},
    {.kind = "PAD", .data = 56},
    {.kind = "PADV2", .data = 56},
    {.kind = "PRELU", .data = 28},
    {.kind = "QUANTIZE", .data = 32},
    {.kind = "REDUCE_MAX", .options = 1, .data = 44, .options_alignment = 1, .descriptions = 2},
    {.kind = "REDUCE_MIN", .options = 1, .data = 44, .options_alignment = 1, .descriptions = 2},
    {.kind = "RELU", .data = 28},
    {.kind = "RELU6", .data = 8},
    {.kind = "RESHAPE", .options = 36},
    {.kind = "RESIZE_BILINEAR", .options = 2, .options_alignment = 1},
    {.kind = "RESIZE_NEAREST_NEIGHBOR", .options = 2, .options_alignment = 1},
    {.kind = "REVERSE_V2"},
    {.kind = "ROUND"},
    {.kind = "RSQRT", .data = 28},
    {.kind = "SELECT_V2", .data = 1},
    {.kind = "SHAPE", .options = 4},
    {.kind = "SIN"},
    {.kind = "SLICE"},
    {.kind = "SOFTMAX", .options = 4, .data = 80},
    {.kind = "SPACE_TO_BATCH_ND", .data = 4},
    {.kind = "SPACE_TO_DEPTH", .options = 4},
    {.kind = "SPLIT", .options = 4},
    {.kind = "SPLIT_V", .options = 4},
    {.kind = "SQRT"},
    {.kind = "SQUARE"},
    {.kind = "SQUARED_DIFFERENCE", .data = 112},
    {.kind = "SQUEEZE", .options = 36},
    {.kind = "STRIDED_SLICE", .options = 24, .data = 84},
    {.kind = "SUB", .options = 8, .data = 52},
    {.kind = "SUM", .options = 1, .data = 44, .options_alignment = 1, .descriptions = 2},
    {.kind = "SVDF", .options = 12, .data = 36},
    {.kind = "SignalEnergy", .data = 8, .custom = true},
    {.kind = "SignalFftAutoScale", .custom = true},
    {.kind = "SignalFilterBank", .data = 64, .custom = true},
    {.kind = "SignalFilterBankLog", .data = 8, .custom = true},
    {.kind = "SignalFilterBankSpectralSubtraction", .data = 56, .custom = true},
    {.kind = "SignalFilterBankSquareRoot", .custom = true},
    {.kind = "SignalPCAN", .data = 4, .custom = true},
    {.kind = "SignalRfft", .data = 48, .custom = true},
    {.kind = "SignalWindow", .data = 8, .custom = true},
    {.kind = "TANH", .data = 16, .descriptions = 2},
    {.kind = "TRANSPOSE"},
    {.kind = "TRANSPOSE_CONV", .options = 20, .data = 88, .descriptions = 2},
    {.kind = "UNIDIRECTIONAL_SEQUENCE_LSTM", .options = 16, .data = 688},
    {.kind = "UNPACK", .options = 8, .descriptions = 0},
    {.kind = "ZEROS_LIKE"},
};

/// The tensors of an operator; a tensor or number that is not there makes `is_known` false.
class Operands {
 public:
  Operands(const SubgraphInfo& subgraph, const OperatorInfo& op) : subgraph_(subgraph), op_(op) {}

  [[nodiscard]] bool is_known() const { return known_; }

  [[nodiscard]] bool has_input(std::size_t i) const { return i < op_.inputs.size() && op_.inputs[i]; }
  /// Of elements of this type.
  [[nodiscard]] bool is(std::size_t input, std::string_view dtype) {
    return has_input(input) ? tensor(*op_.inputs[input]).dtype == dtype : note_missing();
  }
  [[nodiscard]] std::int64_t input_elements(std::size_t i) {
    return has_input(i) ? elements(tensor(*op_.inputs[i])) : note_missing();
  }
  [[nodiscard]] std::int64_t output_elements() {
    return op_.outputs.empty() ? note_missing() : elements(tensor(op_.outputs[0]));
  }
  [[nodiscard]] std::int64_t input_dim(std::size_t i, std::size_t dim) {
    return has_input(i) ? dim_of(tensor(*op_.inputs[i]), dim) : note_missing();
  }
  [[nodiscard]] std::int64_t output_dim(std::size_t dim) {
    return op_.outputs.empty() ? note_missing() : dim_of(tensor(op_.outputs[0]), dim);
  }
  [[nodiscard]] std::int64_t rank(std::size_t input) {
    return has_input(input) ? static_cast<std::int64_t>(tensor(*op_.inputs[input]).shape.size()) : note_missing();
  }
  [[nodiscard]] std::int64_t channels(std::size_t input) {
    return has_input(input) ? static_cast<std::int64_t>(tensor(*op_.inputs[input]).channels) : note_missing();
  }
  [[nodiscard]] std::int64_t output_rank() {
    return op_.outputs.empty() ? note_missing() : static_cast<std::int64_t>(tensor(op_.outputs[0]).shape.size());
  }
  /// Bytes of an element of an input.
  [[nodiscard]] std::int64_t element_size(std::size_t input) {
    const std::int64_t count = input_elements(input);
    if (!known_ || count == 0) return note_missing();
    return tensor(*op_.inputs[input]).tflm_size.value_or(Bytes(0)).value() / count;
  }

 private:
  int note_missing() {
    known_ = false;
    return 0;
  }
  [[nodiscard]] const TensorInfo& tensor(std::uint32_t number) const { return subgraph_.tensors[number]; }
  std::int64_t elements(const TensorInfo& tensor) {
    const std::optional<Bytes> count = size_of(8, tensor.shape);
    return count && count->value() <= kMaxElements ? count->value() : note_missing();
  }
  std::int64_t dim_of(const TensorInfo& tensor, std::size_t dim) {
    if (dim >= tensor.shape.size() || tensor.shape[dim] < 0 || tensor.shape[dim] > kMaxElements) return note_missing();
    return tensor.shape[dim];
  }

  const SubgraphInfo& subgraph_;
  const OperatorInfo& op_;
  bool known_ = true;
};

/// A multiplier and a shift for each channel.
void add_channels(std::int64_t channels, KernelMemory& memory) {
  memory.prepare.insert(memory.prepare.end(), 2, 4 * channels);
}

/// Filters of 4 bits are unpacked.
void add_unpacked_filter(Operands& operands, KernelMemory& memory) {
  if (operands.is(1, "i4")) memory.scratch.push_back(operands.input_elements(1));
}

void add_convolution(Operands& operands, KernelMemory& memory) {
  add_channels(operands.input_dim(1, 0), memory);
  add_unpacked_filter(operands, memory);
}

void add_depthwise(Operands& operands, KernelMemory& memory) {
  add_channels(operands.input_dim(1, 3), memory);
  add_unpacked_filter(operands, memory);
}

/// Its sums are wider than its output.
void add_transposed(Operands& operands, KernelMemory& memory) {
  constexpr std::size_t kInput = 2;
  constexpr std::size_t kBias = 3;
  add_channels(operands.input_dim(1, 0), memory);
  if (operands.is(kInput, "i8")) memory.scratch.push_back(4 * operands.output_elements());
  if (!operands.is(kInput, "i16")) return;
  memory.scratch.push_back(8 * operands.output_elements());
  if (operands.has_input(kBias) && operands.is(kBias, "i16"))
    memory.scratch.push_back(8 * operands.input_elements(kBias));
}

void add_fully_connected(Operands& operands, KernelMemory& memory) {
  add_unpacked_filter(operands, memory);
  if (!operands.is(0, "f32") && operands.channels(1) > 1) add_channels(operands.channels(1), memory);
}

/// Two tables.
void add_softmax(Operands& operands, KernelMemory& memory) {
  constexpr std::int64_t kEntries = 513;
  if (operands.is(0, "i16")) memory.prepare.insert(memory.prepare.end(), 2, 2 * kEntries);
}

void add_log_softmax(Operands& operands, KernelMemory& memory) {
  if (operands.is(0, "i8")) memory.prepare.push_back(40);
}

void add_sum_of_rows(Operands& operands, KernelMemory& memory) {
  if (operands.is(0, "i8")) memory.prepare.push_back(36);
}

/// A copy of the shape of its output, which it may change.
void add_shape(Operands& operands, KernelMemory& memory) { memory.prepare.push_back(4 * (1 + operands.output_rank())); }

/// Where it is among the dimensions, and the axes.
void add_reduction(Operands& operands, KernelMemory& memory) {
  memory.scratch.push_back(4 * operands.rank(0));
  memory.scratch.push_back(4 * operands.input_elements(1));
}

void add_mean(Operands& operands, KernelMemory& memory) {
  if (operands.is(0, "i8") || operands.is(0, "i16")) memory.scratch.push_back(4 * operands.output_elements());
  add_reduction(operands, memory);
}

void add_svdf(Operands& operands, KernelMemory& memory) {
  const std::int64_t batch = operands.input_dim(0, 0);
  memory.scratch.push_back(4 * batch * operands.input_dim(1, 0));
  if (operands.is(0, "i8")) memory.scratch.push_back(4 * batch * operands.output_dim(1));
}

/// Four gates of the size of the cell's state.
void add_lstm(Operands& operands, KernelMemory& memory) {
  constexpr std::size_t kHidden = 18;
  constexpr std::size_t kCell = 19;
  const std::int64_t state = operands.input_dim(kHidden, 0) * operands.input_dim(kHidden, 1);
  memory.scratch.insert(memory.scratch.end(), 4, state * operands.element_size(kCell));
}

/// The state of kissfft for half as many complex numbers, whose size does not depend on the target.
void add_rfft(Operands& operands, KernelMemory& memory) {
  const std::int64_t length = operands.output_dim(0) - 2;
  const std::int64_t half = length / 2;
  const std::int64_t complex = 2 * operands.element_size(0);
  constexpr std::int64_t kPointers = 24;
  constexpr std::int64_t kFactors = 264;
  memory.init.push_back(kPointers + kFactors + complex * half + complex * (half * 3 / 2));
  memory.scratch.push_back(length * operands.element_size(0));
}

void add_filter_bank(Operands& operands, KernelMemory& memory) {
  memory.init.push_back(8 * (operands.output_dim(0) + 1));
}
void add_noise(Operands& operands, KernelMemory& memory) { memory.init.push_back(4 * operands.output_dim(0)); }

/// What depends on the operator's tensors.
struct Varying {
  std::string_view kind;
  void (*add)(Operands& operands, KernelMemory& memory);
};

constexpr Varying kVarying[] = {
    {"CONV_2D", add_convolution},
    {"CUMSUM", add_sum_of_rows},
    {"DEPTHWISE_CONV_2D", add_depthwise},
    {"DEPTH_TO_SPACE", add_shape},
    {"FULLY_CONNECTED", add_fully_connected},
    {"GATHER", add_shape},
    {"L2_POOL_2D", add_shape},
    {"LOG_SOFTMAX", add_log_softmax},
    {"MEAN", add_mean},
    {"REDUCE_MAX", add_reduction},
    {"REDUCE_MIN", add_reduction},
    {"SOFTMAX", add_softmax},
    {"SPACE_TO_DEPTH", add_shape},
    {"SUM", add_mean},
    {"SVDF", add_svdf},
    {"SignalFilterBank", add_filter_bank},
    {"SignalFilterBankSpectralSubtraction", add_noise},
    {"SignalRfft", add_rfft},
    {"TRANSPOSE_CONV", add_transposed},
    {"UNIDIRECTIONAL_SEQUENCE_LSTM", add_lstm},
};

}  // namespace

std::optional<KernelMemory> kernel_memory(const SubgraphInfo& subgraph, const OperatorInfo& op) {
  const auto* const fixed = std::find_if(std::begin(kFixed), std::end(kFixed), [&](const Fixed& each) {
    return each.kind == op.kind && each.custom == op.custom;
  });
  if (fixed == std::end(kFixed)) return std::nullopt;
  KernelMemory memory{
      .options = fixed->options, .options_alignment = fixed->options_alignment, .descriptions = fixed->descriptions};
  if (fixed->data > 0) memory.init.push_back(fixed->data);
  const auto* const varying =
      std::find_if(std::begin(kVarying), std::end(kVarying), [&](const Varying& each) { return each.kind == op.kind; });
  if (varying == std::end(kVarying)) return memory;
  Operands operands(subgraph, op);
  varying->add(operands, memory);
  const auto is_sane = [](std::int64_t size) { return size >= 0 && size <= kMaxBuffer; };
  for (const std::vector<std::int64_t>* sizes : {&memory.init, &memory.prepare, &memory.scratch}) {
    if (!operands.is_known() || !std::all_of(sizes->begin(), sizes->end(), is_sane)) return std::nullopt;
  }
  return memory;
}

}  // namespace stowage::io::tflite
