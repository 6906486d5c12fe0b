#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "io/onnx/model.hpp"
#include "io/onnx/shape/declared.hpp"
#include "stowage/base.hpp"

/// The dims that a model leaves open, and what a caller says about them.
namespace stowage::io::onnx {

/// The names of all symbolic dims of a graph and its bodies, each once, in the order in which they occur: in inputs,
/// outputs, other values, bodies.
[[nodiscard]] std::vector<std::string> symbolic_dims(const Graph& graph);

/// The inputs that a caller gives: without those that have a default value.
[[nodiscard]] std::vector<const ValueInfo*> inputs_without_default(const Graph& graph);

using Shapes = std::map<std::string, Dims>;

/// Puts the shapes of inputs into the graph: dims with neither value nor name get their value in the graph, those with
/// a name in `values`. Fails with `ErrorCode::unknown_name` for names that no input has, listing the inputs, and with
/// `ErrorCode::invalid` for a negative dim, and where the shape contradicts the file or another value of the same dim.
Status apply_shapes(Graph& graph, const Shapes& shapes, shape::DimValues& values, const std::string& file);

/// Fails with `ErrorCode::unknown_name` if `values` has names that no dim in `graph` has; the message has all of these
/// names, and those that exist.
Status check_names(const Graph& graph, const shape::DimValues& values, const std::string& file);

/// What would say how large the inputs are: "--dim batch=N --dim 'a b'=N --shape y=Nx3". Empty if they are known, or if
/// not even the number of dims is.
[[nodiscard]] std::string missing_options(const Graph& graph, const shape::DimValues& values);

}  // namespace stowage::io::onnx
