#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "errors.hpp"
#include "graph.hpp"
#include "stowage/files.hpp"
#include "stowage/pack.hpp"

namespace nb = nanobind;
using namespace nb::literals;

NB_MODULE(_core, module) {
  module.doc() = "The C++ library behind stowagepy; use the package.";
  nb::set_leak_warnings(false);  // caches of others may hold what is ours when the interpreter ends
  stowage::python::translate_errors();
  stowage::python::bind_graph(module);
  stowage::python::bind_pack(module);
  stowage::python::bind_plan(module);
  module.def(
      "parse_bytes",
      [](const std::string& text) -> std::optional<std::int64_t> {
        const std::optional<stowage::Bytes> bytes = stowage::parse_bytes(text);
        return bytes ? std::optional(bytes->value()) : std::nullopt;
      },
      "text"_a, "The bytes that a text such as '6MiB' means, or None.");
  module.def("to_human", [](std::int64_t bytes) { return stowage::to_human(stowage::Bytes(bytes)); }, "bytes"_a);
  module.def(
      "content_hash", [](const nb::bytes& content) { return stowage::content_hash({content.c_str(), content.size()}); },
      "content"_a, "What tells contents apart, in the rows of plan_many and `stowage sweep`.");
  module.def("solvers", [] {
    std::vector<std::string> names;
    for (const stowage::SolverInfo& each : stowage::solvers()) names.emplace_back(each.name);
    return names;
  });
}
