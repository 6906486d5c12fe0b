#include "support/judges/shadow/addresses.hpp"

#include "support/judges/shadow/hash.hpp"

namespace stowage::testing {

void Addresses::begin_run(Layout& layout, std::size_t run) {
  bases_.resize(layout.spaces.size());
  for (std::size_t i = 0; i < layout.spaces.size(); ++i) {
    const Space& space = layout.spaces[i];
    const bool moves =
        space.kind == Space::Kind::caller || (space.kind == Space::Kind::shared && base_ == AddressBase::refreshable);
    bases_[i] = (std::uint64_t{i} + 1) << 46;
    if (!moves) continue;
    const std::uint64_t draw = mix(mix(seed_, 6), mix(run, i)) % 16;
    const bool callers = space.kind == Space::Kind::caller;
    bases_[i] +=
        callers ? (2 * draw + 1) * static_cast<std::uint64_t>(space.alignment.value()) : std::uint64_t{run % 31} << 41;
    // Not the poison of outputs, so that a finding tells them apart.
    if (run != 0) layout.memory.fill_space(i, static_cast<std::byte>(0x80 + run % 64));
  }
}

void Addresses::check(const Plan& plan, const Layout& layout, std::vector<std::string>& findings) const {
  std::vector<UserBuffer> buffers;
  for (std::size_t i = 0; i < layout.spaces.size(); ++i) {
    const Space& space = layout.spaces[i];
    if (space.kind == Space::Kind::caller) buffers.push_back({*space.binding, bases_[i], space.size});
  }
  if (const Status status = check_bindings(plan, buffers); !status) findings.push_back(status.error().message);
}

}  // namespace stowage::testing
