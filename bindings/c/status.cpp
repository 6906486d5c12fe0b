#include "handles.hpp"

struct stowage_status {
  stowage_code code = STOWAGE_OK;
  std::string message = {};
  stowage::Location where = {};
};

namespace stowage::c {
namespace {

/// For want of memory to say so; never freed.
stowage_status* no_memory() noexcept {
  static stowage_status status{STOWAGE_OUT_OF_MEMORY, "out of memory"};  // fits the string itself
  return &status;
}

}  // namespace

stowage_status* make_status(Error error, stowage_code code) noexcept {
  try {
    std::string message = to_string(error);
    return new stowage_status{code, std::move(message), std::move(error.where)};
  } catch (...) {
    return no_memory();
  }
}

stowage_status* status_of_exception() noexcept {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return no_memory();
  } catch (const std::exception& exception) {
    return make_status({ErrorCode::invalid, exception.what(), {}}, STOWAGE_INTERNAL);
  } catch (...) {
    return make_status({ErrorCode::invalid, "an exception of an unknown type", {}}, STOWAGE_INTERNAL);
  }
}

}  // namespace stowage::c

extern "C" {

stowage_code stowage_status_code(const stowage_status* status) { return status ? status->code : STOWAGE_OK; }

const char* stowage_status_message(const stowage_status* status) { return status ? status->message.c_str() : ""; }

const char* stowage_status_file(const stowage_status* status) { return status ? status->where.file.c_str() : ""; }

const char* stowage_status_path(const stowage_status* status) { return status ? status->where.path.c_str() : ""; }

int64_t stowage_status_line(const stowage_status* status) { return status ? status->where.line.value_or(0) : 0; }

void stowage_status_free(stowage_status* status) {
  if (status != stowage::c::no_memory()) delete status;
}

const char* stowage_text_data(const stowage_text* text) { return text ? text->text.c_str() : ""; }

size_t stowage_text_size(const stowage_text* text) { return text ? text->text.size() : 0; }

void stowage_text_free(stowage_text* text) { delete text; }

}  // extern "C"
