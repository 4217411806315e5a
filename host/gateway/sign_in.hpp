// The authorization server of /mcp, for hosts that cannot send a fixed key. Internal to the gateway. docs/sign-in.md
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "core/sign_in/client_documents.hpp"
#include "core/sign_in/sign_in_store.hpp"
#include "host/gateway/agent_gateway.hpp"
#include "host/gateway/document_fetches.hpp"
#include "host/gateway/failed_tries.hpp"
#include "host/gateway/form_values.hpp"
#include "host/http/http_types.hpp"
#include "host/http/worker_pool.hpp"

namespace krux {

inline constexpr std::string_view kTokenPath = "/token", kRevokePath = "/revoke", kSignInScope = "mcp",
                                  kPages = "/authorize/";

/// Any thread. What it answers on an event loop is from memory; what waits for the disk or another server runs on
/// threads of its own.
class SignIn {
 public:
  SignIn(const SignInParts& parts, Clock& clock);
  SignIn(const SignIn&) = delete;
  SignIn& operator=(const SignIn&) = delete;

  /// "https://kruxos.example": before the first request.
  void set_origin(const std::string& origin);
  const std::string& origin() const { return origin_; }

  static bool serves(std::string_view path);
  /// Whether programs ask for it, and not a person's browser.
  static bool is_for_programs(std::string_view path);
  /// Before the body comes: why a request is not for here.
  static std::optional<ServerResponse> refuse(const ServerRequest& head);
  void handle(ServerRequest request, const Respond& respond);

  std::optional<TokenOwner> owner_of(std::string_view access_token) {
    return store_.authenticate(access_token, resource_);
  }
  enum class Shown { kNothing, kToken, kKey };
  /// 401 of /mcp: where to sign in, and why what was shown is good for nothing.
  ServerResponse challenge(Shown shown) const;

 private:
  enum class For { kPerson, kClient };
  using Work = std::function<ServerResponse()>;
  /// Answers with what `work` returns, or with what it throws.
  void run(WorkerPool& pool, For whom, const Respond& respond, Work work);
  static ServerResponse answered(For whom, const Work& work);
  /// Counts what anybody may begin. False: it is too much.
  bool may_begin(const Peer& peer);

  ServerResponse resource_metadata() const;
  ServerResponse server_metadata() const;
  ServerResponse register_client(const ServerRequest& request);

  void authorize(const ServerRequest& request, const Respond& respond);
  /// On this thread where it is in memory.
  void find_client(const std::string& client_id, const std::string& peer, DocumentFetches::Fetched found,
                   const Respond& respond);
  ServerResponse begin(const FormValues& query, const std::string& peer, const SignInClient& client);
  std::optional<SignInRefused> why_not(const FormValues& query) const;
  bool is_ours(const std::string& resource) const;
  /// Of the browser that began it, alone.
  ServerResponse page(const ServerRequest& load);
  /// Back to the client: `error` with its description, or else a code.
  std::string way_back(const std::string& redirect_uri, const std::optional<std::string>& state,
                       const SignInRefused* error, const std::string& code) const;

  void token(const ServerRequest& request, const Respond& respond);
  ServerResponse tokens_for(const FormValues& form);
  SignInTokens issue(const FormValues& form);
  ServerResponse revoke(const FormValues& form);
  /// The code or token that the form has is not its client's, if there is such a client.
  ServerResponse not_his(const FormValues& form, const SignInRefused& why) const;

  SignInStore& store_;
  ClientDocuments& documents_;
  std::string origin_, resource_;
  FailedTries begun_, begun_by_all_;
  // The last members: their threads use the others.
  WorkerPool storing_;
  DocumentFetches fetches_;  ///< which go on with `storing_`
};

/// {"error": …, "error_description": …}, with what RFC 6749 lets stand in the latter.
ServerResponse oauth_error(int status, std::string_view error, std::string_view description);

}  // namespace krux
