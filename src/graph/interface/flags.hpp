#pragma once

#include <array>
#include <string_view>

#include "stowage/graph/description.hpp"

/// What a graph says in one bit, by name: one line each. Files are read and written, graphs compared and printed by
/// these tables, so that nobody has a list of his own. What it means lies with whoever keeps to it.
namespace stowage {

struct NamedTensorFlag {
  std::string_view name;
  TensorFlag value;
};
inline constexpr std::array kTensorFlags{
    NamedTensorFlag{"input", TensorFlag::input},            //
    NamedTensorFlag{"output", TensorFlag::output},          //
    NamedTensorFlag{"constant", TensorFlag::constant},      //
    NamedTensorFlag{"variable", TensorFlag::variable},      //
    NamedTensorFlag{"no_reuse", TensorFlag::no_reuse},      //
    NamedTensorFlag{"external", TensorFlag::external},      //
    NamedTensorFlag{"zero_copy", TensorFlag::zero_copy},    //
    NamedTensorFlag{"reusable", TensorFlag::reusable},      //
    NamedTensorFlag{"shape_data", TensorFlag::shape_data},  //
};

struct NamedOpFlag {
  std::string_view name;
  bool Op::* field;
};
inline constexpr std::array kOpFlags{
    NamedOpFlag{"no_task", &Op::no_task},
    NamedOpFlag{"fixed_address", &Op::fixed_address},
    NamedOpFlag{"no_reuse", &Op::no_reuse},
};

}  // namespace stowage
