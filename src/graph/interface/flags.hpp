#pragma once

#include <array>
#include <string_view>

#include "stowage/graph/description.hpp"

/// The flags of tensors and ops by name, one line each. Code that reads, writes, compares or prints all flags uses
/// these tables. The meaning of a flag is stated at its declaration.
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
