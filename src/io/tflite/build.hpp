#pragma once

#include <string>

#include "io/tflite/file.hpp"
#include "stowage/graph.hpp"

/// The last step of every conversion from a model to a graph.
namespace stowage::io::tflite {

/// "models/net.tflite.gz" gives "net".
[[nodiscard]] std::string graph_name(const std::string& file);

/// The graph, named after the file; errors name the file.
Result<Graph> build_graph(const File& file, GraphDescription description);

}  // namespace stowage::io::tflite
