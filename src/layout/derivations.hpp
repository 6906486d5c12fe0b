#pragma once

#include <map>
#include <vector>

#include "layout/stages.hpp"

namespace stowage::layout {

/// Bytes of one class that become bytes of another, because a packed op copies nothing.
struct Derivation {
  OpId op;
  ClassId source;  ///< The part of a concat, the whole of a split.
  ClassId made;
  ByteRange bytes;  ///< Of the source, counted from its lowest byte.
  Bytes shift;      ///< From an offset in the source to that of the same byte in `made`.
};

/// The derivations of a graph, and whether one more of them would let a later write destroy a value.
///
/// If the source of a packed op, or something that the source was itself derived from, is written again (a variable
/// that is assigned, an output that refers to an input), then the bytes of all that was derived from it change too.
/// That is harmless only if nobody needs these by then. What a packed op makes must not be written again at all; this
/// is checked elsewhere.
class Derivations {
 public:
  /// `input` must outlive it.
  explicit Derivations(const StorageInput& input) : input_(input), writes_(input.classes.size()) {}

  void add(const Derivation& derivation);
  /// Whether, after this derivation too, a write would destroy bytes that are still needed.
  [[nodiscard]] bool would_lose(const Derivation& derivation);

 private:
  struct Write {
    OpId op;
    ByteRange bytes;  ///< Of the class.
  };
  /// A class with some of the bytes in question.
  struct Relative {
    ClassId id;
    ByteRange bytes;  ///< Of the class.
    Bytes shift;      ///< From an offset in the source of the derivation in question.
    OpId op;          ///< Of something that is derived from: the op that does so.
  };

  void collect_writes();
  [[nodiscard]] std::vector<Relative> sources_of(const Derivation& derivation) const;
  [[nodiscard]] std::vector<Relative> made_of(const Derivation& derivation) const;
  [[nodiscard]] bool is_lost(const Relative& written, const Relative& needed) const;
  [[nodiscard]] bool is_needed_after(const Relative& written, ClassId needed, OpId write) const;

  const StorageInput& input_;
  std::map<ClassId, std::vector<Derivation>> by_source_;
  std::map<ClassId, std::vector<Derivation>> by_made_;
  ByClass<std::vector<Write>> writes_;  ///< By task ops.
  bool collected_ = false;
  bool any_rewritten_ = false;  ///< Whether some class may be written after somebody has read it.
};

}  // namespace stowage::layout
