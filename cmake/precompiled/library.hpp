// Precompiled for every source of the library (STOWAGE_PCH): the standard headers that most of them include anyway, and fmt, whose
// parsing takes longer than most of our sources do. No header of ours: a change there would compile everything again.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>
