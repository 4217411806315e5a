// The operator's page on this machine: what waits, one write whole, and decisions. docs/approvals.md
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "core/state/operator_secret.hpp"
#include "core/write/write.hpp"
#include "host/http/http_types.hpp"
#include "host/http/worker_pool.hpp"
#include "host/operator/operator_api.hpp"
#include "host/web/page_frame.hpp"
#include "host/web/web_changes.hpp"
#include "host/web/web_sessions.hpp"

namespace krux::web {

/// Any thread. What it is given must outlive it.
class WebPage {
 public:
  struct Parts {
    OperatorApi& api;
    OperatorSecret& secret;
    Clock& clock;
    SittingLimits sessions;
  };
  explicit WebPage(Parts parts);
  /// Waits for what runs. Stop the HttpServer first.
  ~WebPage();

  /// For HttpServer::listen_tcp(), on the loopback.
  Handler handler();
  Admission admission();
  std::function<void(const WriteRecord&)> on_write_changed();
  /// Ends the events that open pages wait for: before the server is stopped.
  void stop() { changes_.stop(); }

 private:
  struct Asked;
  void take(ServerRequest request, const Respond& respond);
  /// Why a request is no page's of this host; nothing: it may come in.
  std::optional<ServerResponse> refuse(const ServerRequest& head);
  ServerResponse answered(const std::function<ServerResponse()>& work, const PagePlace& place) const;
  ServerResponse sign_in(ServerRequest& request);
  ServerResponse in_session(const Asked& asked, const ServerRequest& request);
  ServerResponse decide_on(const Asked& asked, const WebSessions::Session& session, const ServerRequest& request);
  ServerResponse events(const WebSessions::Keys& keys);

  const Parts parts_;
  WebSessions sessions_;
  WebChanges changes_;
  WorkerPool pool_;
};

/// What stands where nobody has signed in. `next`: where to then, "/writes/w_1" or empty. `operators`: how many there
/// are; of several a name is asked.
ServerResponse sign_in_page(int status, const Notice& notice, const std::string& next, std::size_t operators);
/// The form's passphrase, taken out of `body` and wiped there; nothing where there is none.
std::optional<Secret> take_passphrase(std::string& body);
/// "/writes/w_1", where `text` is that of one; else empty.
std::string next_of(const std::string& text);

}  // namespace krux::web
