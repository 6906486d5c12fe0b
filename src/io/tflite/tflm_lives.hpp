#pragma once

#include <cstdint>
#include <vector>

#include "io/tflite/model.hpp"

/// When TFLM needs which tensor and scratch buffer. Each operator is a step, in the order in which the first run of
/// every subgraph comes; IF, WHILE and CALL_ONCE count their subgraphs within their own.
namespace stowage::io::tflite {

/// Steps [first, last], counted from 0; -1: never.
struct TflmLife {
  std::int64_t first = -1;
  std::int64_t last = -1;
};

struct TflmLives {
  std::vector<std::vector<TflmLife>> tensors;    ///< By subgraph and tensor.
  std::vector<std::vector<TflmLife>> operators;  ///< Of an operator's scratch buffers, by subgraph and operator.
};

/// Precondition: no subgraph runs itself. O(runs of subgraphs × their operators).
[[nodiscard]] TflmLives tflm_lives(const ModelInfo& model);

}  // namespace stowage::io::tflite
