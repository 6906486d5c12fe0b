#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "verify/demand.hpp"
#include "verify/findings.hpp"

namespace stowage::verification {

/// A step of the program, as far as the order of streams is concerned, or a moment between steps. Streams are numbered.
struct Act {
  enum class Kind : std::uint8_t {
    start,   ///< The first step of an actor.
    finish,  ///< Its last step.
    record,
    wait,
    open,   ///< The bodies of an op follow.
    enter,  ///< One of them begins.
    join,   ///< The stream of the op must know that everything in the body is over.
    copy,   ///< Copies are made there, on that stream.
    leave,  ///< The body ends.
    close,  ///< The op's last body has ended.
  };
  Kind kind;
  std::uint32_t stream;             ///< Of the step; of the op that has the bodies.
  std::uint32_t subject;            ///< An actor, an event, or a body.
  std::uint32_t step = 0;           ///< Of the program; for messages.
  Control control = Control::none;  ///< Of an op that is opened.
  bool works = false;               ///< It may do something besides its bodies: copies, or what finds out the answer.
};

/// Judges the synchronisation of the runs of one batch: whether the streams and the events alone put everything in the
/// order in which it must be, whatever bodies are chosen, and whether each wait and each record is needed for that.
///
/// Forward vector clocks: each stream has a view, which says up to which moment it knows each other stream to be over.
/// An event has a copy of the view at its record; a wait merges it. Moments are numbered in the order of the program.
///
/// **Bodies.** Each body begins with the views in front of its op. Behind the op, a view is what all bodies end with
/// (of a loop, also what it begins with, as there may be no iteration; all iterations but the first know more). What a
/// body does on one stream is a *share*. A view has those that are over if that body ran, whatever is known of others.
/// An op that has one body, and does nothing besides it, is no actor: its body, and who comes after the op, come after
/// what the op comes after.
///
/// Needed: without the wait, something would be out of order. Usually that is the actor right behind it, which can be
/// told on the way. Any other wait is left out for a try: O(acts × streams) each, as the whole is otherwise.
class Sync {
 public:
  Sync(const Demand& demand, std::size_t streams) : demand_(demand), streams_(streams) {}

  /// In the order of the program. An event is recorded once, and before it is waited for.
  void add(Act act) { acts_.push_back(act); }

  struct Reports {
    /// Without an actor: the op that has the body, or, of a `join`, the body.
    std::function<void(const Act& late, std::optional<ActorId> early)> unordered;
    std::function<void(const Act& wait)> needless;
  };
  void judge(const Reports& reports);

 private:
  static constexpr std::size_t kAll = ~std::size_t{0};

  using Moment = std::uint32_t;
  using Share = std::pair<std::uint32_t, std::uint32_t>;  ///< A body, and a stream.
  struct View {
    std::vector<Moment> over;  ///< By stream.
    std::set<Share> shares;
  };
  using Views = std::vector<View>;  ///< By stream.

  /// A body or the root, and what happens directly in it.
  struct Frame {
    std::optional<ActorId> owner;  ///< The op that has the body.
    std::uint32_t body = 0;
    std::vector<Moment> last;    ///< By stream.
    std::vector<ActorId> inner;  ///< Ops with bodies.
  };
  struct BodyEnd {
    Frame frame;
    std::vector<Moment> last;  ///< By stream: the last moment in it, or 0.
    Views views;
  };
  struct Opened {
    Act act;
    std::optional<ActorId> outer;  ///< The op in whose body it is.
    Views before;
    std::vector<BodyEnd> ends;
  };

  /// Runs the acts, except for one. Returns whether everything is in order; reports only with `reports`.
  bool run(std::size_t without, const Reports* reports);
  void reset();
  void take(const Act& act);
  void finish(const Act& act);
  void open(const Act& act);
  void enter(const Act& act);
  void leave();
  void close();
  [[nodiscard]] View view_behind(const Opened& op, std::uint32_t stream) const;
  void tick(std::uint32_t stream);

  /// Whether an act may happen where only this is known. Reports what is not, if there is something to report to.
  bool allows(const View& view, const Act& act, const Reports* reports) const;
  [[nodiscard]] bool is_over(const View& view, ActorId actor) const;
  [[nodiscard]] static bool is_over(const View& view, const BodyEnd& end, std::uint32_t stream);
  [[nodiscard]] bool is_over(const View& view, const Frame& frame, std::uint32_t stream) const;
  [[nodiscard]] bool is_entered(const View& view, ActorId owner) const;
  static void merge(View& view, const View& other);
  [[nodiscard]] static bool covers(const View& view, const View& other);

  void wait(std::size_t at);
  void settle(std::uint32_t stream, const Act* behind, const Reports& reports);
  void settle_all(const Reports& reports);
  void check_records(const Reports& reports) const;

  const Demand& demand_;
  std::size_t streams_;
  std::vector<Act> acts_;

  Moment now_ = 0;
  Views views_;
  std::vector<Frame> frames_;  ///< From the root inwards.
  std::vector<ActorId> open_;  ///< Ops whose bodies are being read, from outside inwards.
  std::map<ActorId, Opened> opened_;
  std::vector<Moment> at_;                ///< By actor: its moment; 0: not yet.
  std::vector<std::uint32_t> stream_of_;  ///< By actor.
  std::vector<View> events_;

  bool judging_ = false;
  std::vector<std::vector<std::size_t>> pending_;  ///< By stream: waits since its last other act.
  std::vector<View> base_;                         ///< By stream: its view in front of them.
  std::vector<std::size_t> doubtful_;              ///< Waits to be left out for a try.
};

}  // namespace stowage::verification
