#include "runtime/plan_ahead/plan_server.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "runtime/misuse.hpp"

namespace stowage::runtime {
namespace {

/// Limit on odd slots, since each allocation checks all of them. A program that keeps more allocations longer than
/// recorded needs a new plan.
constexpr std::size_t kMostOdd = 64;
/// How many slots an allocation may try to settle: enough for the ordinary case, few enough for a hopeless one.
constexpr int kPatience = 64;
/// At least half of this many upcoming slots, and at most all of them, are kept free of guests.
constexpr std::uint32_t kExpected = 128;

}  // namespace

PlanServer::PlanServer(Device& device, IterationPlan plan, std::byte* base, const Options& options)
    : device_(device),
      plan_(std::move(plan)),
      base_(base),
      alignment_(options.alignment),
      checks_(options.checks),
      places_(plan_, options.alignment),
      states_(plan_.slots.size()),
      ordering_(device, plan_.streams),
      uses_(device),
      guests_(plan_) {
  for (std::size_t stream = 0; stream < plan_.streams.size(); ++stream) {
    cursors_.emplace_back(plan_.first_slot[stream], plan_.first_slot[stream + 1], options.cursor);
  }
}

void PlanServer::begin_iteration() {
  if (++iteration_ == 0) {  // the counter wrapped; 0 stands for "never"
    std::fill(states_.begin(), states_.end(), SlotState{});
    iteration_ = 1;
  }
  for (PlanCursor& cursor : cursors_) cursor.restart();
  ordering_.begin_iteration();
  odd_.clear();
  if (guests_.watching() && guests_.empty()) guests_.stop_watching();
  if (live_ == 0) return;
  for (const PlannedPlace& place : places_.places()) {
    if (place.owner != PlaceTable::kNobody) odd_.push_back({place.owner, true});
  }
}

PlanServer::Answer PlanServer::allocate(Bytes size, StreamId stream) {
  const std::optional<std::size_t> index = stream_index(stream);
  if (!index) return {};
  PlanCursor& cursor = cursors_[*index];
  const std::optional<std::uint32_t> slot = cursor.match(plan_.slots, align_up(size, alignment_));
  if (!slot) return shelter(Verdict::deviated, size, {});
  patience_ = kPatience;
  leave_out_up_to(cursor, *slot);
  cursor.move_to(*slot + 1);
  if (!plan_.slots[*slot].planned()) return {Verdict::unplanned, nullptr};
  if (!is_free(*slot) || !put_in_order(*slot)) {
    leave_out(*slot);
    return shelter(Verdict::blocked, size, *slot);
  }
  occupy(*slot, size);
  return {Verdict::served, base_ + plan_.slots[*slot].offset.value()};
}

PlanServer::Answer PlanServer::shelter(Verdict verdict, Bytes size, std::optional<std::uint32_t> slot) {
  if (!ordering_.single()) return {verdict, nullptr};
  if (!guests_.watching()) watch_for_guests();
  expect_slots();
  const Bytes rounded = align_up(size, alignment_);
  const std::optional<Bytes> offset =
      guests_.find_place(rounded, slot ? std::optional(plan_.slots[*slot].offset) : std::nullopt);
  if (!offset) return {verdict, nullptr};
  const ByteRange bytes{*offset, *offset + rounded};
  if (!uses_.none_pending() && !uses_.order(bytes, plan_.streams.front())) return {verdict, nullptr};
  guests_.enter(*offset, rounded, size);
  ++live_;
  return {verdict, base_ + offset->value()};
}

void PlanServer::watch_for_guests() {
  std::vector<ByteRange> live;
  for (const PlannedPlace& place : places_.places()) {
    if (place.owner != PlaceTable::kNobody) live.push_back(plan_.slots[place.owner].bytes());
  }
  guests_.watch(live);
}

void PlanServer::expect_slots() {
  const PlanCursor& cursor = cursors_.front();
  if (expected_from_ != kNothing && cursor.next() >= expected_from_ && cursor.next() < expected_from_ + kExpected / 2)
    return;
  expected_from_ = cursor.next();
  std::vector<ByteRange> soon;
  const auto end = std::min(static_cast<std::uint32_t>(plan_.slots.size()), expected_from_ + kExpected);
  for (std::uint32_t slot = expected_from_; slot < end; ++slot) {
    if (plan_.slots[slot].planned()) soon.push_back(plan_.slots[slot].bytes());
  }
  guests_.expect(std::move(soon));
}

std::optional<std::size_t> PlanServer::stream_index(StreamId stream) {
  if (last_stream_ < plan_.streams.size() && plan_.streams[last_stream_] == stream) return last_stream_;
  const auto found = std::lower_bound(plan_.streams.begin(), plan_.streams.end(), stream);
  if (found == plan_.streams.end() || *found != stream) return std::nullopt;
  return last_stream_ = static_cast<std::size_t>(found - plan_.streams.begin());
}

bool PlanServer::is_free(std::uint32_t slot) {
  for (const std::uint32_t before : plan_.predecessors_of(slot)) {
    if (states_[before].clean != iteration_ && (is_live(before) || !settle(before))) return false;
  }
  if (odd_.empty() && guests_.empty()) return true;
  if (odd_.size() > kMostOdd) return false;
  const ByteRange bytes = plan_.slots[slot].bytes();
  if (guests_.watching() && !guests_.is_free(bytes)) return false;
  return std::none_of(odd_.begin(), odd_.end(), [&](Odd odd) { return plan_.slots[odd.slot].bytes().overlaps(bytes); });
}

bool PlanServer::put_in_order(std::uint32_t slot) {
  const PlannedSlot& planned = plan_.slots[slot];
  if (!uses_.none_pending() && !uses_.order(planned.bytes(), plan_.streams[planned.stream])) return false;
  if (ordering_.single()) return true;
  if (planned.first_user && !ordering_.order_after_last_round(planned.stream)) return false;
  for (const std::uint32_t before : plan_.predecessors_of(slot)) {
    const SlotState& state = states_[before];
    const bool ordered = state.left_out ? ordering_.order_after_all(planned.stream)
                                        : ordering_.order(plan_.slots[before].stream, planned.stream, state.freed);
    if (!ordered) return false;
  }
  return true;
}

void PlanServer::leave_out_up_to(PlanCursor& cursor, std::uint32_t slot) {
  for (std::uint32_t before = cursor.next(); before < slot; ++before) {
    cursor.move_to(before + 1);
    leave_out(before);
  }
}

void PlanServer::leave_out(std::uint32_t slot) {
  if (!plan_.slots[slot].planned() || !settle_predecessors(slot)) return;
  states_[slot].clean = iteration_;
  states_[slot].left_out = true;
}

bool PlanServer::settle_predecessors(std::uint32_t slot) {
  bool settled = true;
  for (const std::uint32_t before : plan_.predecessors_of(slot)) settled = settle(before) && settled;
  return settled;
}

bool PlanServer::settle(std::uint32_t slot) {
  if (states_[slot].clean == iteration_) return true;
  if (!is_passed(slot) && !try_to_pass(slot)) return false;
  if (states_[slot].clean == iteration_) return true;
  const auto odd = std::find_if(odd_.begin(), odd_.end(), [slot](Odd each) { return each.slot == slot; });
  if (is_live(slot) && (odd == odd_.end() || !odd->carried)) {
    if (odd == odd_.end()) odd_.push_back({slot, false});
    return true;
  }
  // It was left out because a predecessor had not been passed; perhaps it has been by now.
  if (--patience_ < 0 || !settle_predecessors(slot)) return false;
  states_[slot].clean = iteration_;
  states_[slot].left_out = true;
  return true;
}

bool PlanServer::try_to_pass(std::uint32_t slot) {
  PlanCursor& cursor = cursors_[plan_.slots[slot].stream];
  if (--patience_ < 0 || !cursor.forgive(slot + 1 - cursor.next())) return false;
  leave_out_up_to(cursor, slot + 1);
  return true;
}

void PlanServer::occupy(std::uint32_t slot, Bytes requested) {
  if (guests_.watching()) guests_.slot_taken(plan_.slots[slot].bytes());  // may throw; nothing after it can
  PlannedPlace& place = places_.of(slot);
  place.owner = slot;
  place.requested = requested;
  ++live_;
}

std::optional<Bytes> PlanServer::free(std::byte* address, Bytes size, StreamId stream) {
  if (!guests_.empty()) {
    const Bytes offset(address - base_);
    if (const Guests::Held* const guest = guests_.find(offset)) return deallocate_guest(offset, *guest, size, stream);
  }
  PlannedPlace* const place = places_.find(Bytes(address - base_));
  const bool live = place != nullptr && place->owner != PlaceTable::kNobody;
  if (checks_ && !live)
    misused("PlanAheadAllocator", "free of an address that is not the start of an allocation (freed twice?)");
  if (checks_ && place->requested != size)
    misused("PlanAheadAllocator", "free with a size that differs from that of the allocation");
  if (checks_ && plan_.streams[plan_.slots[place->owner].stream] != stream)
    misused("PlanAheadAllocator", "free on a stream that differs from that of the allocation");
  if (!live) return std::nullopt;
  const std::uint32_t slot = place->owner;
  const Bytes requested = place->requested;
  --live_;
  if (!uses_.none_live() && !uses_.freed(plan_.slots[slot].bytes())) {
    ++live_;  // nobody owns the bytes, but they must not be reused
    return requested;
  }
  place->owner = PlaceTable::kNobody;
  if (guests_.watching()) guests_.slot_left(plan_.slots[slot].bytes());
  vacate(slot);
  return requested;
}

std::optional<Bytes> PlanServer::deallocate_guest(Bytes offset, Guests::Held guest, Bytes size, StreamId stream) {
  if (checks_ && guest.requested != size)
    misused("PlanAheadAllocator", "free with a size that differs from that of the allocation");
  if (checks_ && plan_.streams.front() != stream)
    misused("PlanAheadAllocator", "free on a stream that differs from that of the allocation");
  if (!uses_.none_live() && !uses_.freed({offset, guest.upper})) return guest.requested;
  guests_.leave(offset);
  --live_;
  return guest.requested;
}

void PlanServer::vacate(std::uint32_t slot) {
  const PlannedSlot& planned = plan_.slots[slot];
  if (!odd_.empty() && remove_odd(slot)) {
    ordering_.freed_late(planned.stream);
    return;
  }
  SlotState& state = states_[slot];
  state.clean = iteration_;
  state.left_out = false;
  state.freed = ordering_.freed(planned.stream);
  if (planned.marks) ordering_.mark(planned.stream);
}

bool PlanServer::remove_odd(std::uint32_t slot) {
  const auto found = std::find_if(odd_.begin(), odd_.end(), [slot](Odd odd) { return odd.slot == slot; });
  if (found == odd_.end()) return false;
  const bool carried = found->carried;
  *found = odd_.back();
  odd_.pop_back();
  return carried;
}

Status PlanServer::record_use(std::byte* address, StreamId stream) {
  const Bytes offset(address - base_);
  if (guests_.find(offset) != nullptr) {
    if (plan_.streams.front() != stream) uses_.used(offset, stream);
    return Done{};
  }
  const PlannedPlace* const place = places_.find(offset);
  if (place == nullptr || place->owner == PlaceTable::kNobody) {
    return Error{
        ErrorCode::invalid, fmt::format("{} is not the start of an allocation", static_cast<void*>(address)), {}};
  }
  if (plan_.streams[plan_.slots[place->owner].stream] != stream) uses_.used(offset, stream);
  return Done{};
}

Status PlanServer::synchronize() {
  for (const StreamId stream : plan_.streams) STOWAGE_TRY_STATUS(device_.synchronize(stream));
  for (const StreamId stream : uses_.streams()) STOWAGE_TRY_STATUS(device_.synchronize(stream));
  return Done{};
}

std::vector<MemorySnapshot::Block> PlanServer::blocks(Bytes size) const {
  struct Held {
    ByteRange bytes;
    Bytes requested;
  };
  std::vector<Held> held;
  for (const PlannedPlace& place : places_.places()) {
    if (place.owner != PlaceTable::kNobody) held.push_back({plan_.slots[place.owner].bytes(), place.requested});
  }
  for (const auto& [offset, each] : guests_.occupied()) {
    if (each.guest) held.push_back({{offset, each.upper}, each.requested});
  }
  std::sort(held.begin(), held.end(), [](const Held& a, const Held& b) { return a.bytes.lower < b.bytes.lower; });
  std::vector<MemorySnapshot::Block> blocks;
  Bytes at(0);
  const auto idle_up_to = [&](Bytes end) {
    if (at < end) blocks.push_back({base_ + at.value(), end - at, Bytes(0), MemorySnapshot::BlockState::idle});
    at = end;
  };
  for (const auto& [bytes, requested] : held) {
    idle_up_to(bytes.lower);
    blocks.push_back({base_ + at.value(), bytes.length(), requested, MemorySnapshot::BlockState::live});
    at = bytes.upper;
  }
  idle_up_to(size);
  return blocks;
}

}  // namespace stowage::runtime
