#include <gtest/gtest.h>

#include "chunk_buffers.hpp"
#include "support/fake_buffer_type.hpp"
#include "support/test_graph.hpp"

/// ggml_tallocr, and all tensors of a context at once.
namespace stowage::ggml {
namespace {

TEST(Tallocr, ExhaustionIsAStatusAndChangesNothing) {
  FakeBufferType type;
  const BufferOwner buffer(ggml_backend_buft_alloc_buffer(type.get(), 512));
  TestGraph tensors;
  ggml_tallocr allocator = ggml_tallocr_new(buffer.get());
  ggml_tensor* const fits = tensors.input(60);
  ggml_tensor* const too_large = tensors.input(65);
  ggml_tensor* const rest = tensors.input(64);
  EXPECT_EQ(ggml_tallocr_alloc(&allocator, fits), GGML_STATUS_SUCCESS);
  EXPECT_EQ(allocator.offset, 256U);
  EXPECT_EQ(ggml_tallocr_alloc(&allocator, too_large), GGML_STATUS_ALLOC_FAILED);
  EXPECT_EQ(too_large->data, nullptr);
  EXPECT_EQ(allocator.offset, 256U);
  EXPECT_EQ(ggml_tallocr_alloc(&allocator, rest), GGML_STATUS_SUCCESS);
  EXPECT_EQ(static_cast<char*>(rest->data) - static_cast<char*>(fits->data), 256);
}

TEST(Tallocr, AnUnalignedBaseIsMadeUpFor) {
  FakeBufferType type({.alignment = 64, .base_shift = 8});
  const BufferOwner buffer(ggml_backend_buft_alloc_buffer(type.get(), 512));
  TestGraph tensors;
  ggml_tallocr allocator = ggml_tallocr_new(buffer.get());
  ggml_tensor* const tensor = tensors.input(1);
  EXPECT_EQ(ggml_tallocr_alloc(&allocator, tensor), GGML_STATUS_SUCCESS);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(tensor->data) % 64, 0U);
}

TEST(ContextTensors, AllGoToOneBufferWithTheirViews) {
  FakeBufferType type;
  TestGraph tensors;
  ggml_tensor* const a = tensors.input(60);
  ggml_tensor* const view = ggml_view_1d(tensors.context(), a, 8, 16);
  ggml_tensor* const b = tensors.input(64);
  EXPECT_EQ(ggml_backend_alloc_ctx_tensors_from_buft_size(tensors.context(), type.get()), 512U);
  EXPECT_EQ(type.allocations, 0);
  const BufferOwner buffer(ggml_backend_alloc_ctx_tensors_from_buft(tensors.context(), type.get()));
  ASSERT_NE(buffer, nullptr);
  EXPECT_EQ(ggml_backend_buffer_get_size(buffer.get()), 512U);
  EXPECT_EQ(static_cast<char*>(view->data) - static_cast<char*>(a->data), 16);
  EXPECT_EQ(view->buffer, buffer.get());
  EXPECT_EQ(static_cast<char*>(b->data) - static_cast<char*>(a->data), 256);
}

TEST(ContextTensors, NothingToDoIsNull) {
  FakeBufferType type;
  TestGraph tensors;
  EXPECT_EQ(ggml_backend_alloc_ctx_tensors_from_buft(tensors.context(), type.get()), nullptr);
  std::vector<float> data(4);
  tensors.input(4)->data = data.data();
  EXPECT_EQ(ggml_backend_alloc_ctx_tensors_from_buft(tensors.context(), type.get()), nullptr);
  EXPECT_EQ(type.allocations, 0);
}

TEST(ContextTensors, MoreThanABufferHoldsBecomesSeveralSeenAsOne) {
  FakeBufferType type({.max_size = 600});
  TestGraph tensors;
  for (const std::int64_t floats : {64, 64, 64, 200, 64}) tensors.input(floats);
  ggml_tensor* const view = ggml_view_1d(tensors.context(), ggml_get_first_tensor(tensors.context()), 4, 0);
  EXPECT_EQ(ggml_backend_alloc_ctx_tensors_from_buft_size(tensors.context(), type.get()), 4U * 256 + 800);
  {
    const BufferOwner buffer(ggml_backend_alloc_ctx_tensors_from_buft(tensors.context(), type.get()));
    ASSERT_NE(buffer, nullptr);
    EXPECT_TRUE(ggml_backend_buffer_is_multi_buffer(buffer.get()));
    EXPECT_EQ(type.buffers, 4) << "the one tensor that is larger than a buffer has a separate one";
    EXPECT_NE(view->buffer, nullptr);
  }
  EXPECT_EQ(type.buffers, 0);
}

TEST(ContextTensors, EveryAllocationMayFailAndTheNextTrySucceeds) {
  for (int nth = 1; nth <= 3; ++nth) {
    FakeBufferType type({.max_size = 300});
    TestGraph tensors;
    for (int i = 0; i < 3; ++i) tensors.input(64);
    ggml_view_1d(tensors.context(), ggml_get_first_tensor(tensors.context()), 4, 0);
    type.fails_at = nth;
    EXPECT_EQ(ggml_backend_alloc_ctx_tensors_from_buft(tensors.context(), type.get()), nullptr);
    EXPECT_EQ(type.buffers, 0);
    EXPECT_TRUE(tensors.is_untouched());
    const BufferOwner buffer(ggml_backend_alloc_ctx_tensors_from_buft(tensors.context(), type.get()));
    EXPECT_NE(buffer, nullptr);
  }
}

TEST(ContextTensors, ATensorThatTheBackendRefusesLeavesNothingBehind) {
  FakeBufferType type({.hears_of_tensors = true});
  TestGraph tensors;
  tensors.input(64);
  tensors.input(64);
  type.refuses_tensor = 2;
  EXPECT_EQ(ggml_backend_alloc_ctx_tensors_from_buft(tensors.context(), type.get()), nullptr);
  EXPECT_EQ(type.buffers, 0);
  EXPECT_TRUE(tensors.is_untouched());
}

TEST(ContextTensors, AnUnalignedBaseLeavesRoomForAll) {
  FakeBufferType type({.alignment = 64, .base_shift = 8});
  TestGraph tensors;
  ggml_tensor* const a = tensors.input(16);
  const BufferOwner buffer(ggml_backend_alloc_ctx_tensors_from_buft(tensors.context(), type.get()));
  ASSERT_NE(buffer, nullptr);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(a->data) % 64, 0U);
}

}  // namespace
}  // namespace stowage::ggml
