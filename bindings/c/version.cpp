#include "stowage/c/pack.h"

extern "C" {

int32_t stowage_version(void) { return STOWAGE_VERSION; }

const char* stowage_code_name(stowage_code code) {
  switch (code) {
    case STOWAGE_OK:
      return "ok";
    case STOWAGE_IO:
      return "input or output failed";
    case STOWAGE_PARSE:
      return "malformed input";
    case STOWAGE_INVALID:
      return "invalid";
    case STOWAGE_UNSUPPORTED:
      return "unsupported";
    case STOWAGE_UNKNOWN_NAME:
      return "unknown name";
    case STOWAGE_OUT_OF_MEMORY:
      return "out of memory";
    case STOWAGE_NOT_RESERVED:
      return "not reserved";
    case STOWAGE_DEVICE:
      return "the system or a device failed";
    case STOWAGE_INTERNAL:
      return "internal error";
    default:
      return "unknown code";
  }
}

}  // extern "C"
