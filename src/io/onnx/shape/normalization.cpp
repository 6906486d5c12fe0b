#include <algorithm>

#include "io/onnx/shape/dims.hpp"
#include "io/onnx/shape/operators.hpp"

// Normalizations: outputs with the shape of the input, and statistics.
namespace stowage::io::onnx::shape {
namespace {

/// Additional outputs of a version (running or saved means and variances) have the type and shape of the mean.
void batch_normalization(Call& call) {
  like_first(call);
  for (std::size_t i = 1; i < call.output_count(); ++i) call.set(i, call.type(3), call.dims(3));
}

void set_statistics(Call& call, std::size_t first) {
  Dims dims = call.dims(0);
  const std::size_t axis = normal_axis(call.node().integer("axis", -1), dims.size());
  std::fill(dims.begin() + static_cast<std::ptrdiff_t>(axis), dims.end(), 1);
  const ElementType type = call.type_attribute("stash_type", ElementType::float32);
  for (std::size_t i = first; i < call.output_count(); ++i) call.set(i, type, dims);
}

void layer_normalization(Call& call) {
  like_first(call);
  set_statistics(call, 1);
}

/// The result has the type of the scale.
void rms_normalization(Call& call) {
  call.set(0, call.type(1), call.dims(0));
  if (call.output_count() > 1) set_statistics(call, 1);
}

constexpr Operator kNormalizationOperators[] = {
    {"BatchNormalization", batch_normalization},
    {"GroupNormalization", like_first},
    {"InstanceNormalization", like_first},
    {"LRN", like_first},
    {"LayerNormalization", layer_normalization},
    {"LpNormalization", like_first},
    {"MeanVarianceNormalization", like_first},
    {"RMSNormalization", rms_normalization},
    // An operator of ONNX Runtime in ONNX's domain.
    {"SimplifiedLayerNormalization", rms_normalization},
};

}  // namespace

std::span<const Operator> normalization_operators() { return kNormalizationOperators; }

}  // namespace stowage::io::onnx::shape
