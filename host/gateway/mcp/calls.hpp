// Calls of tools that are under way, and what is told of them meanwhile.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "core/adapter/read_dialogue.hpp"
#include "host/http/http_types.hpp"

namespace krux::mcp {

/// By the session and the id under which their client may take them back. Any thread.
class Calls {
 public:
  /// Until what is returned goes. `give_up` runs once at most.
  std::shared_ptr<void> add(const std::string& session, std::string_view id_json, std::function<void()> give_up);
  /// Nothing where there is no such call (any more).
  void cancel(const std::string& session, std::string_view id_json);

 private:
  struct State {
    std::mutex mutex;
    std::uint64_t next = 0;
    struct Entry {
      std::uint64_t number;
      std::function<void()> give_up;
    };
    std::map<std::string, Entry> by_id;
  };
  const std::shared_ptr<State> state_ = std::make_shared<State>();
};

/// The answer to one call as server-sent events: what is told meanwhile, then the answer. Any thread.
class CallEvents : public std::enable_shared_from_this<CallEvents> {
 public:
  virtual ~CallEvents() = default;
  /// As ServerResponse::stream. `gone` runs once when the client goes before the end, also before it was opened.
  virtual std::function<void(std::shared_ptr<ResponseStream>)> opening(std::function<void()> gone) = 0;
  /// False: nobody reads it any more.
  virtual bool tell(std::string_view message) = 0;
  /// `answer` is empty where nobody wants one any more.
  virtual void end(std::string_view answer) = 0;
};

/// One event of it.
std::string event_text(std::string_view message);

/// Over one connection, with which it ends.
class PassingEvents final : public CallEvents {
 public:
  std::function<void(std::shared_ptr<ResponseStream>)> opening(std::function<void()> gone) override;
  bool tell(std::string_view message) override;
  void end(std::string_view answer) override;

 private:
  void open(std::shared_ptr<ResponseStream> stream, std::function<void()> gone);

  std::mutex mutex_;  ///< over what follows
  std::string waiting_;
  bool ended_ = false;
  std::shared_ptr<ResponseStream> stream_;
};

/// notifications/progress, one after the other. Any thread.
class Progress {
 public:
  /// `token_json`: as the client has given it; `tell`: where to.
  Progress(std::string token_json, std::function<void(std::string_view)> tell)
      : token_json_(std::move(token_json)), tell_(std::move(tell)) {}
  void operator()(std::string_view message);
  /// In a unit of the call's own; what is not more than before is not told.
  void at(const ReadProgress& how_far);

 private:
  void tell(double done, std::string_view more);

  const std::string token_json_;
  const std::function<void(std::string_view)> tell_;
  std::mutex mutex_;  ///< what is told stands in order
  double told_ = 0;   ///< how far, at last
  bool any_ = false;
};

}  // namespace krux::mcp
