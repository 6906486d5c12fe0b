#include "alloc/partition/assign.hpp"

#include <algorithm>
#include <optional>

namespace stowage::partitioning {
namespace {

enum class Spread : std::uint8_t { preferred, all };

class Passes {
 public:
  explicit Passes(const Model& model) : model_(model), chosen_(model.groups.size()) {}

  Assignment run() {
    place_given();
    for (const Spread spread : {Spread::preferred, Spread::all}) {
      expand(spread, model_.task_ops.begin(), model_.task_ops.end());
      expand(spread, model_.task_ops.rbegin(), model_.task_ops.rend());
    }
    for (std::size_t group = 0; group < chosen_.size(); ++group) {
      if (!chosen_[group]) chosen_[group] = most_inputs(group);
    }
    Assignment assignment;
    for (const std::optional<std::size_t>& backend : chosen_) assignment.push_back(*backend);
    upgrade(assignment);
    return assignment;
  }

 private:
  void place_given() {
    for (std::size_t group = 0; group < chosen_.size(); ++group) {
      const OpGroup& ops = model_.groups[group];
      if (ops.pinned || writes_home(ops) || has_no_choice(ops)) {
        chosen_[group] = first_allowed(ops, [](std::size_t) { return true; });
      } else if (const std::optional<std::size_t> home = home_of_weight(ops)) {
        chosen_[group] = first_allowed(ops, [&](std::size_t b) { return static_cast<bool>(model_.uses[b][*home]); });
      }
    }
  }

  /// Only one backend is allowed, and it is not the fallback. Groups that only the fallback can run are left open, so
  /// that the ops after them can still take the backend of the ops before them.
  [[nodiscard]] bool has_no_choice(const OpGroup& group) const {
    return std::count(group.allowed.begin(), group.allowed.end(), true) == 1 && !group.allowed.back();
  }

  [[nodiscard]] bool writes_home(const OpGroup& group) const {
    return std::any_of(group.ops.begin(), group.ops.end(), [&](std::size_t op) {
      const std::vector<TensorId>& outputs = model_.graph->ops()[op].outputs;
      return std::any_of(outputs.begin(), outputs.end(), [&](TensorId output) {
        return model_.homes[model_.families.of_tensor[output.index()]].has_value();
      });
    });
  }

  /// The home of the largest constant, variable or external tensor with a home that the ops read.
  [[nodiscard]] std::optional<std::size_t> home_of_weight(const OpGroup& group) const {
    std::optional<std::size_t> home;
    Bytes largest(-1);
    for (const std::size_t op : group.ops) {
      for (const std::optional<TensorId>& input : model_.graph->ops()[op].inputs) {
        if (!input) continue;
        const std::size_t family = model_.families.of_tensor[input->index()];
        const Bytes size = model_.graph->tensor(*input).size;
        if (!model_.homes[family] || !model_.families.list[family].flags.any_of(kOwnAddress) || size <= largest)
          continue;
        home = model_.homes[family];
        largest = size;
      }
    }
    return home;
  }

  template <class Accept>
  [[nodiscard]] std::optional<std::size_t> first_allowed(const OpGroup& group, Accept&& accept) const {
    for (std::size_t b = 0; b < model_.backends; ++b) {
      if (group.allowed[b] && accept(b)) return b;
    }
    return std::nullopt;
  }

  template <class Iterator>
  void expand(Spread spread, Iterator op, Iterator end) {
    std::optional<std::size_t> current;
    for (; op != end; ++op) {
      const std::size_t group = *model_.group_of_op[*op];
      std::optional<std::size_t>& backend = chosen_[group];
      if (backend) {
        const bool fallback = *backend == model_.backends - 1;
        current = spread == Spread::preferred && fallback ? std::nullopt : backend;
      } else if (current && model_.groups[group].allowed[*current]) {
        backend = current;
      }
    }
  }

  [[nodiscard]] std::size_t most_inputs(std::size_t group) const {
    std::size_t best = model_.backends;
    std::size_t best_count = 0;
    for (std::size_t b = 0; b < model_.backends; ++b) {
      if (!model_.groups[group].allowed[b]) continue;
      const std::size_t count = count_usable(group, b);
      if (best < model_.backends && count <= best_count) continue;
      best = b;
      best_count = count;
    }
    return best;
  }

  /// How many families of the group live, as far as is known, in memory that `backend` can use.
  [[nodiscard]] std::size_t count_usable(std::size_t group, std::size_t backend) const {
    std::size_t count = 0;
    for (const std::size_t family : model_.groups[group].families) {
      const std::optional<std::size_t> home = known_home(family);
      if (home && model_.uses[backend][*home]) ++count;
    }
    return count;
  }

  [[nodiscard]] std::optional<std::size_t> known_home(std::size_t family) const {
    if (model_.homes[family]) return model_.homes[family];
    const Family& members = model_.families.list[family];
    if (members.first_write) return chosen_[*model_.group_of_op[*members.first_write]];
    return members.flags.has(TensorFlag::input) ? std::optional(model_.backends - 1) : std::nullopt;
  }

  void upgrade(Assignment& assignment) const {
    for (std::size_t group = 0; group < assignment.size(); ++group) {
      const OpGroup& ops = model_.groups[group];
      const std::size_t now = assignment[group];
      const std::optional<std::size_t> better = first_allowed(ops, [&](std::size_t b) {
        return b < now && model_.types[b] == model_.types[now] &&
               std::all_of(
                   ops.families.begin(), ops.families.end(),
                   [&](std::size_t family) { return model_.uses[b][home_of(model_, family, assignment)]; });
      });
      if (better) assignment[group] = *better;
    }
  }

  const Model& model_;
  std::vector<std::optional<std::size_t>> chosen_;  ///< By group.
};

}  // namespace

Assignment assign(const Model& model) { return Passes(model).run(); }

}  // namespace stowage::partitioning
