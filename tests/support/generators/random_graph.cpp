#include "support/generators/random_graph.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "support/generators/annotations.hpp"
#include "support/generators/keep_apart.hpp"

namespace stowage::testing {
namespace {

/// A set of ops, by bit.
using OpSet = std::uint64_t;

constexpr OpSet bit(std::size_t op) { return OpSet{1} << op; }

/// What the generator knows about tensors that share bytes.
struct Family {
  bool readable = false;  ///< Somebody wrote it, or the caller does.
  bool writable = true;
  OpSet readers = 0;
  OpSet writers = 0;
};

/// What it knows about a tensor beyond its description.
struct Known {
  std::size_t family = 0;
  std::int64_t in_family = 0;                ///< Its offset there.
  std::int64_t in_root = 0;                  ///< Its offset in the tensor that it is, in the end, a view of.
  std::optional<std::size_t> producer = {};  ///< The latest.
};

class Generator {
 public:
  Generator(std::uint64_t seed, const RandomGraphOptions& options) : random_(seed), options_(options) {}

  [[nodiscard]] Graph generate(std::uint64_t seed) {
    graph_.name = "random " + std::to_string(seed);
    add_memories();
    add_given_tensors();
    streams_ = 1 + below(options_.max_streams);
    last_on_stream_.resize(streams_);
    const std::size_t ops = 1 + below(std::min<std::size_t>(options_.max_ops, 64));
    for (std::size_t i = 0; i < ops; ++i) chance(15) ? add_reshape() : add_task();
    annotate(graph_, seed);
    Result<Graph> built = build_keeping_apart(std::move(graph_), seed, options_.apart);
    STOWAGE_CHECK(built.has_value(), built ? "" : built.error().message.c_str());
    return std::move(built).value();
  }

 private:
  // ------------------------------------------------------------------------------------------------------------- dice
  std::size_t below(std::size_t limit) { return static_cast<std::size_t>(random_() % limit); }
  bool chance(std::size_t percent) { return below(100) < percent; }
  std::int64_t size() {
    constexpr std::array<std::int64_t, 12> kSizes = {1, 7, 8, 16, 16, 32, 32, 48, 64, 64, 100, 160};
    return chance(2) ? 0 : kSizes[below(kSizes.size())];
  }
  std::int64_t power_of_two(std::size_t exponents) { return std::int64_t{1} << below(exponents); }

  // ---------------------------------------------------------------------------------------------------------- tensors
  void add_memories() {
    const std::size_t count = 1 + below(options_.max_memories);
    for (std::size_t i = 0; i < count; ++i) {
      Memory memory{.name = "memory " + std::to_string(i), .alignment = Bytes(power_of_two(6))};
      if (chance(10)) memory.max_size = Bytes(128 + static_cast<std::int64_t>(below(256)));
      graph_.memories.push_back(memory);
    }
  }

  /// What is there before the first op: values from the caller, and buffers that ops only write in parts.
  void add_given_tensors() {
    for (std::size_t i = below(4); i > 0; --i) add_root(TensorFlag::input);
    for (std::size_t i = below(3); i > 0; --i) add_root(TensorFlag::constant);
    for (std::size_t i = below(3); i > 0; --i) add_root(TensorFlag::variable);
    if (chance(20)) add_root(TensorFlag::external);
    if (chance(20)) add_root({TensorFlag::input, TensorFlag::output});
    if (chance(10)) add_root({TensorFlag::input, TensorFlag::no_reuse});
    if (chance(30)) add_root({});
    if (chance(5)) add_root(TensorFlag::output);
  }

  TensorId add_tensor(Tensor tensor, const Known& known) {
    const TensorId id(graph_.tensors.size());
    tensor.name = "t" + std::to_string(id.index());
    graph_.tensors.push_back(std::move(tensor));
    known_.push_back(known);
    return id;
  }

  TensorId add_root(TensorFlags flags, std::optional<Bytes> bytes = {}, std::optional<MemoryId> memory = {}) {
    Tensor tensor{.name = {}, .size = bytes.value_or(Bytes(size())), .flags = flags};
    tensor.memory = memory.value_or(MemoryId(below(graph_.memories.size())));
    if (chance(15)) tensor.alignment = Bytes(power_of_two(7));
    families_.push_back(
        {.readable = flags.any_of(kOwnAddress | TensorFlag::input), .writable = !flags.has(TensorFlag::constant)});
    return add_tensor(std::move(tensor), {.family = families_.size() - 1});
  }

  TensorId add_view(TensorId base) {
    const std::int64_t space = size_of(base);
    const bool whole = chance(30);
    const std::int64_t offset = whole ? 0 : random_part(space);
    Tensor tensor{.name = {}, .size = Bytes(whole ? space : random_part(space - offset)), .memory = memory_of(base)};
    tensor.view_of = ViewOf{base, Bytes(offset)};
    Known known = known_[base.index()];
    known.in_family += offset;
    known.in_root += offset;
    known.producer = {};
    const std::int64_t alignment = power_of_two(4);
    const bool fits = (known.in_family | known.in_root) % alignment == 0;
    if (fits && chance(20)) tensor.alignment = Bytes(alignment);
    if (chance(5)) tensor.flags |= TensorFlag::output;
    return add_tensor(std::move(tensor), known);
  }

  /// A tensor of its own that lies `offset` bytes into `base` by an alias of the op about to be added.
  TensorId add_aliased(TensorId base, std::int64_t offset) {
    const std::int64_t room = size_of(base) - offset + (chance(20) ? 16 : 0);
    Tensor tensor{.name = {}, .size = Bytes(random_part(room)), .memory = memory_of(base)};
    Known known{.family = known_[base.index()].family, .in_family = known_[base.index()].in_family + offset};
    if (!is_aligned(Bytes(known.in_family), graph_.memories[memory_of(base).index()].alignment))
      tensor.alignment = Bytes(1);
    if (chance(5)) tensor.flags |= TensorFlag::output;
    return add_tensor(std::move(tensor), known);
  }

  /// From 0 to `whole`; mostly a multiple of 8.
  std::int64_t random_part(std::int64_t whole) {
    const auto part = static_cast<std::int64_t>(below(static_cast<std::size_t>(whole) + 1));
    return chance(70) ? part / 8 * 8 : part;
  }

  [[nodiscard]] std::int64_t size_of(TensorId id) const { return graph_.tensors[id.index()].size.value(); }
  [[nodiscard]] MemoryId memory_of(TensorId id) const { return graph_.tensors[id.index()].memory; }
  [[nodiscard]] Family& family(TensorId id) { return families_[known_[id.index()].family]; }

  /// One of the tensors that `accept` accepts, rather a late one; sometimes a view of it.
  template <class Accept>
  std::optional<TensorId> pick(Accept&& accept) {
    std::vector<TensorId> choice;
    for (std::size_t i = 0; i < graph_.tensors.size(); ++i) {
      if (accept(TensorId(i))) choice.push_back(TensorId(i));
    }
    if (choice.empty()) return std::nullopt;
    const TensorId picked = choice[std::max(below(choice.size()), below(choice.size()))];
    return chance(12) ? add_view(picked) : picked;
  }
  std::optional<TensorId> pick_readable() {
    return pick([&](TensorId id) { return family(id).readable; });
  }

  // -------------------------------------------------------------------------------------------------------------- ops
  /// An op without a task: its output is a view of its input, or aliased to it. What it says about order is void.
  void add_reshape() {
    const std::optional<TensorId> input = pick_readable();
    if (!input) return;
    Op op{.name = {}, .kind = "RESHAPE", .inputs = {*input}, .no_task = true, .stream = StreamId(below(streams_))};
    if (chance(30)) add_random_after(op);
    if (chance(60)) {
      op.outputs = {add_view(*input)};
    } else {
      alias_output(op, 0);
    }
    commit(std::move(op));
  }

  void add_task() {
    Op op{.name = {}, .kind = "TASK", .stream = StreamId(below(streams_)), .no_reuse = chance(3)};
    for (std::size_t i = below(4); i > 0; --i) op.inputs.push_back(chance(8) ? std::nullopt : pick_readable());
    if (!op.inputs.empty() && chance(8)) op.inputs.push_back(op.inputs.front());
    for (std::size_t i = chance(4) ? 0 : 1 + below(2); i > 0; --i) add_output(op);
    add_pairs(op);
    add_workspaces(op);
    if (chance(15)) add_random_after(op);
    add_needed_after(op);
    commit(std::move(op));
  }

  void add_output(Op& op) {
    const std::size_t kind = below(100);
    if (kind < 10) {
      write_through_view(op);
    } else if (kind < 15) {
      write_variable(op);
    } else if (kind < 23) {
      write_aliased(op);
    } else {
      op.outputs.push_back(add_result(op));
    }
  }

  TensorId add_result(const Op& op) {
    TensorFlags flags;
    if (chance(12)) flags |= TensorFlag::output;
    if (chance(4)) flags |= TensorFlag::no_reuse;
    if (chance(3)) flags |= TensorFlag::input;
    if (chance(3)) flags |= TensorFlag::external;
    for (const std::optional<TensorId>& input : op.inputs) {
      if (input && chance(60)) return add_root(flags, Bytes(size_of(*input)), memory_of(*input));
    }
    return add_root(flags);
  }

  /// An op writes the bytes of a family once only; which of two outputs comes last would be anyone's guess.
  bool may_write(const Op& op, TensorId id) {
    return family(id).writable && std::none_of(op.outputs.begin(), op.outputs.end(), [&](TensorId output) {
             return known_[output.index()].family == known_[id.index()].family;
           });
  }

  void write_through_view(Op& op) {
    const std::optional<TensorId> base = pick([&](TensorId id) { return may_write(op, id); });
    if (base) op.outputs.push_back(add_view(*base));
  }

  void write_variable(Op& op) {
    const std::optional<TensorId> variable = pick(
        [&](TensorId id) { return graph_.tensors[id.index()].flags.has(TensorFlag::variable) && may_write(op, id); });
    if (variable) op.outputs.push_back(*variable);
  }

  void write_aliased(Op& op) {
    if (op.inputs.empty()) return;
    const auto input = static_cast<std::uint32_t>(below(op.inputs.size()));
    if (op.inputs[input] && may_write(op, *op.inputs[input])) alias_output(op, input);
  }

  void alias_output(Op& op, std::uint32_t input) {
    const TensorId base = *op.inputs[input];
    const std::int64_t offset = chance(50) ? 0 : random_part(size_of(base));
    op.aliases.push_back({static_cast<std::uint32_t>(op.outputs.size()), input, Bytes(offset)});
    op.outputs.push_back(add_aliased(base, offset));
  }

  void add_pairs(Op& op) {
    for (std::uint32_t output = 0; output < op.outputs.size(); ++output) {
      for (std::uint32_t input = 0; input < op.inputs.size(); ++input) {
        if (op.inputs[input] && chance(40)) op.in_place.push_back({output, input});
      }
    }
  }

  void add_workspaces(Op& op) {
    if (!chance(25)) return;
    for (std::size_t i = 1 + below(2); i > 0; --i) {
      Workspace workspace{
          .size = Bytes(size()), .memory = MemoryId(below(graph_.memories.size())), .no_reuse = chance(5)};
      if (chance(15)) workspace.alignment = Bytes(power_of_two(7));
      op.workspaces.push_back(workspace);
    }
  }

  // ------------------------------------------------------------------------------------------------------------ order
  void add_random_after(Op& op) {
    if (!graph_.ops.empty()) op.after.push_back(OpId(below(graph_.ops.size())));
  }

  /// Orders the op after all that it would race with.
  void add_needed_after(Op& op) {
    OpSet needed = 0;
    for (const std::optional<TensorId>& input : op.inputs) {
      if (input) needed |= family(*input).writers;
    }
    for (const TensorId output : op.outputs) needed |= family(output).writers | family(output).readers;
    for (std::size_t other = graph_.ops.size(); other-- > 0;) {
      if ((needed & ~before(op) & bit(other)) != 0) op.after.push_back(OpId(other));
    }
  }

  /// The task ops that happen before `op`, which is about to be added.
  [[nodiscard]] OpSet before(const Op& op) const {
    OpSet direct = 0;
    if (const std::optional<std::size_t> last = last_on_stream_[op.stream.index()]) direct |= bit(*last);
    for (const OpId other : op.after) {
      if (!graph_.ops[other.index()].no_task) direct |= bit(other.index());
    }
    for (const std::optional<TensorId>& input : op.inputs) {
      if (input) direct |= sources(*input);
    }
    OpSet result = direct;
    for (std::size_t other = 0; other < before_.size(); ++other) {
      if ((direct & bit(other)) != 0) result |= before_[other];
    }
    return result;
  }

  /// The task ops whose work one reads with `tensor`.
  [[nodiscard]] OpSet sources(TensorId tensor) const {
    OpSet result = 0;
    if (const std::optional<ViewOf>& view = graph_.tensors[tensor.index()].view_of) result |= sources(view->tensor);
    const std::optional<std::size_t> producer = known_[tensor.index()].producer;
    if (!producer) return result;
    const Op& op = graph_.ops[*producer];
    if (!op.no_task) return result | bit(*producer);
    for (const Alias& alias : op.aliases) {
      if (op.outputs[alias.output] == tensor) result |= sources(*op.inputs[alias.input]);
    }
    return result;
  }

  void commit(Op op) {
    const std::size_t index = graph_.ops.size();
    op.name = "op" + std::to_string(index);
    before_.push_back(op.no_task ? 0 : before(op));
    for (const TensorId output : op.outputs) known_[output.index()].producer = index;
    if (!op.no_task) {
      last_on_stream_[op.stream.index()] = index;
      for (const std::optional<TensorId>& input : op.inputs) {
        if (input) family(*input).readers |= bit(index);
      }
      for (const TensorId output : op.outputs) {
        family(output).writers |= bit(index);
        family(output).readable = true;
      }
    }
    graph_.ops.push_back(std::move(op));
  }

  std::mt19937_64 random_;
  RandomGraphOptions options_;
  GraphDescription graph_;
  std::size_t streams_ = 1;
  std::vector<Family> families_;
  std::vector<Known> known_;                                ///< By tensor.
  std::vector<OpSet> before_;                               ///< By op.
  std::vector<std::optional<std::size_t>> last_on_stream_;  ///< The last task op.
};

}  // namespace

Graph random_graph(std::uint64_t seed, const RandomGraphOptions& options) {
  return Generator(seed, options).generate(seed);
}

}  // namespace stowage::testing
