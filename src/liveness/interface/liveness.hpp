#pragma once

#include "liveness/interface/accesses.hpp"
#include "liveness/interface/lives.hpp"
#include "liveness/interface/order.hpp"
#include "liveness/interface/timeline.hpp"

namespace stowage {

/// When the memory of each class is needed. A plain value; refers to the graph by ids only.
struct Liveness {
  Timeline timeline;
  Accesses accesses;
  ByClass<Life> lives;
  Order order;
};

}  // namespace stowage
