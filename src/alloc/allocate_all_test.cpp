#include "stowage/alloc/allocate_all.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "memory/interface/sim_device.hpp"

namespace stowage {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Tensor weight(std::int64_t size, TensorFlags flags = {}) { return {.name = "w", .size = Bytes(size), .flags = flags}; }
Tensor view(std::size_t base, std::int64_t offset, std::int64_t size) {
  return {.name = "v", .size = Bytes(size), .view_of = ViewOf{TensorId(base), Bytes(offset)}};
}

std::vector<Bytes> sizes_of(const AllocatedTensors& all) {
  std::vector<Bytes> sizes;
  for (const auto& buffer : all.buffers) sizes.push_back(buffer->size());
  return sizes;
}

TEST(AllocateAll, TensorsFollowEachOtherInOneBuffer) {
  auto sim = SimDevice::make({.alignment = Bytes(32)});
  const std::vector<Tensor> tensors = {weight(10), weight(33), weight(32)};
  const AllocatedTensors all = *allocate_all(tensors, sim->buffer_type());
  EXPECT_THAT(sizes_of(all), ElementsAre(Bytes(128)));
  EXPECT_EQ(all.size(), Bytes(128));
  Buffer* const buffer = all.buffers[0].get();
  EXPECT_THAT(all.tensors,
              ElementsAre(Address{buffer, Bytes(0)}, Address{buffer, Bytes(32)}, Address{buffer, Bytes(96)}));
  EXPECT_THAT(*allocate_all_sizes(tensors, sim->buffer_type()), ElementsAre(Bytes(128)));
}

TEST(AllocateAll, ADeviceMeansItsOrdinaryMemory) {
  const AllocatedTensors all = *allocate_all(std::vector<Tensor>{weight(10)}, cpu_device());
  EXPECT_EQ(&all.buffers[0]->type(), &cpu_device().buffer_type());
  EXPECT_NE(all.tensors[0].data(), nullptr);
}

TEST(AllocateAll, NothingToDoIsNotAnError) {
  auto sim = SimDevice::make();
  const AllocatedTensors none = *allocate_all({}, *sim);
  EXPECT_TRUE(none.buffers.empty());
  EXPECT_EQ(none.size(), Bytes(0));
  const AllocatedTensors external = *allocate_all(std::vector<Tensor>{weight(10, TensorFlag::external)}, *sim);
  EXPECT_TRUE(external.buffers.empty());
  EXPECT_THAT(external.tensors, ElementsAre(Address{}));
  EXPECT_EQ(sim->calls(), 0U);
}

TEST(AllocateAll, ATensorOfSizeZeroHasABufferToLieIn) {
  const AllocatedTensors all = *allocate_all(std::vector<Tensor>{weight(0)}, cpu_device());
  EXPECT_EQ(all.buffers.size(), 1U);
  EXPECT_EQ(all.tensors[0].buffer, all.buffers[0].get());
}

TEST(AllocateAll, SplitsAtTheLargestBuffer) {
  auto sim = SimDevice::make({.alignment = Bytes(16), .max_size = Bytes(100)});
  const std::vector<Tensor> tensors = {weight(60), weight(36), weight(60), weight(100), weight(1)};
  const AllocatedTensors all = *allocate_all(tensors, *sim);
  EXPECT_THAT(sizes_of(all), ElementsAre(Bytes(100), Bytes(60), Bytes(100), Bytes(1)));
  EXPECT_EQ(all.tensors[1].offset, Bytes(64));
  EXPECT_EQ(all.tensors[2].buffer, all.buffers[1].get());
  EXPECT_EQ(all.tensors[4].buffer, all.buffers[3].get());
}

TEST(AllocateAll, ATensorLargerThanTheLargestBufferIsAnErrorAndTakesNothing) {
  auto sim = SimDevice::make({.alignment = Bytes(16), .max_size = Bytes(100)});
  const std::vector<Tensor> tensors = {weight(60), weight(101)};
  const Result<AllocatedTensors> all = allocate_all(tensors, *sim);
  ASSERT_FALSE(all);
  EXPECT_EQ(all.error().code, ErrorCode::out_of_memory);
  EXPECT_THAT(all.error().message, HasSubstr("sim: cannot allocate 101 bytes"));
  EXPECT_THAT(all.error().message, HasSubstr("tensor 'w' (1)"));
  EXPECT_EQ(sim->calls(), 0U);
  EXPECT_FALSE(allocate_all_sizes(tensors, sim->buffer_type()));
}

TEST(AllocateAll, AddressesAreAlignedWhateverTheBase) {
  for (const std::int64_t skew : {0, 1, 40, 63}) {
    auto sim = SimDevice::make({.alignment = Bytes(64), .skew = Bytes(skew), .max_size = Bytes(1024)});
    const std::vector<Tensor> tensors(20, weight(128));
    const Result<AllocatedTensors> all = allocate_all(tensors, *sim);
    ASSERT_TRUE(all) << to_string(all.error());
    for (const Address& address : all->tensors) {
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(address.data()) % 64, 0U);
      EXPECT_TRUE(address.buffer->fill({address.offset, address.offset + Bytes(128)}, 1));
    }
    EXPECT_THAT(sim->violations(), IsEmpty());
  }
}

TEST(AllocateAll, AnAlignmentOfItsOwnCounts) {
  auto sim = SimDevice::make({.alignment = Bytes(16), .skew = Bytes(8)});
  std::vector<Tensor> tensors = {weight(10), weight(10), weight(10)};
  tensors[1].alignment = Bytes(4096);
  const AllocatedTensors all = *allocate_all(tensors, *sim);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(all.tensors[1].data()) % 4096, 0U);
  EXPECT_EQ(all.tensors[2].offset, all.tensors[1].offset + Bytes(16));
  tensors[1].alignment = Bytes(48);
  EXPECT_EQ(allocate_all(tensors, *sim).error().code, ErrorCode::invalid);
}

TEST(AllocateAll, ViewsLieInTheirBasesWhereverThoseStandInTheList) {
  const std::vector<Tensor> tensors = {view(2, 8, 16), weight(64), view(1, 16, 32), weight(8, TensorFlag::external),
                                       view(3, 0, 8)};
  const AllocatedTensors all = *allocate_all(tensors, cpu_device());
  EXPECT_EQ(all.size(), Bytes(64));
  EXPECT_EQ(all.tensors[2].offset, all.tensors[1].offset + Bytes(16));
  EXPECT_EQ(all.tensors[0].offset, all.tensors[1].offset + Bytes(24));
  EXPECT_EQ(all.tensors[4], Address{});
}

TEST(AllocateAll, WhatIsPlacedAlreadyStaysAndSoDoItsViews) {
  const std::vector<Tensor> tensors = {weight(64), weight(64), view(0, 8, 8), view(2, 4, 4), view(1, 8, 8)};
  const AllocatedTensors first = *allocate_all(std::span(tensors).first(1), cpu_device());
  std::vector<Address> placed(tensors.size());
  placed[0] = first.tensors[0];
  placed[4] = {first.tensors[0].buffer, Bytes(32)};
  const AllocatedTensors rest = *allocate_all(tensors, cpu_device(), {.placed = placed});
  EXPECT_EQ(rest.size(), Bytes(64));
  EXPECT_EQ(rest.tensors[0], first.tensors[0]);
  EXPECT_EQ(rest.tensors[1].buffer, rest.buffers[0].get());
  EXPECT_EQ(rest.tensors[2], (Address{first.tensors[0].buffer, first.tensors[0].offset + Bytes(8)}));
  EXPECT_EQ(rest.tensors[3], (Address{first.tensors[0].buffer, first.tensors[0].offset + Bytes(12)}));
  EXPECT_EQ(rest.tensors[4], placed[4]);
}

TEST(AllocateAll, ServesTheWeightsOfAGraphByTheirFlags) {
  const std::vector<Tensor> tensors = {weight(64, TensorFlag::constant), weight(64), weight(64, TensorFlag::variable),
                                       view(2, 0, 8)};
  const AllocatedTensors all =
      *allocate_all(tensors, cpu_device(), {.only = {TensorFlag::constant, TensorFlag::variable}});
  EXPECT_EQ(all.size(), Bytes(128));
  EXPECT_EQ(all.tensors[1], Address{});
  EXPECT_EQ(all.tensors[3], all.tensors[2]);
}

TEST(AllocateAll, ATensorTakesWhatItsSizeInTheBufferIs) {
  const std::vector<Tensor> tensors = {weight(12), weight(12)};
  const SizeInBuffer padded = [](const Tensor& tensor, const BufferType&) { return tensor.size + Bytes(100); };
  EXPECT_THAT(*allocate_all_sizes(tensors, cpu_device().buffer_type(), {.size_of = padded}),
              ElementsAre(Bytes(128 + 112)));
  const SizeInBuffer cut = [](const Tensor&, const BufferType&) { return Bytes(1); };
  EXPECT_THAT(allocate_all_sizes(tensors, cpu_device().buffer_type(), {.size_of = cut}).error().message,
              HasSubstr("has 1 bytes in"));
}

TEST(AllocateAll, ViewsThatMakeNoSenseAreErrors) {
  const auto error = [](std::vector<Tensor> tensors, std::span<const Address> placed = {}) {
    const Result<AllocatedTensors> all = allocate_all(tensors, cpu_device(), {.placed = placed});
    return all ? "" : to_string(all.error());
  };
  EXPECT_THAT(error({weight(8), view(9, 0, 1)}),
              HasSubstr("tensors[1]: tensor 'v' (1) is a view of a tensor that does not exist"));
  EXPECT_THAT(error({weight(8), view(0, 4, 5)}), HasSubstr("outside its base"));
  EXPECT_THAT(error({weight(8), view(0, -1, 5)}), HasSubstr("outside its base"));
  EXPECT_THAT(error({view(1, 0, 1), view(0, 0, 1)}), HasSubstr("a view of itself"));
  EXPECT_THAT(error({weight(-8)}), HasSubstr("a size below 0"));
  EXPECT_THAT(error({weight(8)}, std::vector<Address>(2)), HasSubstr("1 tensors, but `placed` has 2"));
}

}  // namespace
}  // namespace stowage
