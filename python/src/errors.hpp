#pragma once

#include <utility>

#include "stowage/base.hpp"

namespace stowage::python {

/// An error of the library on its way to Python, where `stowagepy.Error` is made of it.
struct Raised {
  Error error;
};

/// The value, or the error as an exception.
template <class T>
T or_raise(Result<T> result) {
  if (!result) throw Raised{std::move(result).error()};
  return std::move(result).value();
}
inline void or_raise(Status status) {
  if (!status) throw Raised{std::move(status).error()};
}

/// Once, when the module is loaded.
void translate_errors();

}  // namespace stowage::python
