// How many uploads arrive at a time, and how much of one agent: slow ones must not hold every connection and the disk.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <variant>

#include "host/http/http_types.hpp"

namespace krux {

/// Any thread. Places may be given back after its end.
class UploadPlaces {
 public:
  UploadPlaces(std::size_t of_agent, std::size_t of_all);

  /// A place for an upload of at most `bytes`, or a sentence that says why there is none now. `room`, of the agent for
  /// all that arrives, is asked where another upload of it is under way; a single one is judged when it is there, since
  /// it may be one that the agent has already. What `room` throws is passed on.
  std::variant<std::shared_ptr<BodyRoom>, std::string> take(const std::string& agent_id, std::int64_t bytes,
                                                            const std::function<std::int64_t()>& room);

 private:
  struct State;
  const std::size_t of_agent_, of_all_;
  const std::shared_ptr<State> state_;
};

}  // namespace krux
