// Writing to Slack, looking whether it happened, and undoing it.
//
// A message carries its write's id in Slack's message metadata, by which it is found again. Reactions have no marker:
// their state is compared.
#pragma once

#include <kruxos/adapter.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api_client.hpp"

namespace slack {

class Writer {
 public:
  /// `scopes`: granted ones; nothing when they are not known.
  Writer(const ApiClient& api, std::optional<std::vector<std::string>> scopes)
      : api_(api), scopes_(std::move(scopes)) {}

  std::string execute(const kruxos::Call& call, const kruxos::BufferedWrite& write) const;
  kruxos::EffectFound find_effect(const kruxos::Call& call, const kruxos::BufferedWrite& write) const;

  static bool supports_rollback(std::string_view operation);
  std::string rollback(const kruxos::Call& call, const kruxos::RollbackRequest& request) const;
  kruxos::EffectFound find_rollback(const kruxos::Call& call, const kruxos::RollbackRequest& request) const;

 private:
  std::string post(const kruxos::Call& call, const kruxos::BufferedWrite& write, const Json& params) const;
  std::string react(const kruxos::Call& call, const kruxos::BufferedWrite& write, const Json& params, bool add) const;
  kruxos::EffectFound look(const kruxos::Call& call, const kruxos::BufferedWrite& write) const;
  kruxos::EffectFound find_message(const kruxos::Call& call, const kruxos::BufferedWrite& write,
                                   const Json& params) const;
  static Params look_from(const kruxos::Call& call, const kruxos::BufferedWrite& write, const Json& params,
                          std::int64_t service_ms);
  /// Whether the token's own user has that reaction; nothing when it cannot be told.
  std::optional<bool> has_reacted(const kruxos::Call& call, const Json& params) const;
  struct Present {
    bool edited = false;
  };
  /// The message that a write posted as it stands at Slack now; nothing when it is not there. What it throws certainly
  /// changed nothing.
  std::optional<Present> present_message(const kruxos::Call& call, const Json& params, const Json& result) const;
  static std::optional<Present> present_in(const Json& messages, std::string_view ts);
  std::string delete_message(const kruxos::Call& call, const Json& result) const;
  std::string remove_reaction(const kruxos::Call& call, const Json& params) const;
  /// False where the granted scopes are not known.
  bool has_scope(std::string_view scope) const;

  const ApiClient& api_;
  const std::optional<std::vector<std::string>> scopes_;
};

}  // namespace slack
