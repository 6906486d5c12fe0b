#pragma once

#include <cstddef>
#include <vector>

#include "base/interface/id_vector.hpp"
#include "stowage/base.hpp"
#include "stowage/graph.hpp"

namespace stowage {

/// An alias class: tensors at fixed distances from each other.
using ClassId = Id<struct AliasClassList>;

template <class T>
using ByClass = IdVector<ClassId, T>;

/// Where a tensor lies in its class.
struct ClassPlace {
  ClassId id;
  Bytes offset;  ///< From the class's lowest byte.
};

/// Which tensors share memory: those of one class live and die together. That is all that liveness needs to know of
/// classes; `layout` forms them.
struct Sharing {
  std::vector<ClassPlace> places;  ///< By tensor.
  ByClass<TensorFlags> flags;      ///< Of all members.

  [[nodiscard]] const ClassPlace& place(TensorId id) const { return places[id.index()]; }
  [[nodiscard]] ClassId class_of(TensorId id) const { return places[id.index()].id; }
  [[nodiscard]] std::size_t class_count() const { return flags.size(); }
};

}  // namespace stowage
