#include "verify/state.hpp"

#include <algorithm>
#include <optional>
#include <unordered_set>
#include <utility>

namespace stowage::verification {
namespace {

struct Stretch {
  std::size_t cell;
  ByteRange bytes;

  friend bool operator<(const Stretch& a, const Stretch& b) {
    return std::pair(a.cell, a.bytes.lower) < std::pair(b.cell, b.bytes.lower);
  }
};

/// Sorts the stretches, and merges adjacent and overlapping ones.
std::vector<Stretch> merge(std::vector<Stretch> stretches) {
  std::sort(stretches.begin(), stretches.end());
  std::vector<Stretch> merged;
  for (const Stretch& stretch : stretches) {
    if (!merged.empty() && merged.back().cell == stretch.cell && merged.back().bytes.upper >= stretch.bytes.lower) {
      merged.back().bytes.upper = std::max(merged.back().bytes.upper, stretch.bytes.upper);
    } else {
      merged.push_back(stretch);
    }
  }
  return merged;
}

/// The pieces of a path, for look-ups in ascending order.
class PieceReader {
 public:
  explicit PieceReader(const Delta& delta) : pieces_(delta.pieces) {}

  /// The piece at `at`, or null if the path changed nothing there. Lowers `end` to the end of the range for which the
  /// answer holds.
  const Delta::Piece* find(std::size_t cell, Bytes at, Bytes& end) {
    while (next_ < pieces_.size() && std::pair(pieces_[next_].cell, pieces_[next_].bytes.upper) <= std::pair(cell, at))
      ++next_;
    if (next_ == pieces_.size() || pieces_[next_].cell != cell) return nullptr;
    const Delta::Piece& piece = pieces_[next_];
    end = std::min(end, piece.bytes.lower <= at ? piece.bytes.upper : piece.bytes.lower);
    return piece.bytes.lower <= at ? &piece : nullptr;
  }

 private:
  const std::vector<Delta::Piece>& pieces_;
  std::size_t next_ = 0;
};

}  // namespace

State::State(const Claims& claims, const Order& order, const Provenance& provenance, std::size_t cells)
    : claims_(claims),
      order_(order),
      provenance_(provenance),
      contents_(cells),
      holders_(claims.holders()),
      clean_(claims.holders()),
      saved_in_(claims.holders()) {}

void State::assign(std::size_t cell, ByteRange range, ContentId content) {
  if (frames_.empty()) {
    contents_[cell].visit(range, [&](ByteRange, ContentId old) { spoil(old); });
  } else {
    visit(cell, range, [&](ByteRange bytes, ContentId old) {
      spoil(old);
      frames_.back().overwritten.push_back({cell, bytes, old});
    });
  }
  contents_[cell].assign(range, content);
}

/// Marks the holders of overwritten content as not clean.
void State::spoil(ContentId content) {
  if (is_contested(content)) return;
  for_each_claim(content, [&](ClaimId claim) {
    if (claim != kNobody) clean_[claims_[claim].holder] = 0;
  });
}

void State::save(HolderId holder) {
  if (frames_.empty() || saved_in_[holder] == frames_.back().serial) return;
  saved_in_[holder] = frames_.back().serial;
  frames_.back().holders.emplace_back(holder, holders_[holder]);
}

void State::begin(HolderId holder) {
  save(holder);
  holders_[holder].begun = true;
}

void State::forget(HolderId holder) {
  save(holder);
  holders_[holder] = {};
  clean_[holder] = 0;
  rewrites_.forget(holder);
}

bool State::touch(HolderId holder, Moment moment) {
  save(holder);
  return put(holders_[holder].accesses, {moment, claims_.first(holder)});
}

void State::add_floor(HolderId holder, Access access) {
  save(holder);
  put(holders_[holder].floors, access);
}

/// Returns whether the list had no access on that stream and in that scope.
bool State::put(std::vector<Access>& list, Access access) const {
  const Moment moment = access.moment;
  for (Access& known : list) {
    const std::uint32_t op = known.moment.op;
    if (order_.stream(op) != order_.stream(moment.op) || order_.scope(op) != order_.scope(moment.op)) continue;
    if (std::pair(op, known.moment.phase) < std::pair(moment.op, moment.phase)) known = access;
    return false;
  }
  list.push_back(access);
  return true;
}

void State::enter() {
  frames_.push_back({next_serial_++, {}, {}});
  rewrites_.enter();
}

void State::fold(std::uint32_t scope, Moment moment) {
  for (const auto& [holder, before] : frames_.back().holders) {
    for (std::vector<Access>* list : {&holders_[holder].accesses, &holders_[holder].floors}) {
      std::optional<ClaimId> folded;
      std::erase_if(*list, [&](const Access& each) {
        const bool inside = order_.is_within(each.moment.op, scope);
        if (inside) folded = each.claim;
        return inside;
      });
      if (folded) put(*list, {moment, *folded});
    }
  }
}

Delta State::leave() {
  Frame frame = std::move(frames_.back());
  frames_.pop_back();
  Delta delta;
  delta.lost = rewrites_.leave();
  std::vector<Stretch> changed;
  for (const Delta::Piece& piece : frame.overwritten) changed.push_back({piece.cell, piece.bytes});
  for (const Stretch& stretch : merge(std::move(changed))) {
    visit(stretch.cell, stretch.bytes,
          [&](ByteRange bytes, ContentId content) { delta.pieces.push_back({stretch.cell, bytes, content}); });
  }
  for (const Delta::Piece& piece : delta.pieces) spoil(piece.content);
  for (auto piece = frame.overwritten.rbegin(); piece != frame.overwritten.rend(); ++piece) {
    contents_[piece->cell].assign(piece->bytes, piece->content);
  }
  for (const auto& [holder, before] : frame.holders) delta.holders.try_emplace(holder, holders_[holder]);
  for (auto saved = frame.holders.rbegin(); saved != frame.holders.rend(); ++saved) {
    holders_[saved->first] = std::move(saved->second);
    clean_[saved->first] = 0;
    saved_in_[saved->first] = 0;
  }
  return delta;
}

void State::join(std::span<const Delta> paths) {
  join_contents(paths);
  join_holders(paths);
  std::vector<const Rewrites::Changes*> lost;
  for (const Delta& path : paths) lost.push_back(&path.lost);
  rewrites_.join(lost);
}

void State::join_contents(std::span<const Delta> paths) {
  std::vector<Stretch> changed;
  std::vector<PieceReader> readers;
  for (const Delta& path : paths) {
    readers.emplace_back(path);
    for (const Delta::Piece& piece : path.pieces) changed.push_back({piece.cell, piece.bytes});
  }
  std::vector<Delta::Piece> result;
  for (const Stretch& stretch : merge(std::move(changed))) {
    visit(stretch.cell, stretch.bytes, [&](ByteRange bytes, ContentId old) {
      for (Bytes at = bytes.lower; at < bytes.upper;) {
        Bytes end = bytes.upper;
        std::vector<ContentId> contents;
        for (PieceReader& reader : readers) {
          const Delta::Piece* const piece = reader.find(stretch.cell, at, end);
          contents.push_back(piece ? piece->content : old);
        }
        result.push_back({stretch.cell, {at, end}, mix(std::move(contents))});
        at = end;
      }
    });
  }
  for (const Delta::Piece& piece : result) assign(piece.cell, piece.bytes, piece.content);
}

ContentId State::mix(std::vector<ContentId> contents) {
  std::sort(contents.begin(), contents.end());
  contents.erase(std::unique(contents.begin(), contents.end()), contents.end());
  if (contents.size() == 1) return contents.front();
  const auto [entry, is_new] =
      mixture_of_.try_emplace(contents, static_cast<ContentId>(claims_.size() + mixtures_.size()));
  if (!is_new) return entry->second;
  Mixture mixture = describe(contents.front());
  bool several = mixture.contested;
  for (const ContentId content : contents) {
    const Mixture each = describe(content);
    several = several || each.contested || each.holder != mixture.holder;
    mixture.stands_alone = mixture.stands_alone && each.stands_alone;
  }
  mixture.contested = several && mixture.stands_alone;
  mixture.of = std::move(contents);
  mixtures_.push_back(std::move(mixture));
  return entry->second;
}

State::Mixture State::describe(ContentId content) const {
  if (content == kNobody) return {{}, kNobody, true, false};
  if (is_mixture(content)) {
    const Mixture& known = mixtures_[content - claims_.size()];
    return {{}, known.holder, known.stands_alone, known.contested};
  }
  const HolderId holder = claims_[content].holder;
  return {{}, holder, provenance_.stands_alone(holder), false};
}

std::vector<ClaimId> State::flatten(ContentId content) const {
  std::vector<ClaimId> claims;
  std::vector<ContentId> pending = {content};
  std::unordered_set<ContentId> seen;
  while (!pending.empty()) {
    const ContentId next = pending.back();
    pending.pop_back();
    if (!seen.insert(next).second) continue;
    if (is_mixture(next)) {
      const std::vector<ContentId>& of = mixtures_[next - claims_.size()].of;
      pending.insert(pending.end(), of.begin(), of.end());
    } else {
      claims.push_back(next);
    }
  }
  std::sort(claims.begin(), claims.end());
  return claims;
}

void State::join_holders(std::span<const Delta> paths) {
  std::map<HolderId, HolderState> joined;
  for (const Delta& path : paths) {
    for (const auto& [holder, state] : path.holders) joined.try_emplace(holder);
  }
  for (auto& [holder, state] : joined) {
    state.begun = true;
    for (const Delta& path : paths) {
      const auto found = path.holders.find(holder);
      const HolderState& end = found == path.holders.end() ? holders_[holder] : found->second;
      state.begun = state.begun && end.begun;
      for (const Access& access : end.accesses) put(state.accesses, access);
      for (const Access& access : end.floors) put(state.floors, access);
    }
    save(holder);
    holders_[holder] = std::move(state);
    clean_[holder] = 0;
  }
}

}  // namespace stowage::verification
