#include "alloc/partition/model.hpp"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace stowage::partitioning {
namespace {

Error fault(ErrorCode code, std::string message, std::string path = {}) {
  return Error{code, std::move(message), {.file = {}, .line = {}, .path = std::move(path)}};
}

std::string name_op(const Graph& graph, std::size_t op) {
  return fmt::format("{} of kind {}", describe(graph.ops()[op], OpId(op)), graph.ops()[op].kind);
}

}  // namespace

Status check_names(const Graph& graph, std::span<const Backend> backends, const PartitionOptions& options) {
  if (backends.empty()) return fault(ErrorCode::invalid, "there is no backend");
  if (options.input_sets == 0) return fault(ErrorCode::invalid, "at least one input set is needed");
  const auto unknown = [&](const char* list, std::size_t i, const char* what, std::size_t index) {
    return fault(ErrorCode::invalid, fmt::format("{} {} does not exist", what, index), fmt::format("{}[{}]", list, i));
  };
  for (std::size_t i = 0; i < backends.size(); ++i) {
    if (backends[i].memory == nullptr)
      return fault(ErrorCode::invalid, fmt::format("backend '{}' has no memory", backends[i].name));
    for (const std::size_t other : backends[i].uses) {
      if (other >= backends.size()) return unknown("backends", i, "backend", other);
    }
  }
  for (std::size_t i = 0; i < options.pins.size(); ++i) {
    if (options.pins[i].backend >= backends.size()) return unknown("pins", i, "backend", options.pins[i].backend);
    if (options.pins[i].op.index() >= graph.ops().size()) return unknown("pins", i, "op", options.pins[i].op.index());
  }
  for (std::size_t i = 0; i < options.homes.size(); ++i) {
    if (options.homes[i].backend >= backends.size()) return unknown("homes", i, "backend", options.homes[i].backend);
    if (options.homes[i].tensor.index() >= graph.tensors().size())
      return unknown("homes", i, "tensor", options.homes[i].tensor.index());
  }
  return Done{};
}

namespace {

class ModelBuilder {
 public:
  ModelBuilder(const Graph& graph, std::span<const Backend> backends, const PartitionOptions& options)
      : graph_(graph), backends_(backends), options_(options) {
    model_.graph = &graph;
    model_.backends = backends.size();
    model_.families = find_families(graph);
  }

  Result<Model> build() {
    add_uses();
    STOWAGE_TRY_STATUS(add_homes());
    STOWAGE_TRY_STATUS(ask_support());
    add_groups();
    for (OpGroup& group : model_.groups) STOWAGE_TRY_STATUS(find_allowed(group));
    STOWAGE_TRY_STATUS(apply_pins());
    return std::move(model_);
  }

 private:
  /// Backends with the same buffer type share one memory: a backend that can use it through one of them can use it
  /// through all. So nothing is copied within a memory, and a value is copied to each memory once.
  void add_uses() {
    for (std::size_t b = 0; b < backends_.size(); ++b) {
      model_.types.push_back(backends_[b].memory);
      model_.uses.emplace_back(backends_.size(), false);
      use_all_of_type(b, backends_[b].memory);
      for (const std::size_t other : backends_[b].uses) use_all_of_type(b, backends_[other].memory);
    }
  }

  void use_all_of_type(std::size_t backend, const BufferType* type) {
    for (std::size_t other = 0; other < backends_.size(); ++other) {
      if (backends_[other].memory == type) model_.uses[backend][other] = true;
    }
  }

  Status add_homes() {
    model_.homes.resize(model_.families.list.size());
    for (const TensorHome& home : options_.homes) {
      std::optional<std::size_t>& known = model_.homes[model_.families.of_tensor[home.tensor.index()]];
      if (known && *known != home.backend) {
        return fault(ErrorCode::invalid,
                     fmt::format("{} and the tensors that share its memory have two homes, '{}' and '{}'",
                                 describe(graph_.tensor(home.tensor), home.tensor), backends_[*known].name,
                                 backends_[home.backend].name));
      }
      known = home.backend;
    }
    return Done{};
  }

  Status ask_support() {
    supports_.resize(graph_.ops().size());
    for (std::size_t op = 0; op < graph_.ops().size(); ++op) {
      if (graph_.ops()[op].no_task) continue;
      model_.task_ops.push_back(op);
      for (const Backend& backend : backends_)
        supports_[op].push_back(!backend.supports || backend.supports(graph_, OpId(op)));
      if (std::find(supports_[op].begin(), supports_[op].end(), true) == supports_[op].end()) {
        return fault(ErrorCode::unsupported, fmt::format("no backend supports {}", name_op(graph_, op)),
                     fmt::format("ops[{}]", op));
      }
    }
    return Done{};
  }

  /// Union-find over ops: all writers of a family are in one group.
  void add_groups() {
    std::vector<std::size_t> parent(graph_.ops().size());
    std::iota(parent.begin(), parent.end(), std::size_t{0});
    const auto find = [&](std::size_t op) {
      while (parent[op] != op) op = parent[op] = parent[parent[op]];
      return op;
    };
    for (const Family& family : model_.families.list) {
      std::optional<std::size_t> writer;
      for (const Access& access : family.accesses) {
        if (!access.write) continue;
        const std::size_t mine = find(access.op);
        const std::size_t theirs = find(writer.value_or(access.op));
        writer = std::min(mine, theirs);
        parent[std::max(mine, theirs)] = *writer;
      }
    }
    model_.group_of_op.resize(graph_.ops().size());
    for (const std::size_t op : model_.task_ops) {
      std::optional<std::size_t>& number = model_.group_of_op[find(op)];
      if (!number) {
        number = model_.groups.size();
        model_.groups.emplace_back();
      }
      model_.group_of_op[op] = number;
      add_to(model_.groups[*number], op);
    }
  }

  void add_to(OpGroup& group, std::size_t op) {
    group.ops.push_back(op);
    for (const std::size_t family : model_.families.of_op[op]) {
      if (std::find(group.families.begin(), group.families.end(), family) == group.families.end())
        group.families.push_back(family);
    }
  }

  Status find_allowed(OpGroup& group) {
    group.allowed.assign(backends_.size(), true);
    for (const std::size_t op : group.ops) {
      for (std::size_t b = 0; b < backends_.size(); ++b) {
        if (!supports_[op][b] || !reaches_homes(b, op)) group.allowed[b] = false;
      }
    }
    if (std::find(group.allowed.begin(), group.allowed.end(), true) != group.allowed.end()) return Done{};
    return refuse(group);
  }

  /// Whether the backend can write all outputs of the op that have a home.
  [[nodiscard]] bool reaches_homes(std::size_t backend, std::size_t op) const {
    return std::all_of(graph_.ops()[op].outputs.begin(), graph_.ops()[op].outputs.end(), [&](TensorId output) {
      const std::optional<std::size_t>& home = model_.homes[model_.families.of_tensor[output.index()]];
      return !home || model_.uses[backend][*home];
    });
  }

  [[nodiscard]] Error refuse(const OpGroup& group) const {
    const std::size_t op = group.ops.front();
    std::string message =
        fmt::format("no backend both supports {} and can use the memory that it writes", name_op(graph_, op));
    if (group.ops.size() > 1) {
      const std::size_t other = group.ops.back();
      message = fmt::format(
          "{} and {} write the same memory ({} ops do), and no backend both supports all of these and can use that "
          "memory",
          name_op(graph_, op), name_op(graph_, other), group.ops.size());
    }
    return fault(ErrorCode::unsupported, std::move(message), fmt::format("ops[{}]", op));
  }

  Status apply_pins() {
    for (const OpPin& pin : options_.pins) {
      const std::optional<std::size_t>& number = model_.group_of_op[pin.op.index()];
      if (!number) continue;
      OpGroup& group = model_.groups[*number];
      if (!group.allowed[pin.backend]) return refuse(pin, group);
      std::fill(group.allowed.begin(), group.allowed.end(), false);
      group.allowed[pin.backend] = true;
      group.pinned = true;
    }
    return Done{};
  }

  [[nodiscard]] Error refuse(const OpPin& pin, const OpGroup& group) const {
    const std::string& name = backends_[pin.backend].name;
    const std::size_t op = pin.op.index();
    const std::string path = fmt::format("ops[{}]", op);
    if (!supports_[op][pin.backend]) {
      return fault(ErrorCode::unsupported,
                   fmt::format("{} is pinned to '{}', which does not support it", name_op(graph_, op), name), path);
    }
    const char* why = group.pinned
                          ? "an op that writes the same memory is pinned elsewhere"
                          : "an op that writes the same memory cannot run there, or that memory cannot be used there";
    return fault(ErrorCode::unsupported, fmt::format("{} is pinned to '{}', but {}", name_op(graph_, op), name, why),
                 path);
  }

  const Graph& graph_;
  std::span<const Backend> backends_;
  const PartitionOptions& options_;
  std::vector<std::vector<bool>> supports_;  ///< By op, by backend.
  Model model_ = {};
};

}  // namespace

Result<Model> make_model(const Graph& graph, std::span<const Backend> backends, const PartitionOptions& options) {
  STOWAGE_TRY_STATUS(check_names(graph, backends, options));
  return ModelBuilder(graph, backends, options).build();
}

std::size_t home_of(const Model& model, std::size_t family, const Assignment& assignment) {
  if (const std::optional<std::size_t>& given = model.homes[family]) return *given;
  const Family& members = model.families.list[family];
  if (members.first_write) return backend_of(model, *members.first_write, assignment);
  const bool from_caller = members.flags.has(TensorFlag::input) && !members.flags.any_of(kOwnAddress);
  if (from_caller || members.accesses.empty()) return model.backends - 1;
  return backend_of(model, members.accesses.front().op, assignment);
}

}  // namespace stowage::partitioning
