#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "stowage/alloc/run.hpp"
#include "support/judges/program_run/work.hpp"
#include "support/judges/shadow/reference.hpp"
#include "support/judges/shadow/schedule.hpp"

namespace stowage::testing {

/// The unplanned run: every family of tensors has bytes of its own, and ops run one after another in the order of the
/// graph. It goes as far as the run that it is compared with has submitted, so that it can say what each op must read.
class Lockstep {
 public:
  explicit Lockstep(const Graph& graph);

  /// Which body each branch runs, how often loops repeat, and which batch runs. Values of the last run are lost, except
  /// for those with an address of their own.
  void begin_run(RunChoice choice);

  /// An op without bodies. Returns its work at the addresses of the call, and what its number must be. A packed concat
  /// or split only reads what is to be in place already.
  struct Expected {
    OpWork work;
    std::uint64_t number = 0;
    std::vector<std::pair<OpId, std::size_t>> after = {};  ///< Ops, and how often they must have been done.
  };
  [[nodiscard]] Expected run(const OpCall& call);
  /// The body that a branch runs.
  [[nodiscard]] std::size_t choose(OpId op);
  /// Whether a loop makes another iteration after so many.
  [[nodiscard]] bool repeat(OpId op, std::uint64_t iteration);
  /// The work of an op with bodies when it is asked about: it reads its inputs. To be called after `choose` or
  /// `repeat`.
  [[nodiscard]] Expected enter_work(const OpCall& call, std::uint64_t iteration);
  /// What lies then in the inputs of such an op, by position.
  struct Seen {
    std::size_t input = 0;
    TensorId tensor;
    Reference::Value right;
  };
  [[nodiscard]] std::vector<Seen> seen_by(const OpCall& call, std::uint64_t iteration);
  /// Ops that the other run never came to. To be called at its end.
  void finish();

  /// Ops write the tensor, but none that runs with this batch, and nobody gave it before the run: nobody reads it.
  [[nodiscard]] bool is_absent(TensorId tensor) const { return absent_[tensor.index()]; }
  [[nodiscard]] Reference& reference() { return reference_; }
  [[nodiscard]] std::span<const std::byte> bytes(TensorId tensor) const { return reference_.bytes(tensor); }
  [[nodiscard]] const std::vector<std::string>& findings() const { return findings_; }
  /// What must have been done when copies at the end of a body are made, if that is now: ops, and how often.
  [[nodiscard]] std::vector<std::pair<OpId, std::size_t>> work_in(ScopeId body) const;
  /// Of the plan. Workspaces have theirs.
  Padding padding = Padding::none;

 private:
  void find_absent();
  [[nodiscard]] Expected begin(const OpCall& call);
  [[nodiscard]] bool advance_to(OpId op, Event::Phase phase);
  void handle(const Event& event);
  void enter(ScopeId scope);
  void enter_loop(const Scope& scope);
  void leave(ScopeId scope);
  void leave_loop(const Scope& scope);
  void move_packed(const Op& op);
  void find(std::string finding) { findings_.push_back(std::move(finding)); }

  [[nodiscard]] std::optional<TensorId> value_of(OpId op, std::size_t input, std::uint64_t iteration) const;
  void add_value(TensorId tensor, std::byte* address, std::uint64_t salt, Expected& expected);
  void add_reads(const OpCall& call, Expected& expected);
  void add_workspaces(const OpCall& call, Expected& expected);
  void add_read(const OpWork::Part& part, std::span<const std::byte> right, Expected& expected);
  void check_group(const OpCall& call, bool inputs);
  void check_addresses(const OpCall& call);
  [[nodiscard]] std::vector<std::pair<OpId, std::size_t>> requirements(OpId op) const;
  void require(OpId op, std::vector<std::pair<OpId, std::size_t>>& list) const;

  const Graph& graph_;
  Reference reference_;
  std::vector<bool> packed_;  ///< By op.
  RunChoice choice_;
  std::vector<bool> absent_;  ///< By tensor.
  std::vector<Event> events_;
  std::size_t next_ = 0;
  std::vector<std::vector<std::size_t>> waits_;  ///< By op.
  std::vector<std::size_t> done_;                ///< By op: how often it was run.
  std::map<ScopeId, std::vector<std::pair<OpId, std::size_t>>> entered_after_;
  std::map<std::pair<OpId, std::size_t>, std::vector<std::byte>> sessions_;  ///< Content of workspaces.
  std::map<std::string, std::byte*> fixed_;                                  ///< Addresses that may not change.
  std::uint64_t time_ = 0;
  std::vector<std::string> findings_;
};

}  // namespace stowage::testing
