#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "io/onnx/model.hpp"
#include "io/onnx/shape/call.hpp"

/// Arithmetic on the elements of small tensors, with which models compute shapes. Results are exact: a value outside
/// the range of its type, or a type whose rounding we do not reproduce, stops.
namespace stowage::io::onnx::shape {

/// The two kinds of elements. A function for one kind is constrained to it, or it would accept the other by conversion.
template <class T>
concept Integer = std::same_as<T, std::int64_t>;
template <class T>
concept Real = std::same_as<T, double>;

/// Values with more elements are not folded.
inline constexpr std::int64_t kMaxFoldedElements = kMaxKeptElements;

/// `value` as an element of that type; stops if it is out of range. Booleans are 0 and 1.
[[nodiscard]] std::int64_t as_element(ElementType type, std::int64_t value);
/// The same, rounded to float32 if that is the type.
[[nodiscard]] double as_element(ElementType type, double value);

/// Elements as another type, by the rules of Cast.
[[nodiscard]] Elements converted(const Elements& elements, ElementType to);

[[nodiscard]] std::int64_t size(const Elements& elements);

/// The source index of each element of a tensor with these dims; neighbours along each dimension are `steps` apart in
/// the source.
[[nodiscard]] std::vector<std::int64_t> walk(const Dims& dims, std::int64_t start, std::span<const std::int64_t> steps);
/// The same for a tensor of shape `from` that is broadcast to `dims`.
[[nodiscard]] std::vector<std::int64_t> walk_repeated(const Dims& from, const Dims& dims);

/// The elements at these places of `source`.
[[nodiscard]] Elements pick(const Elements& source, std::span<const std::int64_t> places);

/// Output 0 from input 0, element by element. `f` takes and returns an integer or a real number, or both, depending on
/// its overloads.
template <class F>
void fold_each(Call& call, F f) {
  const ElementType type = call.output(0).type;
  std::visit(
      [&]<class T>(const std::vector<T>& from) {
        if constexpr (std::invocable<F, T>) {
          using R = std::invoke_result_t<F, T>;
          std::vector<R> to;
          to.reserve(from.size());
          for (const T value : from) to.push_back(as_element(type, f(value)));
          call.set_elements(0, std::move(to));
        }
      },
      *call.elements(0));
}

/// Combines two lists of elements, broadcast to `dims`. None if the elements are of different kinds or `f` does not
/// accept them.
template <class F>
[[nodiscard]] std::optional<Elements> combined(const ValueFacts& a, const ValueFacts& b, const ValueFacts& result,
                                               F f) {
  return std::visit(
      [&]<class T, class U>(const std::vector<T>& x, const std::vector<U>& y) -> std::optional<Elements> {
        if constexpr (std::same_as<T, U> && std::invocable<F, T, T>) {
          const std::vector<std::int64_t> at = walk_repeated(*a.dims, *result.dims);
          const std::vector<std::int64_t> bt = walk_repeated(*b.dims, *result.dims);
          std::vector<std::invoke_result_t<F, T, T>> to;
          for (std::size_t i = 0; i < at.size(); ++i) {
            to.push_back(
                as_element(result.type, f(x[static_cast<std::size_t>(at[i])], y[static_cast<std::size_t>(bt[i])])));
          }
          return to;
        }
        return std::nullopt;
      },
      *a.elements, *b.elements);
}

/// Output 0 from all inputs, one after another, each broadcast.
template <class F>
void fold_all(Call& call, F f) {
  if (!call.output(0).dims) return;
  ValueFacts sum = call.input(0);
  for (std::size_t i = 1; i < call.input_count(); ++i) {
    const ValueFacts& next = call.input(i);
    ValueFacts result{.type = call.output(0).type, .dims = *call.output(0).dims};
    result.elements = combined(sum, next, result, f);
    if (!result.elements) return;
    sum = std::move(result);
  }
  if (size(*sum.elements) == element_count(*call.output(0).dims)) call.set_elements(0, std::move(*sum.elements));
}

}  // namespace stowage::io::onnx::shape
