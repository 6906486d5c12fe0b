#include <algorithm>

#include "io/onnx/shape/dims.hpp"
#include "io/onnx/shape/operators.hpp"

// Operators of ONNX Runtime (com.microsoft) that its training puts into models.
namespace stowage::io::onnx::shape {
namespace {

/// The second output has a bit for each element, in words of 32.
void bitmask_dropout(Call& call) {
  constexpr std::int64_t kBits = 32;
  like_first(call);
  call.set(1, ElementType::uint32, {divide_up(count(call.dims(0)), kBits)});
}

/// The second output is how long each input is along the axis.
void concat_training(Call& call) {
  call.set(1, ElementType::int64, {static_cast<std::int64_t>(call.input_count())});
  find_operator("", "Concat")->infer(call);
}

/// The output is a signal that it is done.
void send(Call& call) { call.set(0, ElementType::boolean, {}); }

/// The first output is a signal that it is done; what comes after it, only the sender knows.
void receive(Call& call) {
  call.set(0, ElementType::boolean, {});
  if (call.output_count() > 1) stop("the sender determines what is received");
}

/// Gives results to a loss outside of the model and takes their gradients: those of outputs that have one, in their
/// order. The gradient of a full output has its shape.
void yield(Call& call) {
  const std::vector<std::int64_t> without = call.list("non_differentiable_outputs");
  const std::vector<std::int64_t> full = call.list("full_shape_outputs");
  const auto is_in = [](const std::vector<std::int64_t>& list, std::size_t i) {
    return std::find(list.begin(), list.end(), static_cast<std::int64_t>(i)) != list.end();
  };
  bool all_known = true;
  std::size_t output = 0;
  for (std::size_t i = 0; i < call.input_count(); ++i) {
    if (is_in(without, i)) continue;
    if (is_in(full, i)) call.set(output, call.type(i), call.dims(i));
    all_known = all_known && is_in(full, i);
    ++output;
  }
  if (!all_known) stop("the loss determines the shape of a gradient");
}

constexpr Operator kOperators[] = {
    {"BitmaskBiasDropout", bitmask_dropout},
    {"BitmaskDropout", bitmask_dropout},
    {"ConcatTraining", concat_training},
    {"Recv", receive},
    {"Send", send},
    {"YieldOp", yield},
};

}  // namespace

std::span<const Operator> contrib_training_operators() { return kOperators; }

}  // namespace stowage::io::onnx::shape
