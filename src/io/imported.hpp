#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "rewrite/interface/origins.hpp"
#include "stowage/io.hpp"

namespace stowage::io {

/// Adapts a reader of graphs to the signature in the table of formats.
template <Result<Graph> (*parse)(std::string_view, const std::string&, const ImportOptions&)>
Result<Imported> import_graph(std::string_view bytes, const std::string& file, const ImportOptions& options) {
  STOWAGE_TRY(Graph graph, parse(bytes, file, options));
  return Imported(std::move(graph));
}

/// The graph that a rewrite made, without its origins. An error names the file.
inline Result<Graph> graph_of(Result<rewrite::Rewritten> rewritten, const std::string& file) {
  if (rewritten) return std::move(rewritten->graph);
  rewritten.error().where.file = file;
  return std::move(rewritten).error();
}

}  // namespace stowage::io
