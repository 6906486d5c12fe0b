#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "stowage/io.hpp"

namespace stowage::io {

/// Adapts a reader of graphs to the signature in the table of formats.
template <Result<Graph> (*parse)(std::string_view, const std::string&, const ImportOptions&)>
Result<Imported> import_graph(std::string_view bytes, const std::string& file, const ImportOptions& options) {
  STOWAGE_TRY(Graph graph, parse(bytes, file, options));
  return Imported(std::move(graph));
}

}  // namespace stowage::io
