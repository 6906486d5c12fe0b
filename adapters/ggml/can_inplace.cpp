#include "ggml_headers.hpp"

extern "C" {

/// The list is that of the ggml that we are compiled against, since its kernels must support it: CMake extracts it from
/// the sources. Without sources, the list has the ops that all versions have in common.
bool ggml_op_can_inplace(ggml_op op) {
  switch (op) {
#if __has_include("can_inplace_ops.inc")
#include "can_inplace_ops.inc"
#else
    case GGML_OP_ADD:
    case GGML_OP_ADD1:
    case GGML_OP_DIAG_MASK_INF:
    case GGML_OP_DIAG_MASK_ZERO:
    case GGML_OP_DIV:
    case GGML_OP_LOG:
    case GGML_OP_MUL:
    case GGML_OP_RMS_NORM:
    case GGML_OP_ROPE:
    case GGML_OP_SCALE:
    case GGML_OP_SOFT_MAX:
    case GGML_OP_SQR:
    case GGML_OP_SQRT:
    case GGML_OP_SUB:
    case GGML_OP_UNARY:
#endif
    return true;
    default:
      return false;
  }
}

}  // extern "C"
