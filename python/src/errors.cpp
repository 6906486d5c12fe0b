#include "errors.hpp"

#include <exception>
#include <string>
#include <string_view>

#include <nanobind/nanobind.h>

#include "stowage/base/check_guard.hpp"

namespace nb = nanobind;

namespace stowage::python {
namespace {

void raise(std::string_view code, const Error& error) {
  const nb::object make = nb::module_::import_("stowagepy._errors").attr("make");
  const nb::object line = error.where.line ? nb::cast(*error.where.line) : nb::none();
  const nb::object exception = make(nb::str(code.data(), code.size()), error.message.c_str(), to_string(error).c_str(),
                                    error.where.file.c_str(), line, error.where.path.c_str());
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(exception.ptr())), exception.ptr());
}

}  // namespace

void translate_errors() {
  nb::register_exception_translator([](const std::exception_ptr& pending, void*) {
    try {
      std::rethrow_exception(pending);
    } catch (const Raised& raised) {
      raise(to_string(raised.error.code), raised.error);
    } catch (const detail::CheckFailure& failure) {
      raise("internal", {ErrorCode::invalid, failure.what(), {}});
    }
  });
}

}  // namespace stowage::python
