// Requests of the host to clients that have a session, and their answers.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <variant>
#include <vector>

#include "core/util/clock.hpp"
#include "core/util/error.hpp"

namespace krux::mcp {

/// What a client answers to each, as JSON, under the names that they were asked under.
using ClientAnswers = std::map<std::string, std::string>;

/// Any thread.
class ClientQuestions {
 public:
  static constexpr std::int64_t kPatienceMs = 300'000;  ///< a person has to read, and may have to look something up
  static constexpr std::size_t kPerAgent = 16;          ///< that wait at a time

  explicit ClientQuestions(Clock& clock);
  ~ClientQuestions();
  ClientQuestions(const ClientQuestions&) = delete;
  ClientQuestions& operator=(const ClientQuestions&) = delete;

  struct Asked {
    std::string agent_id, session;
    struct Request {
      std::string name, method_and_params;  ///< "method":...,"params":...
    };
    std::vector<Request> requests;
    std::function<bool(std::string_view message)> send;  ///< false: nobody reads any more
    /// Why it must not be asked (any more).
    std::function<std::optional<Error>()> why_not;
    /// Once, on any thread: all the answers, or why there are none.
    std::function<void(std::variant<ClientAnswers, Error>)> done;
  };
  using Number = std::uint64_t;
  /// Sends them. 0: `done` has run already.
  Number ask(Asked asked);
  /// What may be asked has changed: what must not be any more is withdrawn.
  void look_again();
  /// Nobody needs the answers any more: the client is told why, and `done` never runs.
  void drop(Number number, std::string_view why);

  /// A client's message that answers one. `error`: its refusal, one JSON object; empty: `result` is its answer. What
  /// was not asked in this session is passed over.
  void answered(const std::string& agent_id, const std::string& session, std::string_view id_json,
                std::string_view result, std::string_view error);
  /// The session has ended.
  void session_ended(const std::string& session);
  /// Nothing is asked any more; what waits is dropped. Once nothing else is called any more.
  void end();

 private:
  struct State;
  const std::shared_ptr<State> state_;  ///< shared with the thread that looks at the time
};

}  // namespace krux::mcp
