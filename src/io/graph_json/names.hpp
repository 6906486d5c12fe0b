#pragma once

#include <array>
#include <string_view>

#include "stowage/graph.hpp"

/// The names of enumerators in a graph file; those of flags are in graph/interface/flags.hpp. Defaults have no name:
/// files omit them.
namespace stowage::io {

template <class Value>
struct Named {
  std::string_view name;
  Value value;
};

inline constexpr std::array kContiguities{
    Named<Contiguity>{"padded", Contiguity::padded},
    Named<Contiguity>{"packed", Contiguity::packed},
};

inline constexpr std::array kControls{
    Named<Control>{"branch", Control::branch},
    Named<Control>{"loop", Control::loop},
    Named<Control>{"call", Control::call},
};

inline constexpr std::array kScopes{
    Named<WorkspaceScope>{"op", WorkspaceScope::op},
    Named<WorkspaceScope>{"session", WorkspaceScope::session},
};

}  // namespace stowage::io
