#include "alloc/partition/traffic.hpp"

#include <algorithm>

namespace stowage::partitioning {
namespace {

Bytes align_down(Bytes value, Bytes alignment) { return Bytes(value.value() & ~(alignment.value() - 1)); }

class Walk {
 public:
  Walk(const Model& model, std::size_t family, const Assignment& assignment)
      : model_(model),
        number_(family),
        family_(model.families.list[family]),
        assignment_(assignment),
        home_(home_of(model, family, assignment)) {}

  std::vector<Crossing> run() {
    for (std::size_t i = 0; i < family_.accesses.size(); ++i) {
      const Access& access = family_.accesses[i];
      if (access.write) {
        forget(access.bytes);
      } else if (const std::size_t reader = backend_of(model_, access.op, assignment_); !model_.uses[reader][home_]) {
        read(i, reader);
      }
    }
    return std::move(crossings_);
  }

 private:
  void read(std::size_t index, std::size_t reader) {
    const Access& access = family_.accesses[index];
    for (const std::size_t i : valid_) {
      if (!model_.uses[reader][crossings_[i].target] || !holds(crossings_[i], access)) continue;
      crossings_[i].reads.push_back(access);
      return;
    }
    valid_.push_back(crossings_.size());
    crossings_.push_back(crossing_for(index, reader));
  }

  [[nodiscard]] bool holds(const Crossing& crossing, const Access& access) const {
    // A tensor of size 0 has no bytes to copy, but its copy carries the order of ops: only a copy of that very tensor
    // comes after its writer.
    if (is_empty(access.bytes) || is_empty(crossing.bytes)) return crossing.reads.front().tensor == access.tensor;
    return crossing.bytes.contains(access.bytes) && alignment(access) <= crossing.alignment &&
           is_aligned(access.bytes.lower - crossing.bytes.lower, alignment(access));
  }

  /// Includes the bytes of later reads that overlap, unless they were written in between.
  [[nodiscard]] Crossing crossing_for(std::size_t index, std::size_t reader) const {
    const Access& first = family_.accesses[index];
    Crossing crossing{number_, reader, root(first), first.bytes, alignment(first), {first}};
    if (!family_.several_read) return crossing;
    std::vector<ByteRange> written;
    for (std::size_t i = index + 1; i < family_.accesses.size(); ++i) {
      const Access& later = family_.accesses[i];
      if (later.write) {
        if (later.bytes.overlaps(crossing.bytes)) break;
        written.push_back(later.bytes);
      } else if (const std::vector<bool>& uses = model_.uses[backend_of(model_, later.op, assignment_)];
                 uses[reader] && !uses[home_]) {
        join(crossing, later, written);
      }
    }
    return crossing;
  }

  void join(Crossing& crossing, const Access& later, const std::vector<ByteRange>& written) const {
    if (root(later) != crossing.root || !later.bytes.overlaps(crossing.bytes)) return;
    const Bytes alignment = std::max(crossing.alignment, this->alignment(later));
    const Bytes base = model_.families.offsets[crossing.root.index()];
    const Bytes lower = std::min(crossing.bytes.lower, later.bytes.lower);
    const ByteRange both{base + align_down(lower - base, alignment), std::max(crossing.bytes.upper, later.bytes.upper)};
    // Separate copies are smaller, because alignment would add bytes that nobody reads.
    if (both.length() > crossing.bytes.length() + later.bytes.length()) return;
    if (std::any_of(written.begin(), written.end(), [&](ByteRange range) { return range.overlaps(both); })) return;
    crossing.bytes = both;
    crossing.alignment = alignment;
  }

  void forget(ByteRange written) {
    std::erase_if(valid_, [&](std::size_t i) {
      const ByteRange bytes = crossings_[i].bytes;
      return bytes.overlaps(written) || (is_empty(bytes) && bytes == written);
    });
  }
  [[nodiscard]] static bool is_empty(ByteRange bytes) { return bytes.length() == Bytes(0); }

  [[nodiscard]] TensorId root(const Access& access) const { return model_.graph->root(access.tensor).tensor; }
  [[nodiscard]] Bytes alignment(const Access& access) const {
    return model_.graph->tensor(access.tensor).alignment.value_or(Bytes(1));
  }

  const Model& model_;
  std::size_t number_;
  const Family& family_;
  const Assignment& assignment_;
  std::size_t home_;
  std::vector<Crossing> crossings_;
  std::vector<std::size_t> valid_;  ///< Indices of those that hold the current bytes.
};

}  // namespace

std::vector<Crossing> crossings_of(const Model& model, std::size_t family, const Assignment& assignment) {
  return Walk(model, family, assignment).run();
}

Bytes traffic_of(const Model& model, std::size_t family, const Assignment& assignment) {
  Bytes sum;
  for (const Crossing& crossing : crossings_of(model, family, assignment)) sum += crossing.bytes.length();
  return sum;
}

bool traffic_is_countable(const Model& model) {
  Bytes left = kMaxBytes;
  for (const Family& family : model.families.list) {
    const auto accesses = static_cast<std::int64_t>(family.accesses.size());
    if (accesses == 0) continue;
    if (family.size.value() > left.value() / accesses) return false;
    left -= Bytes(family.size.value() * accesses);
  }
  return true;
}

}  // namespace stowage::partitioning
