#include "alloc/partition/insert_copies.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "alloc/partition/traffic.hpp"
#include "graph/interface/relations.hpp"
#include "rewrite/interface/editor.hpp"

namespace stowage::partitioning {
namespace {

/// Ops [begin, end) of the original graph that become one split.
struct SplitOps {
  std::size_t backend = 0;
  std::size_t begin = 0;
  std::size_t end = 0;
  std::vector<Crossing> crossings = {};
};

/// A tensor that an op reads in place of the original.
struct Replacement {
  TensorId original;
  TensorId tensor;
};

class CopyInserter {
 public:
  CopyInserter(const Model& model, const Assignment& assignment, std::span<const Backend> backends,
               const PartitionOptions& options)
      : model_(model),
        graph_(*model.graph),
        assignment_(assignment),
        backends_(backends),
        options_(options),
        editor_(graph_),
        replacements_(graph_.ops().size()),
        shapes_(graph_.tensors().size()),
        emitted_(graph_.ops().size()),
        written_in_(model.families.list.size(), graph_.ops().size()) {
    std::vector<bool> produced(graph_.tensors().size());
    for (std::size_t k = 0; k < graph_.ops().size(); ++k) {
      for (const TensorId output : graph_.ops()[k].outputs) {
        if (!produced[output.index()] && graph_.ops()[k].no_task) shapes_[output.index()] = k;
        produced[output.index()] = true;
      }
    }
  }

  Result<Partition> run() {
    add_memories();
    STOWAGE_TRY_STATUS(add_home_tensors());
    STOWAGE_TRY_STATUS(add_input_sets());
    ops_.resize(graph_.ops().size());
    for (const SplitOps& split : find_splits()) STOWAGE_TRY_STATUS(emit(split));
    editor_.set_order(std::move(order_));
    STOWAGE_TRY(rewrite::Rewritten built, std::move(editor_).build());
    std::vector<std::optional<OpId>> origins;
    for (const rewrite::Origin<OpId>& origin : built.origins.ops)
      origins.push_back(origin.kind == rewrite::OriginKind::same ? std::optional(origin.id) : std::nullopt);
    return Partition{std::move(built.graph), std::move(op_backends_), std::move(origins),    std::move(ops_),
                     std::move(splits_),     std::move(copies_),      std::move(input_sets_)};
  }

 private:
  // ---------------------------------------------------------------------------------------------------------- tensors
  void add_memories() {
    std::vector<Memory>& memories = editor_.memories();
    memories.clear();
    for (const Backend& backend : backends_) {
      const BufferType& type = *backend.memory;
      memories.push_back({backend.name, type.alignment(), type.max_size(), type.host_visible() ? "host" : "device"});
    }
  }

  Result<Bytes> size_in(const Tensor& tensor, std::size_t memory) const {
    const BufferType& type = *backends_[memory].memory;
    const Bytes size = options_.size_of ? options_.size_of(tensor, type) : tensor.size;
    if (size >= tensor.size && size <= kMaxBytes) return size;
    return Error{ErrorCode::invalid,
                 fmt::format("tensor '{}' has {} bytes, but only {} in {}", tensor.name, tensor.size.value(),
                             size.value(), type.name()),
                 {}};
  }

  Status add_home_tensors() {
    for (std::size_t f = 0; f < model_.families.list.size(); ++f) homes_.push_back(home_of(model_, f, assignment_));
    for (std::size_t t = 0; t < graph_.tensors().size(); ++t)
      editor_.tensor(TensorId(t)).memory = MemoryId(homes_[model_.families.of_tensor[t]]);
    for (std::size_t f = 0; f < homes_.size(); ++f) {
      const Family& family = model_.families.list[f];
      for (const TensorId root : family.roots) align(root, family, homes_[f]);
      // Padding that kernels may read past the end comes after everything else that shares the memory.
      const TensorId last = *std::max_element(family.roots.begin(), family.roots.end(),
                                              [&](TensorId a, TensorId b) { return end(a) < end(b); });
      STOWAGE_TRY(editor_.tensor(last).size, size_in(graph_.tensor(last), homes_[f]));
    }
    keep_distances();
    return Done{};
  }

  /// The distances in padded groups are those that the ops were made for.
  void keep_distances() {
    for (const Group& group : graph_.relations().groups) {
      for (const GroupMember& member : group.members) {
        if (group.kind == Contiguity::padded)
          editor_.tensor(member.tensor).alignment = padded_alignment(graph_, member.tensor);
      }
    }
  }

  [[nodiscard]] Bytes end(TensorId tensor) const {
    return model_.families.offsets[tensor.index()] + graph_.tensor(tensor).size;
  }

  /// Every root gets the alignment of its new memory, unless an alias puts it at an offset that rules this out.
  void align(TensorId root, const Family& family, std::size_t memory) {
    const bool aliased = family.roots.size() > 1;
    const Bytes needed = editor_.memories()[memory].alignment;
    std::optional<Bytes>& own = editor_.tensor(root).alignment;
    if (!aliased || is_aligned(model_.families.offsets[root.index()], needed)) {
      if (own && *own <= needed) own.reset();
    } else if (!own) {
      own = graph_.alignment(root);
    }
  }

  Status add_input_sets() {
    if (options_.input_sets < 2) return Done{};
    for (std::size_t f = 0; f < homes_.size(); ++f) {
      const Family& family = model_.families.list[f];
      if (!family.flags.has(TensorFlag::input) || family.flags.any_of(kOwnAddress)) continue;
      for (const TensorId root : family.roots) editor_.tensor(root).flags |= TensorFlag::no_reuse;
      const TensorId lowest = *std::min_element(family.roots.begin(), family.roots.end(), [&](TensorId a, TensorId b) {
        return model_.families.offsets[a.index()] < model_.families.offsets[b.index()];
      });
      Tensor whole = editor_.tensor(lowest);
      whole.flags = {TensorFlag::input, TensorFlag::no_reuse};
      for (const TensorId root : family.roots) {
        whole.size = std::max(whole.size, model_.families.offsets[root.index()] + editor_.tensor(root).size);
        whole.alignment = std::max(whole.alignment, editor_.tensor(root).alignment);
      }
      input_sets_.push_back({lowest, {}});
      for (std::size_t set = 1; set < options_.input_sets; ++set) {
        whole.name = fmt::format("{} #{}", editor_.tensor(lowest).name, set);
        input_sets_.back().others.push_back(editor_.copy(lowest, whole));
      }
    }
    return Done{};
  }

  // ----------------------------------------------------------------------------------------------------------- splits
  [[nodiscard]] std::vector<SplitOps> find_splits() const {
    std::vector<SplitOps> splits;
    std::vector<std::size_t> split_of_op(graph_.ops().size());
    for (const std::size_t op : model_.task_ops) {
      const std::size_t backend = backend_of(model_, op, assignment_);
      if (splits.empty() || splits.back().backend != backend) {
        if (!splits.empty()) splits.back().end = op;
        splits.push_back({.backend = backend, .begin = splits.empty() ? 0 : op});
      }
      split_of_op[op] = splits.size() - 1;
    }
    if (splits.empty()) splits.push_back({.backend = backends_.size() - 1});
    splits.back().end = graph_.ops().size();
    for (std::size_t f = 0; f < homes_.size(); ++f) {
      for (Crossing& crossing : crossings_of(model_, f, assignment_)) {
        splits[split_of_op[crossing.reads.front().op]].crossings.push_back(std::move(crossing));
      }
    }
    return splits;
  }

  Status emit(const SplitOps& split) {
    Split result{.backend = split.backend, .begin = OpId(order_.size()), .first_copy = copies_.size()};
    const std::vector<bool> early = shapes_that_come_first(split);
    for (std::size_t op = split.begin; op < split.end; ++op) {
      if (early[op - split.begin]) emit_op(op, split.backend);
    }
    std::vector<Crossing> crossings = split.crossings;
    std::sort(crossings.begin(), crossings.end(), [](const Crossing& a, const Crossing& b) {
      return std::tuple(a.reads.front().op, a.family, a.bytes.lower) <
             std::tuple(b.reads.front().op, b.family, b.bytes.lower);
    });
    for (const Crossing& crossing : crossings) STOWAGE_TRY_STATUS(emit_copy(crossing));
    for (std::size_t op = split.begin; op < split.end; ++op) {
      if (!early[op - split.begin]) emit_op(op, split.backend);
    }
    result.end = OpId(order_.size());
    result.last_copy = copies_.size();
    if (!model_.task_ops.empty()) splits_.push_back(result);
    return Done{};
  }

  /// The no_task ops of the split whose inputs all exist before it. They come before its copies, which may read the
  /// tensors that they name.
  [[nodiscard]] std::vector<bool> shapes_that_come_first(const SplitOps& split) {
    std::vector<bool> early(split.end - split.begin, false);
    const auto is_there = [&](const std::optional<TensorId>& input) {
      return !input ||
             (written_in_[model_.families.of_tensor[input->index()]] != split.begin && !is_late(*input, split, early));
    };
    for (std::size_t k = split.begin; k < split.end; ++k) {
      const Op& op = graph_.ops()[k];
      if (op.no_task) {
        early[k - split.begin] = std::all_of(op.inputs.begin(), op.inputs.end(), is_there);
        continue;
      }
      for (const TensorId output : op.outputs) written_in_[model_.families.of_tensor[output.index()]] = split.begin;
    }
    return early;
  }

  /// Whether the tensor is named by a no_task op of the split that comes after its copies.
  [[nodiscard]] bool is_late(TensorId tensor, const SplitOps& split, const std::vector<bool>& early) const {
    const std::optional<std::size_t>& shape = shapes_[tensor.index()];
    return shape && *shape >= split.begin && *shape < split.end && !early[*shape - split.begin];
  }

  // -------------------------------------------------------------------------------------------------------------- ops
  void emit_op(std::size_t k, std::size_t backend) {
    Op& op = editor_.op(OpId(k));
    for (std::optional<TensorId>& input : op.inputs) {
      if (input) input = replaced(k, *input);
    }
    for (Workspace& workspace : op.workspaces) workspace.memory = MemoryId(backend);
    // A no_task op that is moved up may no longer come after the ops it waited for. It never orders anything, so its
    // `after` can be dropped.
    if (op.no_task) op.after.clear();
    ops_[k] = OpId(order_.size());
    emitted_[k] = true;
    op_backends_.push_back(op.no_task && !op.outputs.empty() ? homes_[model_.families.of_tensor[op.outputs[0].index()]]
                                                             : backend);
    order_.emplace_back(k);
  }

  [[nodiscard]] TensorId replaced(std::size_t op, TensorId tensor) const {
    for (const Replacement& replacement : replacements_[op]) {
      if (replacement.original == tensor) return replacement.tensor;
    }
    return tensor;
  }

  Status emit_copy(const Crossing& crossing) {
    const auto exact = std::find_if(crossing.reads.begin(), crossing.reads.end(),
                                    [&](const Access& read) { return read.bytes == crossing.bytes; });
    // The read may be in a later split, whose no_task op that names the tensor is not emitted yet.
    const bool nameable = exact != crossing.reads.end() && is_named(exact->tensor);
    const TensorId from = nameable ? exact->tensor : add_part(crossing);
    Tensor copy = from.index() < graph_.tensors().size() ? graph_.tensor(from) : editor_.tensor(from);
    copy.name = fmt::format("{} ({})", copy.name, backends_[crossing.target].name);
    copy.memory = MemoryId(crossing.target);
    copy.flags = {};
    copy.view_of = {};
    copy.alignment = crossing.alignment > editor_.memories()[crossing.target].alignment
                         ? std::optional(crossing.alignment)
                         : std::nullopt;
    STOWAGE_TRY(copy.size, size_in(copy, crossing.target));
    for (const Access& read : crossing.reads) {
      if (graph_.ops()[read.op].contiguous_inputs == Contiguity::padded && read.bytes == crossing.bytes)
        copy.alignment = padded_alignment(graph_, read.tensor);
    }
    const TensorId to = editor_.copy(from, copy);
    replace_reads(crossing, to);

    const Op& reader = graph_.ops()[crossing.reads.front().op];
    Op op{.name = fmt::format("copy {}", copy.name),
          .kind = "COPY",
          .inputs = {from},
          .outputs = {to},
          .stream = reader.stream,
          .batch = batch_of(crossing)};
    if (graph_.stream_count() > 1) op.after = writers_before(crossing);
    copies_.push_back({OpId(order_.size()), from, to, crossing.bytes.length()});
    op_backends_.push_back(crossing.target);
    order_.push_back(editor_.append(std::move(op)));
    return Done{};
  }

  /// The batch of all readers. In other batches the copy would be ordered with nothing, because its readers do not run.
  [[nodiscard]] std::string batch_of(const Crossing& crossing) const {
    const std::string& first = graph_.ops()[crossing.reads.front().op].batch;
    const bool same = std::all_of(crossing.reads.begin(), crossing.reads.end(),
                                  [&](const Access& read) { return graph_.ops()[read.op].batch == first; });
    return same ? first : std::string();
  }

  /// Whether ops may read the tensor already. Task ops keep their order, so only tensors named by no_task ops are in
  /// question.
  [[nodiscard]] bool is_named(TensorId tensor) const {
    const std::optional<std::size_t>& shape = shapes_[tensor.index()];
    return !shape || emitted_[*shape];
  }

  /// Adds a view, in the home memory, of what several tensors cover together, or of a tensor that is not named yet.
  TensorId add_part(const Crossing& crossing) {
    const TensorId base = base_of(crossing);
    const Bytes offset = crossing.bytes.lower - model_.families.offsets[base.index()];
    return editor_.copy(base, Tensor{.name = fmt::format("{} [{}, {})", graph_.tensor(base).name, offset.value(),
                                                         (offset + crossing.bytes.length()).value()),
                                     .size = crossing.bytes.length(),
                                     .memory = MemoryId(homes_[crossing.family]),
                                     .view_of = ViewOf{base, offset}});
  }

  /// A tensor that contains these bytes and may be read already. The crossing's root itself may be named by a no_task
  /// op.
  [[nodiscard]] TensorId base_of(const Crossing& crossing) const {
    const std::vector<TensorId>& roots = model_.families.list[crossing.family].roots;
    const auto serves = [&](TensorId root) {
      return is_named(root) && ByteRange{model_.families.offsets[root.index()], end(root)}.contains(crossing.bytes);
    };
    if (serves(crossing.root)) return crossing.root;
    const auto other = std::find_if(roots.begin(), roots.end(), serves);
    return other != roots.end() ? *other : crossing.root;
  }

  /// Makes the readers read the copy, or views of it for their parts.
  void replace_reads(const Crossing& crossing, TensorId copy) {
    std::vector<Replacement> parts;
    for (const Access& read : crossing.reads) {
      auto part = std::find_if(parts.begin(), parts.end(),
                               [&](const Replacement& each) { return each.original == read.tensor; });
      if (part == parts.end()) {
        TensorId tensor = copy;
        if (read.bytes != crossing.bytes) {
          Tensor view = graph_.tensor(read.tensor);
          view.name = fmt::format("{} ({})", view.name, backends_[crossing.target].name);
          view.memory = MemoryId(crossing.target);
          view.flags = {};
          view.view_of = ViewOf{copy, read.bytes.lower - crossing.bytes.lower};
          tensor = editor_.copy(read.tensor, std::move(view));
        }
        part = parts.insert(parts.end(), {read.tensor, tensor});
      }
      replacements_[read.op].push_back(*part);
    }
  }

  /// The earlier ops that write any of the crossing's bytes. On several streams, the order of ops alone does not put
  /// the copy after them.
  [[nodiscard]] std::vector<OpId> writers_before(const Crossing& crossing) const {
    std::vector<OpId> writers;
    for (const Access& access : model_.families.list[crossing.family].accesses) {
      if (access.op >= crossing.reads.front().op) break;
      if (access.write && access.bytes.overlaps(crossing.bytes)) writers.emplace_back(access.op);
    }
    return writers;
  }

  const Model& model_;
  const Graph& graph_;
  const Assignment& assignment_;
  std::span<const Backend> backends_;
  const PartitionOptions& options_;
  rewrite::Editor editor_;
  std::vector<std::size_t> homes_;                      ///< By family.
  std::vector<std::vector<Replacement>> replacements_;  ///< By original op.
  /// By original tensor: the no_task op that names it.
  std::vector<std::optional<std::size_t>> shapes_;
  std::vector<bool> emitted_;  ///< By original op.
  /// By family: where the split that last wrote it begins.
  std::vector<std::size_t> written_in_;
  /// The ops of the result, as ids of the editor.
  std::vector<OpId> order_;
  std::vector<std::size_t> op_backends_;
  std::vector<OpId> ops_;
  std::vector<Split> splits_;
  std::vector<PartitionCopy> copies_;
  std::vector<InputSets> input_sets_;
};

}  // namespace

Result<Partition> insert_copies(const Model& model, const Assignment& assignment, std::span<const Backend> backends,
                                const PartitionOptions& options) {
  return CopyInserter(model, assignment, backends, options).run();
}

}  // namespace stowage::partitioning
