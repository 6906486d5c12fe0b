#include <fmt/format.h>

#include "io/onnx/shape/dims.hpp"
#include "io/onnx/shape/operators.hpp"

// If, Loop and Scan: the outputs of their bodies.
namespace stowage::io::onnx::shape {
namespace {

const Graph& body_of(const Call& call, std::string_view attribute) {
  const Graph* const body = call.node().graph(attribute);
  if (body == nullptr) stop(fmt::format("it has no {}", attribute));
  return *body;
}

ValueFacts unknown(std::string reason) { return {.reason = std::move(reason)}; }

/// What two alternative values have in common.
ValueFacts either(const ValueFacts& a, const ValueFacts& b) {
  if (!a.is_known()) return a;
  if (!b.is_known()) return b;
  if (a.kind != b.kind || a.type != b.type) return unknown("its branches make values of different types");
  if (*a.dims != *b.dims)
    return unknown(
        fmt::format("its branches make different shapes, {} and {}", to_string(*a.dims), to_string(*b.dims)));
  ValueFacts facts = a;
  if (a.elements != b.elements) facts.elements.reset();
  return facts;
}

/// If the condition is known, only one branch counts; the other never runs.
void branch(Call& call) {
  const std::vector<ValueFacts> yes = call.bodies().infer_body(body_of(call, "then_branch"), {});
  const std::vector<ValueFacts> no = call.bodies().infer_body(body_of(call, "else_branch"), {});
  if (yes.size() != call.output_count() || no.size() != call.output_count())
    stop("its branches have a different number of outputs");
  const bool decided = call.elements(0) != nullptr && call.integers(0).size() == 1;
  for (std::size_t i = 0; i < yes.size(); ++i) {
    call.set_facts(i, !decided ? either(yes[i], no[i]) : call.integer(0) != 0 ? yes[i] : no[i]);
  }
}

/// A value before every iteration of a body: like the initial one, except for its elements.
ValueFacts carried(const ValueFacts& initial) {
  ValueFacts facts = initial;
  facts.elements.reset();
  return facts;
}

/// The positions of a body's carried values among its inputs and outputs.
struct CarriedValues {
  std::size_t input = 0;
  std::size_t output = 0;
  std::size_t count = 0;
};

/// Makes carried values unknown whose shape the body changes. True if there were any.
bool drop_variants(std::vector<ValueFacts>& inputs, const std::vector<ValueFacts>& outputs, CarriedValues carry) {
  bool dropped = false;
  for (std::size_t i = 0; i < carry.count; ++i) {
    ValueFacts& before = inputs[carry.input + i];
    const ValueFacts& after = outputs[carry.output + i];
    if (!before.is_known() || (after.type == before.type && after.dims == before.dims)) continue;
    const ElementType type = before.type;
    before = after.is_known() ? unknown("its shape changes from iteration to iteration") : after;
    before.type = type;  // the type never changes
    before.dims.reset();
    dropped = true;
  }
  return dropped;
}

/// Infers a body until its carried values keep their shape or are unknown. By induction the result then holds for every
/// iteration.
std::vector<ValueFacts> infer_turns(Call& call, const Graph& body, std::vector<ValueFacts> inputs,
                                    CarriedValues carry) {
  for (;;) {
    std::vector<ValueFacts> outputs = call.bodies().infer_body(body, inputs);
    if (outputs.size() < carry.output + carry.count) stop("its body has too few outputs");
    if (!drop_variants(inputs, outputs, carry)) return outputs;
    if (call.bodies().may_repeat()) continue;
    const std::string reason = "its loop is inside too many others that change shapes";
    call.bodies().forget(body, reason);
    stop(reason);
  }
}

/// A scalar, or a tensor of one element if the body declares it so.
ValueFacts turn_input(Call& call, const Graph& body, std::size_t input, ElementType type) {
  const ValueFacts declared = call.bodies().declared_input(body, input);
  ValueFacts facts{.type = type, .dims = Dims()};
  if (declared.dims == Dims{1}) facts.dims = Dims{1};
  return facts;
}

/// The number of iterations of a Loop: known if its limit is known and its condition never ends it.
std::int64_t turns_of(const Call& call, const ValueFacts& condition) {
  const bool starts = !call.has(1) || call.integer(1) != 0;
  const auto* const goes_on =
      condition.elements ? std::get_if<std::vector<std::int64_t>>(&*condition.elements) : nullptr;
  if (!starts) return 0;
  if (goes_on == nullptr || goes_on->size() != 1 || goes_on->front() == 0)
    stop("its number of iterations depends on data");
  if (!call.has(0)) stop("it never ends");
  return std::max<std::int64_t>(call.integer(0), 0);
}

/// Sets an output to the value with an additional dimension for the iterations.
void set_stacked(Call& call, std::size_t output, const ValueFacts& each, std::int64_t turns, std::int64_t axis) {
  if (!each.is_known()) return call.set_facts(output, each);
  Dims dims = *each.dims;
  const std::size_t place = normal_axis(axis, dims.size() + 1);
  dims.insert(dims.begin() + static_cast<std::ptrdiff_t>(place), turns);
  call.set(output, each.type, std::move(dims));
}

/// Inputs: limit, condition, initial values. The body takes iteration number, condition and values, and returns
/// condition, values and scan outputs.
void loop(Call& call) {
  const Graph& body = body_of(call, "body");
  std::vector<ValueFacts> inputs = {turn_input(call, body, 0, ElementType::int64),
                                    turn_input(call, body, 1, ElementType::boolean)};
  inputs[1].elements = std::vector<std::int64_t>{1};  // or it would not run
  for (std::size_t i = 2; i < call.input_count(); ++i) inputs.push_back(carried(call.input(i)));
  const std::size_t count = inputs.size() - 2;
  const std::vector<ValueFacts> outputs =
      infer_turns(call, body, std::move(inputs), {.input = 2, .output = 1, .count = count});
  if (outputs.size() != call.output_count() + 1) stop("its body has a different number of outputs");
  for (std::size_t i = 0; i < count; ++i) call.set_facts(i, carried(either(outputs[i + 1], call.input(i + 2))));
  for (std::size_t i = count; i < call.output_count(); ++i) {
    set_stacked(call, i, outputs[i + 1], turns_of(call, outputs[0]), 0);
  }
}

std::int64_t axis_at(const std::vector<std::int64_t>& axes, std::size_t index) {
  return index < axes.size() ? axes[index] : 0;
}

/// One slice of a scan input. Sets `turns` to the length of the input, which must be the same for all.
ValueFacts slice_of(const ValueFacts& whole, std::int64_t axis, std::optional<std::int64_t>& turns) {
  ValueFacts facts = carried(whole);
  if (!facts.dims) return facts;
  const std::size_t place = normal_axis(axis, facts.dims->size());
  if (turns && *turns != (*facts.dims)[place]) stop("it scans inputs of different lengths");
  turns = (*facts.dims)[place];
  facts.dims->erase(facts.dims->begin() + static_cast<std::ptrdiff_t>(place));
  return facts;
}

/// Inputs: initial states, then scan inputs. The body takes states and slices, and returns states and scan outputs.
void scan(Call& call) {
  const Graph& body = body_of(call, "body");
  const std::int64_t scanned = call.node().integer("num_scan_inputs", 0);
  if (call.version() < 9) stop("Scan had other inputs before version 9");
  if (scanned < 1 || scanned > static_cast<std::int64_t>(call.input_count())) stop("it does not say what it scans");
  const std::size_t states = call.input_count() - static_cast<std::size_t>(scanned);
  const std::vector<std::int64_t> input_axes = call.list("scan_input_axes");
  const std::vector<std::int64_t> output_axes = call.list("scan_output_axes");
  std::vector<ValueFacts> inputs;
  std::optional<std::int64_t> turns;
  for (std::size_t i = 0; i < call.input_count(); ++i) {
    inputs.push_back(i < states ? carried(call.input(i))
                                : slice_of(call.input(i), axis_at(input_axes, i - states), turns));
  }
  const std::vector<ValueFacts> outputs = infer_turns(call, body, std::move(inputs), {.count = states});
  if (outputs.size() != call.output_count()) stop("its body has a different number of outputs");
  for (std::size_t i = 0; i < states; ++i) call.set_facts(i, carried(either(outputs[i], call.input(i))));
  if (!turns) static_cast<void>(call.dims(states));
  for (std::size_t i = states; i < outputs.size(); ++i) {
    set_stacked(call, i, outputs[i], turns.value_or(0), axis_at(output_axes, i - states));
  }
}

constexpr Operator kControlOperators[] = {{"If", branch}, {"Loop", loop}, {"Scan", scan}};

}  // namespace

std::span<const Operator> control_operators() { return kControlOperators; }

}  // namespace stowage::io::onnx::shape
