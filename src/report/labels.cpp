#include "report/labels.hpp"

#include <algorithm>
#include <tuple>

#include <fmt/format.h>

namespace stowage::report {
namespace {

constexpr std::string_view kSeparators = "-._/: ()";

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_separator(char c) { return kSeparators.find(c) != std::string_view::npos; }

/// The tensor of a class that the others are views of; the first of several.
TensorId face_of(const Scene& scene, ClassId id) {
  const std::vector<TensorId>& tensors = scene.tensors(id);
  const auto is_root = [&](TensorId each) { return !scene.graph().tensor(each).view_of; };
  const auto root = std::find_if(tensors.begin(), tensors.end(), is_root);
  return root == tensors.end() ? tensors.front() : *root;
}

/// The number of classes of a rigid storage with other bytes than the tensor's.
std::size_t count_beside(const Scene& scene, const Storage& storage, TensorId tensor) {
  if (!storage.rigid) return 0;
  const auto range = [&](ClassId id) {
    const Bytes offset = scene.layout().positions[id].offset;
    return ByteRange{offset, offset + scene.layout().classes[id].size};
  };
  const ByteRange own = range(scene.layout().class_of(tensor));
  return static_cast<std::size_t>(std::count_if(storage.classes.begin(), storage.classes.end(), [&](ClassId id) {
    return !range(id).empty() && !range(id).overlaps(own);
  }));
}

void name_workspace(const Scene& scene, WorkspaceId ref, Holder& holder) {
  const Op& op = scene.graph().op(ref.op);
  holder.name = fmt::format("{} (workspace {})", name_of(scene.graph(), ref.op), ref.index);
  holder.kind = op.kind;
  holder.scope = layer_of(op);
  holder.family = fmt::format("{} (workspace)", family_of(op.name));
  holder.workspace = ref;
}

void name_storage(const Scene& scene, const PlacedItem& item, Holder& holder) {
  const Storage& storage = scene.layout().storage(std::get<StorageId>(item.occupant));
  for (const ClassId id : storage.classes) {
    for (const TensorId tensor : scene.tensors(id)) holder.tensors.push_back(tensor);
  }
  std::sort(holder.tensors.begin(), holder.tensors.end());
  const std::optional<TensorId> tensor = naming_tensor(scene, item);
  if (!tensor) {
    holder.name = holder.family = "(copies)";
    return;
  }
  holder.name = name_of(scene.graph(), *tensor);
  holder.beside = count_beside(scene, storage, *tensor);
  holder.kind = kind_of(scene, *tensor);
  holder.scope = layer_of(scene.graph(), *tensor, scene.producer(*tensor));
  holder.family = family_of(holder.name);
}

}  // namespace

std::string scope_of(std::string_view name) {
  if (const std::size_t cut = name.find_last_of("/."); cut != std::string_view::npos && cut > 0)
    return std::string(name.substr(0, cut));
  // ggml: "ffn_gate-3", "Kcur-3 (view)". The number is that of the layer.
  const std::string_view word = name.substr(0, name.find(' '));
  const std::size_t dash = word.rfind('-');
  if (dash == std::string_view::npos || dash + 1 == word.size()) return {};
  const std::string_view number = word.substr(dash + 1);
  return std::all_of(number.begin(), number.end(), is_digit) ? fmt::format("*-{}", number) : std::string();
}

std::string family_of(std::string_view name) {
  std::string family;
  for (std::size_t i = 0; i < name.size();) {
    std::size_t end = i;
    while (end < name.size() && is_digit(name[end])) ++end;
    const bool starts = i == 0 || is_separator(name[i - 1]);
    const bool ends = end == name.size() || is_separator(name[end]);
    if (end > i && starts && ends) {
      family += '*';
    } else {
      end = std::max(end, i + 1);
      family += name.substr(i, end - i);
    }
    i = end;
  }
  return family;
}

std::string kind_of(const Scene& scene, TensorId id) {
  if (const std::optional<OpId> op = scene.producer(id)) return scene.graph().op(*op).kind;
  if (scene.graph().tensor(id).flags.has(TensorFlag::input)) return "input";
  for (const TensorId each : scene.tensors(scene.layout().class_of(id))) {
    if (const std::optional<OpId> op = scene.producer(each)) return scene.graph().op(*op).kind;
  }
  return {};
}

std::string layer_of(const Op& op) { return op.layer.empty() ? scope_of(op.name) : op.layer; }

std::string layer_of(const Graph& graph, TensorId id, std::optional<OpId> producer) {
  if (producer && !graph.op(*producer).layer.empty()) return graph.op(*producer).layer;
  return scope_of(graph.tensor(id).name);
}

std::optional<TensorId> naming_tensor(const Scene& scene, const PlacedItem& item) {
  const auto* const id = std::get_if<StorageId>(&item.occupant);
  if (!id) return std::nullopt;
  const auto rank = [&](ClassId each) {
    const auto needed = scene.liveness().lives[each].needed();
    const bool lives = !needed.empty();
    return std::tuple(lives ? -scene.layout().footprint(each).value() : 0, lives ? needed.front().lower : Step(0),
                      each);
  };
  std::optional<ClassId> best;
  for (const ClassId each : scene.layout().storage(*id).classes) {
    if (!scene.tensors(each).empty() && (!best || rank(each) < rank(*best))) best = each;
  }
  return best ? std::optional(face_of(scene, *best)) : std::nullopt;
}

Holder holder_of(const Scene& scene, const PlacedItem& item) {
  Holder holder{.name = {},
                .kind = {},
                .scope = {},
                .family = {},
                .bytes = {},
                .life = item.life,
                .offset = item.offset,
                .tensors = {}};
  if (const auto* const workspace = std::get_if<WorkspaceId>(&item.occupant)) {
    name_workspace(scene, *workspace, holder);
  } else {
    name_storage(scene, item, holder);
  }
  return holder;
}

std::string name_of(const Graph& graph, TensorId id) {
  const std::string& name = graph.tensor(id).name;
  return name.empty() ? fmt::format("tensor {}", local_number(graph, id)) : name;
}

std::string name_of(const Graph& graph, OpId id) {
  const std::string& name = graph.op(id).name;
  return name.empty() ? fmt::format("op {}", local_number(graph, id)) : name;
}

std::size_t local_number(const Graph& graph, TensorId id) {
  return id.index() - graph.scope(graph.scope_of(id)).first_tensor.index();
}

std::size_t local_number(const Graph& graph, OpId id) {
  return id.index() - graph.scope(graph.scope_of(id)).first_op.index();
}

std::optional<OpId> op_at(const Scene& scene, Step step) {
  const std::vector<Moment>& moments = scene.liveness().timeline.moments;
  const auto at = static_cast<std::size_t>(step.value());
  if (at >= moments.size() || moments[at].kind == Moment::Kind::start) return std::nullopt;
  return moments[at].op;
}

}  // namespace stowage::report
