#include <fmt/format.h>

#include "io/onnx/shape/dims.hpp"
#include "io/onnx/shape/operators.hpp"

// LSTM, GRU and RNN: X [steps, batch, features] to all states, the last state, and (LSTM) the last cell.
namespace stowage::io::onnx::shape {
namespace {

std::int64_t directions(const Call& call) {
  return call.node().text("direction", "forward") == "bidirectional" ? 2 : 1;
}

/// The recurrence weights are [directions, gates * hidden, hidden].
std::int64_t hidden_size(const Call& call) {
  const std::int64_t named = call.node().integer("hidden_size", 0);
  return named > 0 ? named : call.dim(2, 2);
}

/// With layout 1 (version 14), the batch is the first dimension everywhere.
void recurrent(Call& call) {
  const Dims& x = call.dims(0);
  if (x.size() != 3) stop(fmt::format("its input is {}", to_string(x)));
  const std::int64_t hidden = hidden_size(call);
  const bool batch_first = call.node().integer("layout", 0) != 0;
  const std::int64_t steps = batch_first ? x[1] : x[0];
  const std::int64_t batch = batch_first ? x[0] : x[1];
  const std::int64_t ways = directions(call);
  call.set(0, call.type(0), batch_first ? Dims{batch, steps, ways, hidden} : Dims{steps, ways, batch, hidden});
  for (const std::size_t last : {std::size_t{1}, std::size_t{2}}) {
    call.set(last, call.type(0), batch_first ? Dims{batch, ways, hidden} : Dims{ways, batch, hidden});
  }
}

constexpr Operator kRecurrentOperators[] = {{"GRU", recurrent}, {"LSTM", recurrent}, {"RNN", recurrent}};

}  // namespace

std::span<const Operator> recurrent_operators() { return kRecurrentOperators; }

}  // namespace stowage::io::onnx::shape
