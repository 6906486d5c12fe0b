#include <algorithm>
#include <ostream>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "stowage/alloc.hpp"

namespace stowage {
namespace {

using ChunkOffset = OffsetAllocator::ChunkOffset;

struct Setting {
  std::int64_t alignment;
  std::optional<Bytes> max_chunk_size = {};
  std::optional<std::size_t> max_chunks = {};
  std::int64_t capacity = kMaxBytes.value();
  std::int64_t largest;  ///< The largest request.

  friend void PrintTo(const Setting& setting, std::ostream* out) {
    *out << "alignment " << setting.alignment << ", chunk size " << setting.max_chunk_size.value_or(Bytes(0)).value()
         << ", chunks " << setting.max_chunks.value_or(0) << ", capacity " << setting.capacity;
  }
};

/// The documented rules of `OffsetAllocator`, implemented over one character per byte: lists every candidate and takes
/// the best by the rules.
class ByteMap {
 public:
  explicit ByteMap(const Setting& setting) : setting_(setting) {}

  std::optional<ChunkOffset> allocate(std::int64_t size) {
    size = rounded(size);
    const std::vector<Candidate> all = candidates(size);
    const auto best = std::min_element(all.begin(), all.end());
    if (best == all.end() || total_max() + best->growth > setting_.capacity) return std::nullopt;
    if (best->place.chunk == chunks_.size()) chunks_.push_back({{}, std::max(size, chunk_limit()), 0});
    mark(best->place, size, true);
    return best->place;
  }

  void free(ChunkOffset place, std::int64_t size) { mark(place, rounded(size), false); }

  /// Whether that many contiguous free bytes lie below the peak of a chunk.
  [[nodiscard]] bool has_paid_room(std::int64_t size) const {
    return std::ranges::any_of(candidates(rounded(size)), [](const Candidate& c) { return c.growth == 0; });
  }

  [[nodiscard]] std::int64_t max_size(std::size_t chunk) const { return chunks_[chunk].max_size; }
  [[nodiscard]] std::size_t chunk_count() const { return chunks_.size(); }
  [[nodiscard]] std::size_t inner_count() const {
    const std::vector<Candidate> all = candidates(1);
    return static_cast<std::size_t>(std::ranges::count(all, Rule::inner, &Candidate::rule));
  }
  [[nodiscard]] std::int64_t in_use() const {
    std::int64_t sum = 0;
    for (const Chunk& chunk : chunks_) sum += std::ranges::count(chunk.bytes, kUsed);
    return sum;
  }

 private:
  static constexpr char kUsed = '#';
  static constexpr char kFree = '.';
  enum class Rule { inner, paid_tail, growing_tail, new_chunk };
  struct Candidate {
    Rule rule;
    std::int64_t cost;  ///< Among candidates of the same rule, the lowest cost wins.
    std::int64_t room;
    ChunkOffset place;
    std::int64_t growth;

    friend bool operator<(const Candidate& a, const Candidate& b) {
      return std::tie(a.rule, a.cost, a.room, a.place) < std::tie(b.rule, b.cost, b.room, b.place);
    }
  };
  struct Chunk {
    std::string bytes;  ///< Each kUsed or kFree, up to the last used one.
    std::int64_t limit;
    std::int64_t max_size;
  };

  [[nodiscard]] std::int64_t rounded(std::int64_t size) const {
    return align_up(Bytes(size), Bytes(setting_.alignment)).value();
  }
  [[nodiscard]] std::int64_t chunk_limit() const { return setting_.max_chunk_size.value_or(kMaxBytes).value(); }
  [[nodiscard]] std::int64_t total_max() const {
    std::int64_t sum = 0;
    for (const Chunk& chunk : chunks_) sum += chunk.max_size;
    return sum;
  }

  [[nodiscard]] std::vector<Candidate> candidates(std::int64_t size) const {
    std::vector<Candidate> all;
    for (std::size_t c = 0; c < chunks_.size(); ++c) {
      add_inner(c, size, all);
      add_tail(c, size, all);
    }
    const bool may_add = !setting_.max_chunks || chunks_.size() < *setting_.max_chunks;
    if (may_add) all.push_back({Rule::new_chunk, 0, 0, {chunks_.size(), Bytes(0)}, size});
    return all;
  }

  void add_inner(std::size_t c, std::int64_t size, std::vector<Candidate>& all) const {
    const std::string& bytes = chunks_[c].bytes;
    for (std::size_t start = bytes.find(kFree); start != std::string::npos;) {
      const std::size_t end = bytes.find(kUsed, start);
      const auto length = static_cast<std::int64_t>(end - start);
      if (length >= size) all.push_back({Rule::inner, length, 0, {c, Bytes(static_cast<std::int64_t>(start))}, 0});
      start = bytes.find(kFree, end);
    }
  }

  void add_tail(std::size_t c, std::int64_t size, std::vector<Candidate>& all) const {
    const std::int64_t end = std::ssize(chunks_[c].bytes);
    const std::int64_t room = chunks_[c].limit - end;
    const std::int64_t paid = chunks_[c].max_size - end;
    if (size <= paid) {
      all.push_back({Rule::paid_tail, paid, 0, {c, Bytes(end)}, 0});
    } else if (size <= room) {
      all.push_back({Rule::growing_tail, size - paid, room, {c, Bytes(end)}, size - paid});
    }
  }

  void mark(ChunkOffset place, std::int64_t size, bool use) {
    Chunk& chunk = chunks_[place.chunk];
    const auto first = static_cast<std::size_t>(place.offset.value());
    const auto count = static_cast<std::size_t>(size);
    if (chunk.bytes.size() < first + count) chunk.bytes.resize(first + count, kFree);
    EXPECT_EQ(chunk.bytes.substr(first, count), std::string(count, use ? kFree : kUsed)) << "in chunk " << place.chunk;
    chunk.bytes.replace(first, count, count, use ? kUsed : kFree);
    if (use) chunk.max_size = std::max(chunk.max_size, std::ssize(chunk.bytes));
    chunk.bytes.resize(chunk.bytes.find_last_of(kUsed) + 1);  // npos + 1 is 0
  }

  Setting setting_;
  std::vector<Chunk> chunks_;
};

/// The allocator under test and the reference, with what is allocated in them.
class Pair {
 public:
  explicit Pair(const Setting& setting)
      : alignment_(setting.alignment),
        allocator_({.alignment = Bytes(setting.alignment),
                    .max_chunk_size = setting.max_chunk_size,
                    .max_chunks = setting.max_chunks,
                    .capacity = Bytes(setting.capacity),
                    .live_list = Checks::on}),
        reference_(setting) {}

  void allocate(std::int64_t size) {
    const bool paid = reference_.has_paid_room(size);
    const Bytes before = allocator_.max_size();
    const std::optional<ChunkOffset> place = allocator_.allocate(Bytes(size));
    ASSERT_EQ(place, reference_.allocate(size));
    ASSERT_TRUE(!paid || allocator_.max_size() == before) << "grew although free bytes below the peak were enough";
    if (!place) return;
    ASSERT_TRUE(is_aligned(place->offset, alignment_));
    live_.push_back({*place, Bytes(size), ""});
  }

  void free(std::size_t index) {
    const OffsetAllocator::Live live = live_[index];
    live_[index] = live_.back();
    live_.pop_back();
    ASSERT_TRUE(allocator_.free(live.place, live.size));
    reference_.free(live.place, live.size.value());
    ASSERT_FALSE(allocator_.free(live.place, live.size));
  }

  void shrink(std::size_t index, std::int64_t to) {
    OffsetAllocator::Live& live = live_[index];
    ASSERT_TRUE(allocator_.shrink(live.place, live.size, Bytes(to)));
    const Bytes kept = align_up(Bytes(to), alignment_);
    reference_.free({live.place.chunk, live.place.offset + kept}, (align_up(live.size, alignment_) - kept).value());
    live.size = Bytes(to);
  }

  void compare() {
    ASSERT_EQ(allocator_.chunk_count(), reference_.chunk_count());
    Bytes total(0);
    for (std::size_t c = 0; c < allocator_.chunk_count(); ++c) {
      ASSERT_EQ(allocator_.max_size(c).value(), reference_.max_size(c));
      total += allocator_.max_size(c);
    }
    ASSERT_EQ(allocator_.max_size(), total);
    ASSERT_EQ(allocator_.in_use().value(), reference_.in_use());
    ASSERT_EQ(allocator_.free_block_count(), reference_.inner_count());
  }

  void compare_live() {
    std::ranges::sort(live_, {}, &OffsetAllocator::Live::place);
    ASSERT_EQ(allocator_.live(), live_);
  }

  [[nodiscard]] std::size_t live_count() const { return live_.size(); }
  [[nodiscard]] std::int64_t live_size(std::size_t index) const { return live_[index].size.value(); }
  [[nodiscard]] const OffsetAllocator& allocator() const { return allocator_; }

 private:
  Bytes alignment_;
  OffsetAllocator allocator_;
  ByteMap reference_;
  std::vector<OffsetAllocator::Live> live_;
};

class OffsetAllocatorReference : public testing::TestWithParam<Setting> {
 protected:
  std::size_t below(std::size_t limit) { return std::uniform_int_distribution<std::size_t>(0, limit - 1)(random_); }

  std::int64_t size() { return static_cast<std::int64_t>(1 + below(static_cast<std::size_t>(GetParam().largest))); }

  void step(Pair& pair, std::size_t wanted) {
    const std::size_t live = pair.live_count();
    const bool grow = below(2 * wanted) >= live;
    if (live == 0 || grow) {
      pair.allocate(size());
    } else if (const std::size_t index = below(live); below(8) == 0) {
      pair.shrink(index, 1 + static_cast<std::int64_t>(below(static_cast<std::size_t>(pair.live_size(index)))));
    } else {
      pair.free(index);
    }
  }

 private:
  std::mt19937 random_{20};
};

TEST_P(OffsetAllocatorReference, SameAsAByteMapOver60000RandomOperations) {
  for (const std::size_t wanted : {3U, 12U, 40U}) {
    Pair pair(GetParam());
    for (int k = 0; k < 20'000; ++k) {
      step(pair, wanted);
      pair.compare();
      if (k % 64 == 0) pair.compare_live();
      if (HasFatalFailure()) FAIL() << "operation " << k;
    }
    while (pair.live_count() > 0) pair.free(below(pair.live_count()));
    pair.compare();
    EXPECT_EQ(pair.allocator().free_block_count(), 0U) << "each chunk is one free block";
    EXPECT_EQ(pair.allocator().in_use(), Bytes(0));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Settings, OffsetAllocatorReference,
    testing::Values(Setting{.alignment = 1, .largest = 20}, Setting{.alignment = 32, .largest = 100},
                    Setting{.alignment = 8, .capacity = 300, .largest = 60},
                    Setting{.alignment = 1, .max_chunk_size = Bytes(50), .largest = 30},
                    Setting{.alignment = 16, .max_chunk_size = Bytes(200), .largest = 230},
                    Setting{.alignment = 4, .max_chunk_size = Bytes(64), .max_chunks = 4, .largest = 80},
                    Setting{.alignment = 8, .max_chunk_size = Bytes(100), .capacity = 500, .largest = 40}));

}  // namespace
}  // namespace stowage
