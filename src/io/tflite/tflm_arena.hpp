#pragma once

#include "io/interface/tflm.hpp"
#include "io/tflite/file.hpp"
#include "io/tflite/import.hpp"
#include "io/tflite/model.hpp"

namespace stowage::io::tflite {

/// What TFLM takes of its arena for a model, with these offsets, or with none if null; see `TflmNeed`. Fails with
/// `ErrorCode::unsupported` where that is not known: a kernel without an entry in tflm_kernels.cpp, tensors that TFLM
/// does not have, more than 20,000 tensors and scratch buffers. Precondition: `import_model` accepts the model.
Result<TflmNeed> tflm_need(const File& file, const ModelInfo& model, const Offsets* offsets);

}  // namespace stowage::io::tflite
