#include "errors.hpp"

#include <exception>
#include <string>

#include <nanobind/nanobind.h>

#include "stowage/base/check_guard.hpp"

namespace nb = nanobind;

namespace stowage::python {
namespace {

void raise(const char* code, const Error& error) {
  const nb::object make = nb::module_::import_("stowagepy._errors").attr("make");
  const nb::object line = error.where.line ? nb::cast(*error.where.line) : nb::none();
  const nb::object exception = make(code, error.message.c_str(), to_string(error).c_str(), error.where.file.c_str(),
                                    line, error.where.path.c_str());
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(exception.ptr())), exception.ptr());
}

const char* name_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::io:
      return "io";
    case ErrorCode::parse:
      return "parse";
    case ErrorCode::invalid:
      return "invalid";
    case ErrorCode::unsupported:
      return "unsupported";
    case ErrorCode::unknown_name:
      return "unknown_name";
    case ErrorCode::out_of_memory:
      return "out_of_memory";
    case ErrorCode::not_reserved:
      return "not_reserved";
    case ErrorCode::device:
      return "device";
  }
  return "internal";
}

}  // namespace

void translate_errors() {
  nb::register_exception_translator([](const std::exception_ptr& pending, void*) {
    try {
      std::rethrow_exception(pending);
    } catch (const Raised& raised) {
      raise(name_of(raised.error.code), raised.error);
    } catch (const detail::CheckFailure& failure) {
      raise("internal", {ErrorCode::invalid, failure.what(), {}});
    }
  });
}

}  // namespace stowage::python
