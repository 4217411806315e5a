// Answers by events that their client may go on with over another connection.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "core/util/clock.hpp"
#include "host/gateway/mcp/calls.hpp"
#include "host/gateway/numbered_events.hpp"
#include "host/http/http_types.hpp"

namespace krux::mcp {

/// One answer: its events have numbers, begin with one that says nothing, and stay until the answer is forgotten. That
/// its connection ends means nothing. Any thread.
class KeptEvents final : public CallEvents {
 public:
  static constexpr std::size_t kMostBytes = 256 << 10;    ///< of what is kept; the oldest goes first
  static constexpr std::size_t kLargestKept = 512 << 10;  ///< answer; a larger one goes to who is there, or to nobody

  /// `begun` runs when it is first opened.
  KeptEvents(std::string id, std::function<void(std::shared_ptr<KeptEvents>)> begun)
      : id_(std::move(id)), begun_(std::move(begun)) {}

  std::function<void(std::shared_ptr<ResponseStream>)> opening(std::function<void()> gone) override;
  bool tell(std::string_view message) override;
  void end(std::string_view answer) override;

  /// Behind the event of that number; in the place of the connection that it had.
  void go_on(std::shared_ptr<ResponseStream> stream, std::uint64_t number);
  const std::string& id() const { return id_; }
  bool has_ended() const;
  /// Its answer was too large to be kept.
  bool is_lost() const;
  /// Nobody may hear it (any more): it ends at once, and nothing of it is kept.
  void cut();

 private:
  void open(const std::shared_ptr<ResponseStream>& stream, std::uint64_t number, bool first);
  std::string add(std::string_view message);
  std::string behind(std::uint64_t number) const;

  const std::string id_;
  const std::function<void(std::shared_ptr<KeptEvents>)> begun_;
  mutable std::mutex mutex_;  ///< over what follows
  NumberedEvents kept_{kMostBytes};
  bool ended_ = false, lost_ = false;
  std::shared_ptr<ResponseStream> stream_;
};

/// Those that can be gone on with. Any thread.
class KeptAnswers {
 public:
  static constexpr std::int64_t kKeptMs = 60'000;  ///< behind the answer
  static constexpr std::size_t kPerAgent = 8;      ///< one more, and its oldest is forgotten

  explicit KeptAnswers(const Clock& clock) : state_(std::make_shared<State>(clock)) {}

  /// Who hears an answer, and whether he still may.
  struct Hearer {
    std::string agent_id, session;
    std::function<bool()> goes_on;
  };
  /// For a call of his.
  std::shared_ptr<CallEvents> make(const Hearer& hearer);
  /// As ServerResponse::stream, behind the event that the client has heard last. Nothing: it is none of an answer that
  /// is kept for this agent and session.
  std::function<void(std::shared_ptr<ResponseStream>)> behind(const Hearer& hearer, std::string_view last_event);
  /// Of whoever may hear no more.
  void end_those_without_leave();
  /// What was kept for that session is forgotten.
  void end(const std::string& session);
  /// Whether `last_event` is one of an answer's, kept or not.
  static bool names_answer(std::string_view last_event);

 private:
  struct Kept {
    Hearer hearer;  ///< who has opened it last
    std::shared_ptr<KeptEvents> events;
    std::optional<std::int64_t> until_boot_ms;  ///< nothing: it goes on
  };
  struct State {
    explicit State(const Clock& c) : clock(c) {}
    void forget(std::list<Kept>& gone);
    const Clock& clock;
    std::mutex mutex;
    std::list<Kept> all;  ///< the oldest first
  };
  static void keep(State& state, Kept one);

  const std::shared_ptr<State> state_;  ///< shared with answers
};

}  // namespace krux::mcp
