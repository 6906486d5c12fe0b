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

/// The class of a tensor and the tensor's offset in it.
struct ClassPlace {
  ClassId id;
  Bytes offset;  ///< From the lowest byte of the class.
};

/// Which tensors share memory. Tensors of one class live and die together; liveness needs to know nothing else about
/// classes. `layout` forms them.
struct Sharing {
  std::vector<ClassPlace> places;  ///< By tensor.
  ByClass<TensorFlags> flags;      ///< The union of the flags of all members.

  [[nodiscard]] const ClassPlace& place(TensorId id) const { return places[id.index()]; }
  [[nodiscard]] ClassId class_of(TensorId id) const { return places[id.index()].id; }
  [[nodiscard]] std::size_t class_count() const { return flags.size(); }
};

}  // namespace stowage
