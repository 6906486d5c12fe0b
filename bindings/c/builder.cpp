#include <array>

#include "handles.hpp"

struct stowage_builder {
  stowage::GraphDescription description = {};
  std::optional<stowage::Error> mistake = {};  ///< The first.
};

namespace stowage::c {
namespace {

template <class T>
struct List {
  const T* items;
  std::size_t count;
  const char* name;
};

template <class T, class To, class Convert>
Status read_list(const List<T>& list, std::vector<To>& to, Convert&& convert) {
  if (list.count > 0 && !list.items) return null_argument(list.name);
  to.reserve(list.count);
  for (std::size_t k = 0; k < list.count; ++k) to.push_back(convert(list.items[k]));
  return Done{};
}

std::optional<Bytes> present(std::int64_t bytes) { return bytes == 0 ? std::nullopt : std::optional(Bytes(bytes)); }
template <class Value>
std::optional<Value> if_set(bool set, Value value) {
  return set ? std::optional(value) : std::nullopt;
}

Result<Memory> memory_of(const stowage_memory_info* given) {
  if (!given) return null_argument("memory");
  STOWAGE_TRY(const stowage_memory_info from, read_struct(given, "stowage_memory_info"));
  return Memory{.name = text_or(from.name),
                .alignment = Bytes(from.alignment == 0 ? 1 : from.alignment),
                .max_size = present(from.max_size),
                .kind = text_or(from.kind, "device"),
                .bandwidth = if_set(from.bandwidth != 0, from.bandwidth)};
}

Result<TensorFlags> flags_of(std::uint32_t bits) {
  constexpr std::array kFlags{TensorFlag::input,     TensorFlag::output,   TensorFlag::constant,
                              TensorFlag::variable,  TensorFlag::no_reuse, TensorFlag::external,
                              TensorFlag::zero_copy, TensorFlag::reusable, TensorFlag::shape_data};
  TensorFlags flags;
  for (const TensorFlag flag : kFlags) {
    const auto bit = static_cast<std::uint32_t>(flag);
    if (bits & bit) flags |= flag;
    bits &= ~bit;
  }
  if (bits != 0) return Error{ErrorCode::unsupported, "a flag of a tensor is unknown", {}};
  return flags;
}

Result<Tensor> tensor_of(const stowage_tensor_info* given) {
  if (!given) return null_argument("tensor");
  STOWAGE_TRY(const stowage_tensor_info from, read_struct(given, "stowage_tensor_info"));
  STOWAGE_TRY(const TensorFlags flags, flags_of(from.flags));
  if (from.rank > 0 && !from.shape) return null_argument("shape");
  Tensor tensor{.name = text_or(from.name),
                .size = Bytes(from.size),
                .dtype = text_or(from.dtype),
                .shape = {from.shape, from.shape + from.rank},
                .memory = MemoryId(from.memory),
                .alignment = present(from.alignment),
                .flags = flags};
  if (from.is_view != 0) tensor.view_of = ViewOf{TensorId(from.view_of), Bytes(from.view_offset)};
  if (from.origin > 0) tensor.origin = TensorId(from.origin - 1);
  return tensor;
}

Workspace workspace_of(const stowage_workspace& from) {
  return {.size = Bytes(from.size),
          .memory = MemoryId(from.memory),
          .alignment = present(from.alignment),
          .no_reuse = from.no_reuse != 0,
          .scope = from.session != 0 ? WorkspaceScope::session : WorkspaceScope::op};
}

Contiguity contiguity_of(std::uint32_t flags, std::uint32_t padded, std::uint32_t packed) {
  if (flags & packed) return Contiguity::packed;
  return flags & padded ? Contiguity::padded : Contiguity::none;
}

Result<Control> control_of(std::uint32_t flags) {
  const std::uint32_t control = flags & (STOWAGE_BRANCH | STOWAGE_LOOP | STOWAGE_CALL);
  if (control == 0) return Control::none;
  if (control == STOWAGE_BRANCH) return Control::branch;
  if (control == STOWAGE_LOOP) return Control::loop;
  if (control == STOWAGE_CALL) return Control::call;
  return Error{ErrorCode::invalid, "an op is a branch, a loop or a call, not two of them", {}};
}

Status read_flags(std::uint32_t flags, Op& op) {
  constexpr std::uint32_t kKnown = 2 * STOWAGE_CALL - 1;
  if (flags & ~kKnown) return Error{ErrorCode::unsupported, "a flag of an op is unknown", {}};
  op.no_task = (flags & STOWAGE_NO_TASK) != 0;
  op.no_reuse = (flags & STOWAGE_OP_NO_REUSE) != 0;
  op.fixed_address = (flags & STOWAGE_FIXED_ADDRESS) != 0;
  op.recompute = (flags & STOWAGE_NO_RECOMPUTE) == 0;
  op.contiguous_inputs = contiguity_of(flags, STOWAGE_PADDED_INPUTS, STOWAGE_PACKED_INPUTS);
  op.contiguous_outputs = contiguity_of(flags, STOWAGE_PADDED_OUTPUTS, STOWAGE_PACKED_OUTPUTS);
  STOWAGE_TRY(op.control, control_of(flags));
  return Done{};
}

Status read_edges(const stowage_op_info& from, Op& op) {
  const auto tensor = [](std::uint32_t id) { return TensorId(id); };
  const auto input = [](std::uint32_t id) { return id == STOWAGE_NONE ? std::nullopt : std::optional(TensorId(id)); };
  STOWAGE_TRY_STATUS(read_list(List{from.inputs, from.input_count, "inputs"}, op.inputs, input));
  STOWAGE_TRY_STATUS(read_list(List{from.outputs, from.output_count, "outputs"}, op.outputs, tensor));
  STOWAGE_TRY_STATUS(
      read_list(List{from.after, from.after_count, "after"}, op.after, [](auto id) { return OpId(id); }));
  STOWAGE_TRY_STATUS(read_list(List{from.in_place, from.in_place_count, "in_place"}, op.in_place,
                               [](const stowage_in_place& pair) { return InPlacePair{pair.output, pair.input}; }));
  return read_list(List{from.aliases, from.alias_count, "aliases"}, op.aliases,
                   [](const stowage_alias& alias) { return Alias{alias.output, alias.input, Bytes(alias.offset)}; });
}

Status read_memory(const stowage_op_info& from, Op& op) {
  const auto same = [](std::uint32_t index) { return index; };
  STOWAGE_TRY_STATUS(read_list(List{from.workspaces, from.workspace_count, "workspaces"}, op.workspaces, workspace_of));
  STOWAGE_TRY_STATUS(
      read_list(List{from.filled_outputs, from.filled_output_count, "filled_outputs"}, op.zero_fill.outputs, same));
  STOWAGE_TRY_STATUS(read_list(List{from.filled_workspaces, from.filled_workspace_count, "filled_workspaces"},
                               op.zero_fill.workspaces, same));
  if (from.fill_value > 255) return Error{ErrorCode::invalid, "a fill value is a byte, at most 255", {}};
  op.zero_fill.value = static_cast<std::uint8_t>(from.fill_value);
  return Done{};
}

Status read_body(const stowage_body& from, std::vector<Body>& bodies) {
  if (!from.content) return null_argument("content");
  if (from.content->mistake) return *from.content->mistake;
  const GraphDescription& content = from.content->description;
  if (!content.memories.empty() || !content.rings.empty() || !content.apart.empty())
    return Error{ErrorCode::invalid,
                 "a body has tensors and ops only; memories, rings and tensors kept apart are the graph's",
                 {}};
  Body body{.tensors = content.tensors, .ops = content.ops, .inputs = {}, .outputs = {}, .carried = {}};
  const auto input = [](const stowage_pair& pair) { return BodyInput{TensorId(pair.a), TensorId(pair.b)}; };
  const auto output = [](const stowage_pair& pair) { return BodyOutput{TensorId(pair.a), TensorId(pair.b)}; };
  const auto carry = [](const stowage_pair& pair) { return Carried{TensorId(pair.a), TensorId(pair.b)}; };
  STOWAGE_TRY_STATUS(read_list(List{from.inputs, from.input_count, "inputs"}, body.inputs, input));
  STOWAGE_TRY_STATUS(read_list(List{from.outputs, from.output_count, "outputs"}, body.outputs, output));
  STOWAGE_TRY_STATUS(read_list(List{from.carried, from.carried_count, "carried"}, body.carried, carry));
  bodies.push_back(std::move(body));
  return Done{};
}

Result<Op> op_of(const stowage_op_info* given) {
  if (!given) return null_argument("op");
  STOWAGE_TRY(const stowage_op_info from, read_struct(given, "stowage_op_info"));
  Op op{.name = text_or(from.name),
        .kind = text_or(from.kind),
        .stream = StreamId(from.stream),
        .batch = text_or(from.batch),
        .backend = text_or(from.backend),
        .cost = if_set(from.has_cost != 0, from.cost),
        .flops = if_set(from.has_flops != 0, from.flops),
        .layer = text_or(from.layer),
        .source = text_or(from.source)};
  if (from.prefetch > 0) op.prefetch = RingId(from.prefetch - 1);
  if (from.trip_count != 0) op.trip_count = from.trip_count;
  if (from.origin > 0) op.origin = OpId(from.origin - 1);
  STOWAGE_TRY_STATUS(read_flags(from.flags, op));
  STOWAGE_TRY_STATUS(read_edges(from, op));
  STOWAGE_TRY_STATUS(read_memory(from, op));
  if (from.body_count > 0 && !from.bodies) return null_argument("bodies");
  for (std::size_t k = 0; k < from.body_count; ++k) STOWAGE_TRY_STATUS(read_body(from.bodies[k], op.bodies));
  return op;
}

/// Adds to a list what `make` returns, and returns its number.
template <class T, class Make>
std::uint32_t add(stowage_builder* builder, std::vector<T>& list, const char* what, Make&& make) {
  const auto number = static_cast<std::uint32_t>(list.size());
  try {
    Result<T> made = make();
    if (made) {
      list.push_back(std::move(made).value());
      return number;
    }
    if (!builder->mistake) {
      Error error = std::move(made).error();
      error.message = std::string(what) + " " + std::to_string(number) + ": " + error.message;
      builder->mistake = std::move(error);
    }
  } catch (...) {
    if (!builder->mistake) builder->mistake.emplace(Error{ErrorCode::out_of_memory, {}, {}});
  }
  return STOWAGE_NONE;
}

}  // namespace
}  // namespace stowage::c

using namespace stowage;
using namespace stowage::c;

extern "C" {

stowage_builder* stowage_builder_make(const char* name) {
  try {
    auto* const builder = new stowage_builder;
    builder->description.name = text_or(name);
    return builder;
  } catch (...) {
    return nullptr;
  }
}

uint32_t stowage_builder_memory(stowage_builder* builder, const stowage_memory_info* memory) {
  return builder ? add(builder, builder->description.memories, "memory", [&] { return memory_of(memory); })
                 : STOWAGE_NONE;
}

uint32_t stowage_builder_tensor(stowage_builder* builder, const stowage_tensor_info* tensor) {
  return builder ? add(builder, builder->description.tensors, "tensor", [&] { return tensor_of(tensor); })
                 : STOWAGE_NONE;
}

uint32_t stowage_builder_op(stowage_builder* builder, const stowage_op_info* op) {
  return builder ? add(builder, builder->description.ops, "op", [&] { return op_of(op); }) : STOWAGE_NONE;
}

uint32_t stowage_builder_ring(stowage_builder* builder, const char* name, int64_t size, uint32_t memory) {
  if (!builder) return STOWAGE_NONE;
  return add(builder, builder->description.rings, "ring",
             [&]() -> Result<Ring> { return Ring{text_or(name), Bytes(size), MemoryId(memory)}; });
}

void stowage_builder_apart(stowage_builder* builder, uint32_t a, uint32_t b) {
  if (!builder) return;
  add(builder, builder->description.apart, "pair",
      [&]() -> Result<ApartTensors> { return ApartTensors{TensorId(a), TensorId(b)}; });
}

stowage_status* stowage_builder_build(stowage_builder* builder, stowage_graph** graph) {
  return guarded([&]() -> Status {
    if (!builder) return null_argument("builder");
    if (!graph) return null_argument("graph");
    stowage_builder content = std::exchange(*builder, {});
    if (content.mistake) return std::move(*content.mistake);
    STOWAGE_TRY(Graph built, Graph::build(std::move(content.description)));
    *graph = new stowage_graph{std::move(built)};
    return Done{};
  });
}

void stowage_builder_free(stowage_builder* builder) { delete builder; }

}  // extern "C"
