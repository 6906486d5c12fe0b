#pragma once

#include <string_view>

namespace stowage {

/// The reason of the note about the first member of a contiguous group that does not begin where the groups of the
/// other batches do, although `BatchStart::same` was requested. The verifier accepts such a group only with this note.
inline constexpr std::string_view kGroupBeginsElsewhere =
    "its group cannot begin at the same offset as the group of another batch";

}  // namespace stowage
