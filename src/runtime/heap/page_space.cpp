#include "runtime/heap/page_space.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "runtime/exiting.hpp"

namespace stowage::runtime {
namespace {

/// More addresses than any device has. A request above this is refused at once rather than after adding page by page.
constexpr Bytes kAddresses{std::int64_t{1} << 46};

}  // namespace

IdleMap idle_of(std::span<const Tenant> tenants) {
  std::vector<SpanHeap*> books;
  for (const Tenant& tenant : tenants) books.push_back(tenant.books);
  return IdleMap(books);
}

Miss::Miss(Bytes rounded, Bytes asked, std::span<const Tenant> heaps)
    : size(rounded), requested(asked), tenants(heaps), idle(idle_of(heaps)) {}

PageSpace::PageSpace(Device& device, PhysicalPool* pool, const SpaceOptions& options)
    : device_(device),
      options_(options),
      pool_(pool),
      unpaged_(device.buffer_type(), options.alignment, options.limit) {
  if (pool == nullptr) return;
  arena_ = std::make_unique<ExpandableArena>(*pool);
  stitches_ = std::make_unique<StitchCache>(*arena_, device);
}

// ------------------------------------------------------------------------------------------------------------- growth

Bytes PageSpace::page_size(Bytes growth) const {
  Bytes page = options_.least_page;
  while (page.value() * options_.pages < std::max(reserved_, growth).value()) page += page;
  return page;
}

Bytes PageSpace::shortfall(const Miss& miss) const {
  if (!is_paged() || pages_.empty()) return miss.size;
  const auto& [address, id] = *pages_.rbegin();
  return miss.size - std::min(miss.size, miss.idle.ending_at(address + arena_->page(id).size.value()));
}

const PageUses& PageSpace::uses(Miss& miss) const {
  if (!miss.uses) miss.uses = uses(miss.idle);
  return *miss.uses;
}

Bytes PageSpace::idle_pages(Miss& miss) const { return is_paged() ? uses(miss).idle_bytes() : Bytes(0); }

Bytes PageSpace::idle_pages(const IdleMap& idle) const { return is_paged() ? uses(idle).idle_bytes() : Bytes(0); }

Status PageSpace::grow(Bytes least, Miss& miss) {
  if (is_out_of_reach(least)) {
    return Error{ErrorCode::out_of_memory, fmt::format("{} more bytes are not available", least.value()), {}};
  }
  if (is_paged() && !prepare()) {  // no addresses: unpaged buffers from now on
    stitches_.reset();
    arena_.reset();
  }
  if (!is_paged()) return grow_unpaged(least, miss);
  Bytes page = page_size(least);
  for (Bytes grown(0); grown < least;) {
    Status added = add_page(page, miss);
    while (!added && added.error().code == ErrorCode::out_of_memory && page > options_.least_page) {
      page = std::max(options_.least_page, Bytes(page.value() / 2));
      added = add_page(page, miss);
    }
    if (!added) return added;
    grown += page;
  }
  return Done{};
}

/// Whether growing must fail. Then it is not tried, because trying would use up all memory first.
bool PageSpace::is_out_of_reach(Bytes least) const {
  Bytes most = kAddresses;
  if (const std::optional<Bytes> free = device_.free_memory())
    most = *free + (pool_ != nullptr ? pool_->counts().idle : Bytes(0));
  if (pool_ != nullptr) most = std::min(most, pool_->room().value_or(most));
  return least > most;
}

Status PageSpace::prepare() { return pages_.empty() ? arena_->prepare(options_.least_page) : Status(Done{}); }

Status PageSpace::add_page(Bytes size, Miss& miss) {
  STOWAGE_TRY(const Page page, pool_->allocate(size));
  Result<PageId> id = arena_->add(page);
  if (!id) {
    pool_->free(page);
    return std::move(id).error();
  }
  std::byte* const address = arena_->address(*id);
  pages_.emplace(address, *id);
  add_idle(address, size, miss);
  reserved_ += size;
  return Done{};
}

void PageSpace::add_idle(std::byte* address, Bytes size, Miss& miss) {
  miss.heap().add(address, size);
  miss.idle.add({address, size, &miss.heap()});
  miss.uses.reset();
}

Status PageSpace::grow_unpaged(Bytes least, Miss& miss) {
  Result<UnpagedRun> run = unpaged_.allocate(align_up(least, page_size(least)));
  if (!run && run.error().code == ErrorCode::out_of_memory)
    run = unpaged_.allocate(align_up(least, options_.alignment));
  if (!run) return std::move(run).error();
  add_idle(run->address, run->size, miss);
  reserved_ = unpaged_.reserved();
  return Done{};
}

// -------------------------------------------------------------------------------------------------- runs and stitches

Span* PageSpace::take_run(Miss& miss) {
  const std::optional<IdleRun> run = miss.idle.tightest(miss.size);
  if (!run) return nullptr;
  const SpanHeap::Piece piece{run->address, miss.size};
  if (!transfer({&piece, 1}, miss)) return nullptr;
  return miss.heap().take_pieces({&piece, 1}, piece.address, 0, miss.requested);
}

Span* PageSpace::take_in_stitch(Miss& miss) {
  if (!is_paged()) return nullptr;
  const std::optional<StitchPlace> place = stitches_->find(miss.size, uses(miss));
  return place ? take_at(*place, miss) : nullptr;
}

Result<Span*> PageSpace::take_stitched(Miss& miss) {
  if (!is_paged()) return nullptr;
  STOWAGE_TRY(const std::optional<StitchPlace> place, stitches_->make(miss.size, uses(miss)));
  if (!place) return nullptr;
  Span* const span = take_at(*place, miss);
  stitches_->bound(Bytes(reserved_.value() * options_.stitches));
  return span;
}

Span* PageSpace::take_at(StitchPlace place, Miss& miss) {
  const std::vector<SpanHeap::Piece> pieces = stitches_->pieces(place, miss.size, uses(miss));
  if (!transfer(pieces, miss)) return nullptr;
  stitches_->begin_use(place.stitch);
  const auto stitch = static_cast<std::uint32_t>(place.stitch + 1);
  return miss.heap().take_pieces(pieces, stitches_->address(place), stitch, miss.requested);
}

/// Moves idle bytes of any heaps to the heap that asks. Afterwards the miss's idle map is out of date. Returns false
/// and changes nothing if its stream cannot be made to wait.
bool PageSpace::transfer(std::span<const SpanHeap::Piece> pieces, const Miss& miss) {
  SpanHeap& taker = miss.heap();
  std::vector<IdlePart> foreign;
  std::vector<SpanHeap*> owners;
  for (const SpanHeap::Piece& piece : pieces) {
    for (const IdlePart& part : miss.idle.within(piece.address, piece.size)) {
      if (part.owner == &taker) continue;
      foreign.push_back(part);
      if (std::ranges::find(owners, part.owner) == owners.end()) owners.push_back(part.owner);
    }
  }
  if (!wait_for(owners, miss.tenants)) return false;
  for (const IdlePart& part : foreign) {
    part.owner->cut(part.address, part.size);
    taker.add(part.address, part.size);
  }
  return true;
}

/// Work submitted to the owners' streams before the bytes were freed may still use them.
bool PageSpace::wait_for(std::span<SpanHeap* const> owners, std::span<const Tenant> tenants) {
  return std::ranges::all_of(owners, [&](const SpanHeap* owner) {
    const auto giver = std::ranges::find(tenants, owner, &Tenant::books);
    const Result<EventId> event = device_.record(giver->stream);
    if (!event) return false;
    const bool ordered = device_.wait(tenants.front().stream, *event).has_value();
    device_.forget(*event);
    if (ordered) ++waits_;
    return ordered;
  });
}

// --------------------------------------------------------------------------------------------------------------- trim

Bytes PageSpace::trim(std::span<const Tenant> tenants, const IsQuiet& is_quiet) {
  const IdleMap idle = idle_of(tenants);
  return is_paged() ? trim_pages(idle, is_quiet) : trim_buffers(idle, is_quiet);
}

Bytes PageSpace::trim_pages(const IdleMap& idle, const IsQuiet& is_quiet) {
  Bytes returned(0);
  for (const PageId id : uses(idle).idle()) {
    std::byte* const address = arena_->address(id);
    const std::vector<IdlePart> parts = idle.within(address, arena_->page(id).size);
    if (!std::ranges::all_of(parts, [&](const IdlePart& part) { return is_quiet(*part.owner); })) continue;
    if (!stitches_->drop_stitches_of(id)) continue;
    const Result<Page> page = arena_->remove(id);
    if (!page) continue;
    for (const IdlePart& part : parts) part.owner->cut(part.address, part.size);
    pages_.erase(address);
    pool_->free(*page);
    returned += page->size;
  }
  reserved_ -= returned;
  return returned;
}

Bytes PageSpace::trim_buffers(const IdleMap& idle, const IsQuiet& is_quiet) {
  Bytes returned(0);
  for (const UnpagedRun& run : unpaged_.runs()) {
    Bytes unused(0);
    const std::vector<IdlePart> parts = idle.within(run.address, run.size);
    for (const IdlePart& part : parts) unused += part.size;
    if (unused != run.size || !std::ranges::all_of(parts, [&](const IdlePart& part) { return is_quiet(*part.owner); }))
      continue;
    for (const IdlePart& part : parts) part.owner->cut(part.address, part.size);
    returned += unpaged_.free(run.address);
  }
  reserved_ = unpaged_.reserved();
  return returned;
}

void PageSpace::abandon() {
  unpaged_.abandon();
  if (!is_paged()) return;
  pool_->write_off(reserved_);
  keep_for_ever(std::move(stitches_));
  keep_for_ever(std::move(arena_));
}

// ------------------------------------------------------------------------------------------------------------ queries

ExpandableArena::Counts PageSpace::counts() const { return is_paged() ? arena_->counts() : ExpandableArena::Counts{}; }

void PageSpace::reset_counts() {
  if (is_paged()) arena_->reset_counts();
  unpaged_.reset_counts();
  waits_ = 0;
}

}  // namespace stowage::runtime
