// Connecting an account in the browser, and what becomes of its tokens.
#include <fmt/format.h>

#include <algorithm>

#include "core/util/error.hpp"
#include "core/util/log.hpp"
#include "core/util/text.hpp"
#include "host/accounts/service_host.hpp"

namespace krux {
namespace {

constexpr std::size_t kLongestSecret = 4096, kLongestClientId = 500;

std::string names_of(const auto& all) {
  std::string text;
  for (const auto& one : all) text += (text.empty() ? "" : ", ") + one.name;
  return text;
}

bool is_visible(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < '\x7f'; });
}

const std::string& either(const std::string& first, const std::string& second) {
  return first.empty() ? second : first;
}

OAuthFlow flow_of(const OAuthDefinition& oauth, const std::string& wanted, const ServiceConfig::OAuth& config) {
  const auto* found = wanted.empty() ? &oauth.flows.front() : oauth.find_flow(wanted);
  if (!found)
    throw invalid_input(
        fmt::format("There is no flow \"{}\"; there are: {}.", printable(wanted), names_of(oauth.flows)));
  auto flow = *found;
  flow.authorize_url = either(config.authorize_url, flow.authorize_url);
  flow.token_url = either(config.token_url, flow.token_url);
  return flow;
}

void check_client(const OAuthPlan& plan) {
  using ClientSecret = OAuthFlow::ClientSecret;
  const auto& service = plan.definition->service;
  if (plan.client_id.empty())
    throw invalid_input(
        fmt::format("The app's client id is missing: --client-id, or services.{0}.oauth.client_id in the "
                    "configuration. How to make an app says: kruxos connect {0} --help-setup",
                    service));
  if (plan.client_id.size() > kLongestClientId || !is_visible(plan.client_id))
    throw invalid_input("This is no client id: it is too long, or has blanks or other characters that none has.");
  if (plan.client_secret.size() > kLongestSecret || !is_visible(plan.client_secret.reveal()))
    throw invalid_input("This is no client secret: it is too long, or has blanks or other characters that none has.");
  if (plan.flow.client_secret == ClientSecret::kRequired && plan.client_secret.empty())
    throw invalid_input("The app's client secret is missing: give it in KRUXOS_CLIENT_SECRET, or type it.");
  if (plan.flow.client_secret == ClientSecret::kNone && !plan.client_secret.empty())
    throw invalid_input(fmt::format("The flow {} is for apps without a client secret. Leave it out.", plan.flow.name));
}

}  // namespace

void check_account_name(const std::string& name) {
  const auto fits = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-'; };
  if (name.size() > 32 || !std::all_of(name.begin(), name.end(), fits))
    throw invalid_input(fmt::format("\"{}\" is no name for an account: small letters, digits, _ and -, at most 32.",
                                    printable(name.substr(0, 100))));
}

OAuthPlan ServiceHost::plan_oauth(const std::string& service, OAuthOrder order) const {
  if (parts_.vault.locked()) throw vault_is_locked();
  check_account_name(order.account);
  const auto definition = definition_of(service);
  const auto& oauth = definition->oauth;
  const auto& config = config_of(service).oauth;
  if (oauth.flows.empty())
    throw invalid_input(
        fmt::format("{} is not connected in the browser, but with a token: kruxos connect {} < token-file",
                    definition->display_name, service));
  const auto& wanted = either(order.profile, oauth.default_profile);
  const auto* profile = oauth.find_profile(wanted);
  if (!profile)
    throw invalid_input(
        fmt::format("There is no profile \"{}\"; there are: {}.", printable(wanted), names_of(oauth.profiles)));
  OAuthPlan plan;
  plan.definition = definition;
  plan.flow = flow_of(oauth, order.flow, config);
  plan.profile = *profile;
  plan.account = order.account;
  plan.client_id = either(order.client_id, config.client_id);
  plan.client_secret = std::move(order.client_secret);
  plan.revoke_url = either(config.revoke_url, oauth.revoke_url);
  plan.redirect_uri = either(config.redirect_uri, plan.flow.redirect_uri);
  plan.callback_port = config.callback_port.value_or(oauth.callback_port);
  plan.own = own_of(*definition, order.account, std::move(order.own));
  check_client(plan);
  return plan;
}

Connected ServiceHost::connect_by_code(const OAuthPlan& plan, const std::string& redirect_uri, const Secret& code,
                                       const Secret& verifier) {
  const std::unique_lock lock(connecting_);  // the code would end while somebody tries again
  if (parts_.vault.locked()) throw vault_is_locked();
  const auto& service = plan.definition->service;
  auto result = TokenClient(parts_.transport, parts_.clock)
                    .exchange_code(service, {plan.flow, plan.flow.token_url, redirect_uri, plan.client_id, code,
                                             verifier, plan.client_secret});
  if (const auto* failure = std::get_if<TokenFailure>(&result))
    throw not_connected(fmt::format("{} gave no token: {} Nothing was stored.", service,
                                    failure->message + (failure->message.ends_with('.') ? "" : ".")));
  auto& answer = std::get<TokenAnswer>(result);
  Credential credential;
  credential.access_token = std::move(answer.access_token);
  credential.refresh_token = std::move(answer.refresh_token);
  credential.client_secret = copy_of(plan.client_secret);
  credential.client_id = plan.client_id;
  credential.token_url = plan.flow.token_url;
  credential.revoke_url = plan.revoke_url;
  credential.token_at = plan.flow.token_at;
  Connection connection;
  connection.service = service;
  connection.name = plan.account;
  connection.base_url = plan.own.base_url;
  connection.settings = plan.own.settings;
  connection.profile = plan.profile.name;
  connection.flow = plan.flow.name;
  if (answer.expires_in_ms) connection.expires_at_ms = parts_.clock.wall_ms() + *answer.expires_in_ms;
  // An answer without scopes grants what was asked for (RFC 6749, 5.1).
  connection.scopes = answer.scopes.value_or(plan.profile.scopes);
  connection.scopes_known = true;
  std::optional<Identity> whose;
  try {
    whose = verify(service, credential.access_token, plan.own);
    return keep(*plan.definition, std::move(connection), credential, *whose, plan.profile.scopes);
  } catch (...) {
    give_back(service, whose, credential);
    throw;
  }
}

/// Tokens that nobody keeps must not live on at the service. There are services where this ends all that the account
/// has given to the app: what a connected account may live by is left alone.
void ServiceHost::give_back(const std::string& service, const std::optional<Identity>& whose,
                            const Credential& credential) {
  const auto account_id = whose ? whose->account_id : std::string();
  std::string why;
  try {
    const auto known = parts_.vault.connections();
    const bool in_use = std::any_of(known.begin(), known.end(), [&](const Connection& c) {
      return c.service == service && (!whose || c.account_id == whose->account_id);
    });
    if (in_use) {
      why = "an account that is connected may live by the same consent.";
    } else if (credential.revoke_url.empty()) {
      why = "the service has no address for that.";
    } else {
      why = TokenClient(parts_.transport, parts_.clock).revoke({service, account_id, 0}, credential).value_or("");
    }
  } catch (const std::exception& error) {
    why = error.what();
  }
  const LogContext about{"token_given_back", service, account_id, "", ""};
  if (why.empty()) return log_event(spdlog::level::info, about, "the tokens of a connect that failed were revoked");
  log_event(spdlog::level::warn, about,
            fmt::format("the tokens of a connect that failed are not kept, and were not revoked: {}", printable(why)));
}

void ServiceHost::token_renewed(const AccountRef& account) {
  if (!is_current(account)) return;
  try {
    mark(account, "");
    parts_.alerts.settle("token_not_renewed", account.service, account.account_id);
  } catch (const Error&) {
    // The ledger fails, which its own alert says; the next renewal or sync settles these.
  }
  const auto refused = SyncStatus::Phase::kRefused;
  for (const auto& status : parts_.scheduler.status()) {
    if (status.account == account && status.phase == refused) parts_.scheduler.sync_now(account.service);
  }
}

void ServiceHost::resume_writes(const AccountRef& account) {
  for (const auto& known : parts_.vault.connections()) {
    if (AccountRef{known.service, known.account_id, known.generation} != account || known.needs_attention) continue;
    try {
      mark(account, "");
    } catch (const Error&) {
      // As above.
    }
  }
}

void ServiceHost::token_refused(const AccountRef& account, const std::string& why) {
  if (!is_current(account)) return;
  try {
    mark(account, fmt::format("its token cannot be renewed: {}.", why));
  } catch (const Error&) {
    // As above: the sync tells it again.
  }
}

void ServiceHost::token_ended(const AccountRef& account, const std::string& why) {
  if (!is_current(account)) return;
  try {
    parts_.alerts.raise(
        {"warning", "token_not_renewed", account.service, account.account_id, "",
         fmt::format("The access token of {} {} has ended and could not be renewed yet: {}. It is tried "
                     "again by itself; until then reads are answered from the replica and writes wait.",
                     account.service, printable(account.account_id), why),
         true});
  } catch (const Error&) {
    // As above.
  }
}

}  // namespace krux
