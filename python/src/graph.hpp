#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include "stowage/graph.hpp"
#include "stowage/io.hpp"

namespace stowage::python {

/// One value per tensor or item, as NumPy shows it.
template <class T>
using Array = nanobind::ndarray<nanobind::numpy, const T, nanobind::ndim<1>>;

/// Shows a vector without a copy; it keeps `owner` alive.
template <class T>
Array<T> view_of(const std::vector<T>& values, nanobind::handle owner) {
  return Array<T>(values.data(), {values.size()}, owner);
}

/// Shows a vector, which it takes.
template <class T>
Array<T> array_of(std::vector<T> values) {
  auto* const kept = new std::vector<T>(std::move(values));
  const nanobind::capsule owner(kept, [](void* pointer) noexcept { delete static_cast<std::vector<T>*>(pointer); });
  return Array<T>(kept->data(), {kept->size()}, owner);
}

struct PyGraph {
  Graph graph;
};

/// A table of items, which is not a graph.
struct PyTable {
  CsvProblem table;
};

void bind_graph(nanobind::module_& module);
void bind_pack(nanobind::module_& module);
void bind_plan(nanobind::module_& module);

}  // namespace stowage::python
