#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "verify/demand.hpp"
#include "verify/findings.hpp"

namespace stowage::verification {

/// A step of the program, as far as the order of streams is concerned. Streams are numbered.
struct Act {
  enum class Kind : std::uint8_t {
    enter,   ///< The body begins.
    start,   ///< The first step of an actor.
    finish,  ///< Its last step.
    record,
    wait,
    leave,  ///< The body ends: everything in it must be over.
  };
  Kind kind;
  std::uint32_t stream;
  std::uint32_t subject;  ///< An actor or an event.
  std::uint32_t step;     ///< Of the program; for messages.
};

/// Where actors and events are on their streams. Shared by the scopes of a run, which have none in common.
struct Positions {
  Positions(std::size_t actors, std::size_t events) : of(actors), stream(actors), event_at(events) {}

  std::vector<std::uint32_t> of;      ///< By actor: on its stream in its scope, from 1; 0: not over yet.
  std::vector<std::uint32_t> stream;  ///< By actor.
  std::vector<std::size_t> event_at;  ///< By event: where its clock begins in its scope's list.
};

/// Judges the synchronisation of one scope in the runs of one batch: whether the streams and the events alone put
/// everything in the order in which it must be, and whether each wait and each record is needed for that.
///
/// Forward vector clocks: for each stream, how many of the actors of each other stream it knows to be over. An event
/// has a copy of the clock at its record; a wait merges it.
///
/// Needed: without the wait, something would be out of order. Usually that is the actor right behind it, which can be
/// told on the way (of the waits in front of an actor, each must bring something that the actor needs and that none of
/// the others brings). Any other wait, one that is made earlier than necessary, is left out for a try: O(acts ×
/// streams) each, as the whole is otherwise.
class Sync {
 public:
  Sync(const Demand& demand, std::size_t streams, Positions& positions)
      : demand_(demand), streams_(streams), positions_(positions) {}

  /// In the order of the program. An event is recorded once, and before it is waited for.
  void add(Act act) { acts_.push_back(act); }

  struct Reports {
    std::function<void(const Act& late, std::optional<ActorId> early)>
        unordered;  ///< Without an actor: the whole body.
    std::function<void(const Act& wait)> needless;
  };
  void judge(const Reports& reports);

 private:
  static constexpr std::size_t kAll = ~std::size_t{0};

  using Clock = std::uint32_t;
  /// A position of a stream that must be known.
  struct Need {
    std::uint32_t stream;
    Clock position;
  };

  /// Runs the acts, except for one. Returns whether everything is in order; reports only with `reports`.
  bool run(std::size_t without, const Reports* reports);
  void reset();
  bool check(const Act& act, const Reports* reports);
  void list_needs(const Act& act);
  void wait(std::size_t at);
  void settle(std::uint32_t stream, bool needed_here, const Reports& reports);
  void check_records(const Reports& reports) const;
  [[nodiscard]] Clock* row(std::uint32_t stream) { return &rows_[stream * streams_]; }
  [[nodiscard]] const Clock* event(std::uint32_t event) const { return &event_rows_[positions_.event_at[event]]; }

  const Demand& demand_;
  std::size_t streams_;
  Positions& positions_;
  std::vector<Act> acts_;

  std::vector<Clock> rows_;                  ///< Row-major, stream × stream.
  std::vector<Clock> event_rows_;            ///< The clocks of the events that were recorded.
  std::optional<std::uint32_t> entered_on_;  ///< The stream of the op that has the body.

  std::vector<Need> needs_;  ///< Of the current act.
  bool judging_ = false;
  std::vector<std::vector<std::size_t>> pending_;  ///< By stream: waits since its last other act.
  std::vector<std::vector<Clock>> base_;           ///< By stream: its clock in front of them.
  std::vector<std::size_t> doubtful_;              ///< Waits to be left out for a try.
};

}  // namespace stowage::verification
