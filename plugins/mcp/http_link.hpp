// An upstream server that is asked by Streamable HTTP, through the host.
#pragma once
#include <atomic>
#include <memory>
#include <mutex>
#include <string>

#include "link.hpp"
#include "messages.hpp"

namespace mcp {

class HttpLink final : public Link {
 public:
  /// `path`: of the server's one endpoint, relative to the account's address.
  HttpLink(kruxos::HttpClient http, std::string path) : http_(http), path_(std::move(path)) {}

  std::string ask(const kruxos::Call& call, const Request& request) override;
  std::uint64_t tools_version() const override { return tools_version_; }
  std::uint64_t sessions() const override { return sessions_; }

 private:
  struct Session {
    Agreed agreed;
    std::string id;  ///< empty: the server keeps none
  };
  using SessionPtr = std::shared_ptr<const Session>;
  struct Said;

  SessionPtr session(const kruxos::Call& call);
  void drop(const SessionPtr& lost);
  Said post(const kruxos::Call& call, const Session& session, std::int64_t id, const Request& request,
            std::string body);
  std::optional<Answer> take(std::int64_t id, const Said& said);
  std::string answer_to(const kruxos::Call& call, const SessionPtr& session, const Request& request);

  const kruxos::HttpClient http_;
  const std::string path_;
  std::atomic<std::int64_t> last_id_{0};
  std::atomic<std::uint64_t> tools_version_{0}, sessions_{0};
  std::atomic<bool> ends_no_stream_{false};  ///< an answer came, and its stream went on until its time was over
  std::mutex mutex_;
  SessionPtr session_;
};

}  // namespace mcp
