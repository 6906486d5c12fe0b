/// The part of the C API that needs no graph; all of the library `stowage_pack`.
#include "stowage/pack.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <limits>
#include <stop_token>

#include "boundary.hpp"
#include "times.hpp"

namespace stowage::c {
namespace {

std::string item_text(std::size_t item) { return "item " + std::to_string(item); }

Status check_lists(const stowage_pack_input& input) {
  const auto missing = [&](const void* list, std::size_t count) { return count > 0 && !list; };
  if (missing(input.lower, input.count)) return null_argument("lower");
  if (missing(input.upper, input.count)) return null_argument("upper");
  if (missing(input.size, input.count)) return null_argument("size");
  if (missing(input.joins, input.join_count)) return null_argument("joins");
  if (missing(input.apart, input.apart_count)) return null_argument("apart");
  return Done{};
}

Status check_pair(std::uint32_t a, std::uint32_t b, std::size_t count, const char* what) {
  const std::string pair = std::string(what) + " of " + item_text(a) + " and " + item_text(b);
  if (a >= count || b >= count)
    return Error{ErrorCode::invalid, pair + ": there are only " + std::to_string(count) + " items", {}};
  if (a == b) return Error{ErrorCode::invalid, pair + ": an item has no such pair with itself", {}};
  return Done{};
}

Result<Join> join_of(const stowage_join& join, std::size_t count) {
  STOWAGE_TRY_STATUS(check_pair(join.a, join.b, count, "the join"));
  if (std::abs(static_cast<double>(join.distance)) > static_cast<double>(kMaxBytes.value()))
    return Error{ErrorCode::invalid,
                 "the join of " + item_text(join.a) + " and " + item_text(join.b) + ": its distance is too large",
                 {}};
  if (join.a < join.b) return Join{join.a, join.b, Bytes(join.distance)};
  return Join{join.b, join.a, Bytes(-join.distance)};
}

template <class T>
void sort_unique(std::vector<T>& values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
}

Status add_pairs(const stowage_pack_input& input, Problem& problem) {
  for (std::size_t k = 0; k < input.join_count; ++k) {
    STOWAGE_TRY(const Join join, join_of(input.joins[k], input.count));
    problem.joins.push_back(join);
  }
  for (std::size_t k = 0; k < input.apart_count; ++k) {
    const stowage_pair& pair = input.apart[k];
    STOWAGE_TRY_STATUS(check_pair(pair.a, pair.b, input.count, "the pair"));
    problem.apart.push_back({std::min(pair.a, pair.b), std::max(pair.a, pair.b)});
  }
  sort_unique(problem.joins);
  sort_unique(problem.apart);
  return Done{};
}

Result<Problem> problem_of(const stowage_pack_input& input) {
  STOWAGE_TRY_STATUS(check_lists(input));
  if (input.count >= std::numeric_limits<std::uint32_t>::max())
    return Error{ErrorCode::invalid, "there are more items than 32 bits can count", {}};
  Problem problem;
  problem.items.reserve(input.count);
  for (std::size_t k = 0; k < input.count; ++k) {
    const Bytes size(input.size[k]);
    Item item{.pieces = {{{Step(input.lower[k]), Step(input.upper[k])}, {Bytes(0), size}}}, .size = size};
    if (input.alignment) item.alignment = Bytes(input.alignment[k]);
    if (input.fixed && input.fixed[k] != -1) item.pinned = Bytes(input.fixed[k]);
    problem.items.push_back(std::move(item));
  }
  STOWAGE_TRY_STATUS(add_pairs(input, problem));
  return problem;
}

SolveOptions solve_options(const stowage_pack_options& options, std::stop_source& stop) {
  SolveOptions result{.solver = text_or(options.solver, "auto"),
                      .deadline = deadline_after(options.time_limit),
                      .threads = std::max(1U, options.threads),
                      .seed = options.seed,
                      .stop = stop.get_token()};
  if (options.node_budget > 0) result.node_budget = options.node_budget;
  if (options.on_better) {
    result.on_better = [&options, &stop](const SolveOutcome& better) {
      if (options.on_better(options.user, "items", better.peak.value(), better.bound.bytes.value()) != 0)
        stop.request_stop();
    };
  }
  return result;
}

void write_offsets(const SolveOutcome& outcome, std::size_t count, std::int64_t* offsets) {
  const bool known = outcome.positions.size() == count && outcome.status != SolveStatus::infeasible;
  for (std::size_t k = 0; k < count; ++k) offsets[k] = known ? outcome.positions[k].offset.value() : -1;
}

stowage_pack_result result_of(const SolveOutcome& outcome) {
  stowage_pack_result result{};
  result.outcome = static_cast<stowage_outcome>(outcome.status);
  result.peak = outcome.peak.value();
  result.lower_bound = outcome.bound.bytes.value();
  result.proven = outcome.has_answer() && outcome.peak == outcome.bound.bytes ? 1 : 0;
  result.nodes = outcome.nodes;
  return result;
}

Status pack(const stowage_pack_input* given, const stowage_pack_options* given_options, std::int64_t* offsets,
            stowage_pack_result* result) {
  if (!given) return null_argument("input");
  STOWAGE_TRY(const stowage_pack_input input, read_struct(given, "stowage_pack_input"));
  STOWAGE_TRY(const stowage_pack_options options, read_struct(given_options, "stowage_pack_options"));
  if (input.count > 0 && !offsets) return null_argument("offsets");
  STOWAGE_TRY(Problem problem, problem_of(input));
  if (options.capacity < 0) return Error{ErrorCode::invalid, "the capacity is negative", {}};
  if (options.capacity > 0) problem.capacity = Bytes(options.capacity);
  std::stop_source stop;
  STOWAGE_TRY(const SolveOutcome outcome, solve(problem, solve_options(options, stop)));
  write_offsets(outcome, input.count, offsets);
  if (result) write_struct(result, result_of(outcome));
  return Done{};
}

/// Says what was wrong in a result whose size is known.
stowage_code fail(stowage_pack_result* result, stowage_code code, const char* message) {
  if (!result) return code;
  stowage_pack_result failed{};
  failed.outcome = STOWAGE_TIMED_OUT;
  std::snprintf(failed.message, sizeof(failed.message), "%s", message);
  write_struct(result, failed);
  return code;
}

}  // namespace
}  // namespace stowage::c

extern "C" stowage_code stowage_pack(const stowage_pack_input* input, const stowage_pack_options* options,
                                     int64_t* offsets, stowage_pack_result* result) {
  using namespace stowage::c;
  if (result && result->struct_size < sizeof(size_t)) return STOWAGE_INVALID;  // nowhere to say more
  try {
    const stowage::detail::CheckGuard guard;
    const stowage::Status status = pack(input, options, offsets, result);
    if (status) return STOWAGE_OK;
    return fail(result, code_of(status.error().code), to_string(status.error()).c_str());
  } catch (const std::bad_alloc&) {
    return fail(result, STOWAGE_OUT_OF_MEMORY, "there is not enough memory for packing");
  } catch (const std::exception& exception) {
    return fail(result, STOWAGE_INTERNAL, exception.what());
  } catch (...) {
    return fail(result, STOWAGE_INTERNAL, "an exception of an unknown type");
  }
}
