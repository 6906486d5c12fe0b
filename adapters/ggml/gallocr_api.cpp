#include <algorithm>
#include <exception>
#include <new>
#include <span>

#include "gallocr.hpp"

/// The entry points of ggml's graph allocator. They let no exception escape and do not abort the program: they return
/// what ggml documents, and write errors to ggml's log.
struct ggml_gallocr {
  stowage::ggml::Gallocr allocator;
};

namespace {

using stowage::Done;
using stowage::Error;
using stowage::ErrorCode;
using stowage::Status;

/// Calls `work` and converts exceptions to errors.
template <class Work>
auto guarded(Work&& work) -> decltype(work()) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    return Error{ErrorCode::out_of_memory, "out of memory", {}};
  } catch (const std::exception& exception) {
    return Error{ErrorCode::device, exception.what(), {}};
  }
}

bool succeeded(const char* function, const Status& status) {
  if (!status) GGML_LOG_ERROR("%s: %s\n", function, status.error().message.c_str());
  return status.has_value();
}

}  // namespace

extern "C" {

ggml_gallocr_t ggml_gallocr_new_n(ggml_backend_buffer_type_t* bufts, int n_bufs) {
  try {
    return new ggml_gallocr{stowage::ggml::Gallocr(std::span(bufts, static_cast<std::size_t>(n_bufs)))};
  } catch (const std::exception&) {
    return nullptr;
  }
}

ggml_gallocr_t ggml_gallocr_new(ggml_backend_buffer_type_t buft) { return ggml_gallocr_new_n(&buft, 1); }

void ggml_gallocr_free(ggml_gallocr_t galloc) { delete galloc; }

bool ggml_gallocr_reserve_n(ggml_gallocr_t galloc, ggml_cgraph* graph, const int* node_buffer_ids,
                            const int* leaf_buffer_ids) {
  return succeeded(__func__,
                   guarded([&] { return galloc->allocator.reserve(*graph, {node_buffer_ids, leaf_buffer_ids}); }));
}

bool ggml_gallocr_reserve(ggml_gallocr_t galloc, ggml_cgraph* graph) {
  return ggml_gallocr_reserve_n(galloc, graph, nullptr, nullptr);
}

void ggml_gallocr_reserve_n_size(ggml_gallocr_t galloc, ggml_cgraph* graph, const int* node_buffer_ids,
                                 const int* leaf_buffer_ids, size_t* sizes) {
  const std::size_t count = galloc->allocator.types().ids();
  std::fill_n(sizes, count, std::size_t{0});
  succeeded(__func__, guarded([&]() -> Status {
              STOWAGE_TRY(const std::vector<std::size_t> result,
                          galloc->allocator.sizes(*graph, {node_buffer_ids, leaf_buffer_ids}));
              std::copy(result.begin(), result.end(), sizes);
              return Done{};
            }));
}

/// If the graph must be reserved first, that is not logged as an error: the scheduler calls this to find out.
bool ggml_gallocr_alloc_graph(ggml_gallocr_t galloc, ggml_cgraph* graph) {
  const Status status = guarded([&] { return galloc->allocator.allocate(*graph); });
  return (!status && status.error().code == ErrorCode::unsupported) ? false : succeeded(__func__, status);
}

size_t ggml_gallocr_get_buffer_size(ggml_gallocr_t galloc, int buffer_id) {
  return galloc->allocator.types().has(buffer_id) ? galloc->allocator.buffer_size(buffer_id) : 0;
}

}  // extern "C"
