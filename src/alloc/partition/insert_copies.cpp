#include "alloc/partition/insert_copies.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "alloc/partition/traffic.hpp"
#include "rewrite/interface/editor.hpp"

namespace stowage::partitioning {
namespace {

/// What becomes one split: ops [begin, end) of the original.
struct SplitOps {
  std::size_t backend = 0;
  std::size_t begin = 0;
  std::size_t end = 0;
  std::vector<Crossing> crossings = {};
};

/// A tensor that an op finds elsewhere than at home.
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
    for (const SplitOps& run : find_runs()) STOWAGE_TRY_STATUS(emit(run));
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
                 fmt::format("tensor '{}' of {} bytes would take {} in {}", tensor.name, tensor.size.value(),
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
      // What kernels may read beyond the end comes behind everything else that shares the memory.
      const TensorId last = *std::max_element(family.roots.begin(), family.roots.end(),
                                              [&](TensorId a, TensorId b) { return end(a) < end(b); });
      STOWAGE_TRY(editor_.tensor(last).size, size_in(graph_.tensor(last), homes_[f]));
    }
    return Done{};
  }

  [[nodiscard]] Bytes end(TensorId tensor) const {
    return model_.families.offsets[tensor.index()] + graph_.tensor(tensor).size;
  }

  /// Every root gets the alignment of its new memory, unless an alias puts it where that cannot be had.
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

  // ------------------------------------------------------------------------------------------------------------- runs
  [[nodiscard]] std::vector<SplitOps> find_runs() const {
    std::vector<SplitOps> runs;
    std::vector<std::size_t> run_of_op(graph_.ops().size());
    for (const std::size_t op : model_.task_ops) {
      const std::size_t backend = backend_of(model_, op, assignment_);
      if (runs.empty() || runs.back().backend != backend) {
        if (!runs.empty()) runs.back().end = op;
        runs.push_back({.backend = backend, .begin = runs.empty() ? 0 : op});
      }
      run_of_op[op] = runs.size() - 1;
    }
    if (runs.empty()) runs.push_back({.backend = backends_.size() - 1});
    runs.back().end = graph_.ops().size();
    for (std::size_t f = 0; f < homes_.size(); ++f) {
      for (Crossing& crossing : crossings_of(model_, f, assignment_)) {
        runs[run_of_op[crossing.reads.front().op]].crossings.push_back(std::move(crossing));
      }
    }
    return runs;
  }

  Status emit(const SplitOps& run) {
    Split split{.backend = run.backend, .begin = OpId(order_.size()), .first_copy = copies_.size()};
    const std::vector<bool> early = shapes_that_come_first(run);
    for (std::size_t op = run.begin; op < run.end; ++op) {
      if (early[op - run.begin]) emit_op(op, run.backend);
    }
    std::vector<Crossing> crossings = run.crossings;
    std::sort(crossings.begin(), crossings.end(), [](const Crossing& a, const Crossing& b) {
      return std::tuple(a.reads.front().op, a.family, a.bytes.lower) <
             std::tuple(b.reads.front().op, b.family, b.bytes.lower);
    });
    for (const Crossing& crossing : crossings) STOWAGE_TRY_STATUS(emit_copy(crossing));
    for (std::size_t op = run.begin; op < run.end; ++op) {
      if (!early[op - run.begin]) emit_op(op, run.backend);
    }
    split.end = OpId(order_.size());
    split.last_copy = copies_.size();
    if (!model_.task_ops.empty()) splits_.push_back(split);
    return Done{};
  }

  /// Ops without a task whose inputs were all there before the run. They come before its copies, which may read what
  /// they name.
  [[nodiscard]] std::vector<bool> shapes_that_come_first(const SplitOps& run) {
    std::vector<bool> early(run.end - run.begin, false);
    const auto is_there = [&](const std::optional<TensorId>& input) {
      return !input ||
             (written_in_[model_.families.of_tensor[input->index()]] != run.begin && !is_late(*input, run, early));
    };
    for (std::size_t k = run.begin; k < run.end; ++k) {
      const Op& op = graph_.ops()[k];
      if (op.no_task) {
        early[k - run.begin] = std::all_of(op.inputs.begin(), op.inputs.end(), is_there);
        continue;
      }
      for (const TensorId output : op.outputs) written_in_[model_.families.of_tensor[output.index()]] = run.begin;
    }
    return early;
  }

  /// Whether an op without a task names it that stays in the run, behind the copies.
  [[nodiscard]] bool is_late(TensorId tensor, const SplitOps& run, const std::vector<bool>& early) const {
    const std::optional<std::size_t>& shape = shapes_[tensor.index()];
    return shape && *shape >= run.begin && *shape < run.end && !early[*shape - run.begin];
  }

  // -------------------------------------------------------------------------------------------------------------- ops
  void emit_op(std::size_t k, std::size_t backend) {
    Op& op = editor_.op(OpId(k));
    for (std::optional<TensorId>& input : op.inputs) {
      if (input) input = replaced(k, *input);
    }
    for (Workspace& workspace : op.workspaces) workspace.memory = MemoryId(backend);
    // A shape that comes earlier than it did may have nothing to wait for any more; it never orders anything.
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
    // The read may be in a later split, and the op without a task that names what it reads is not there yet then.
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
    const TensorId to = editor_.copy(from, copy);
    replace_reads(crossing, to);

    const Op& reader = graph_.ops()[crossing.reads.front().op];
    Op op{.name = fmt::format("copy {}", copy.name),
          .kind = "COPY",
          .inputs = {from},
          .outputs = {to},
          .stream = reader.stream};
    if (graph_.stream_count() > 1) op.after = writers_before(crossing);
    copies_.push_back({OpId(order_.size()), from, to, crossing.bytes.length()});
    op_backends_.push_back(crossing.target);
    order_.push_back(editor_.append(std::move(op)));
    return Done{};
  }

  /// Whether ops may read it by now. Tasks are in their order, so that this is a question only of what an op without a
  /// task names.
  [[nodiscard]] bool is_named(TensorId tensor) const {
    const std::optional<std::size_t>& shape = shapes_[tensor.index()];
    return !shape || emitted_[*shape];
  }

  /// A view, at home, of what several tensors cover together, or one that has no name yet.
  TensorId add_part(const Crossing& crossing) {
    const TensorId base = base_of(crossing);
    const Bytes offset = crossing.bytes.lower - model_.families.offsets[base.index()];
    return editor_.copy(base, Tensor{.name = fmt::format("{} [{}, {})", graph_.tensor(base).name, offset.value(),
                                                         (offset + crossing.bytes.length()).value()),
                                     .size = crossing.bytes.length(),
                                     .memory = MemoryId(homes_[crossing.family]),
                                     .view_of = ViewOf{base, offset}});
  }

  /// A tensor that has these bytes and can be read by now; the crossing's root may itself be what an op without a task
  /// names.
  [[nodiscard]] TensorId base_of(const Crossing& crossing) const {
    const std::vector<TensorId>& roots = model_.families.list[crossing.family].roots;
    const auto serves = [&](TensorId root) {
      return is_named(root) && ByteRange{model_.families.offsets[root.index()], end(root)}.contains(crossing.bytes);
    };
    if (serves(crossing.root)) return crossing.root;
    const auto other = std::find_if(roots.begin(), roots.end(), serves);
    return other != roots.end() ? *other : crossing.root;
  }

  /// From now on the readers find the copy, or their parts of it as views.
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

  /// Of any of its bytes. On several streams the order of ops alone does not bring the copy behind them.
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
  std::vector<std::optional<std::size_t>> shapes_;      ///< By original tensor: the op without a task that names it.
  std::vector<bool> emitted_;                           ///< By original op.
  std::vector<std::size_t> written_in_;                 ///< By family: where the run that wrote it last begins.
  std::vector<OpId> order_;                             ///< Of the result, by ids of the editor.
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
