#include "ggml_headers.hpp"

extern "C" {

bool ggml_op_can_inplace(ggml_op op) {
  switch (op) {
    case GGML_OP_ADD:
    case GGML_OP_ADD1:
    case GGML_OP_ADD_ID:
    case GGML_OP_DIAG_MASK_INF:
    case GGML_OP_DIAG_MASK_ZERO:
    case GGML_OP_DIV:
    case GGML_OP_FILL:
    case GGML_OP_LOG:
    case GGML_OP_MUL:
    case GGML_OP_RMS_NORM:
    case GGML_OP_RMS_NORM_BACK:
    case GGML_OP_ROPE:
    case GGML_OP_ROPE_BACK:
    case GGML_OP_SCALE:
    case GGML_OP_SILU_BACK:
    case GGML_OP_SOFT_MAX:
    case GGML_OP_SOFT_MAX_BACK:
    case GGML_OP_SQR:
    case GGML_OP_SQRT:
    case GGML_OP_SUB:
    case GGML_OP_UNARY:
      return true;
    default:
      return false;
  }
}

}  // extern "C"
