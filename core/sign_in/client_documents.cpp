#include "core/sign_in/client_documents.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <charconv>

#include "core/sign_in/client_metadata.hpp"
#include "core/util/error.hpp"
#include "core/util/json.hpp"
#include "core/util/text.hpp"

namespace krux {
namespace {

constexpr std::int64_t kFetchMs = 5'000;
constexpr std::int64_t kShortestMs = 60'000, kDefaultMs = 600'000, kLongestMs = 86'400'000, kFailureMs = 30'000;
constexpr std::size_t kMostIdBytes = 1000;

SignInRefused no_client(const std::string& why) {
  return {"invalid_client", why};
}

/// Written in one way only, so that one document is one client.
Url address_of(const std::string& client_id) {
  try {
    if (client_id.size() > kMostIdBytes) throw invalid_input("it is too long");
    auto url = parse_url(client_id);
    if (url.scheme == "https" && !url.host_is_address && url.query.empty() && url.path != "/" &&
        url.origin() + url.path == client_id)
      return url;
  } catch (const Error&) {  // the sentence below says what is taken
  }
  throw no_client(
      "A client_id that is an address must be https, under a name in small letters, with a path, and without a port "
      "443, "
      "query, fragment or dot segment.");
}

bool is_json(const HttpHeaders& headers) {
  auto type = std::string(find_header(headers, "Content-Type").value_or(""));
  type = type.substr(0, type.find(';'));
  while (type.ends_with(' ')) type.pop_back();
  constexpr std::string_view tree = "application/";
  if (!equal_ignoring_case(type.substr(0, tree.size()), tree)) return false;
  const auto name = std::string_view(type).substr(tree.size());
  return equal_ignoring_case(name, "json") ||
         (name.size() > 5 && equal_ignoring_case(name.substr(name.size() - 5), "+json"));
}

/// How long the document may be used, by what its server says.
std::int64_t lifetime_ms(const HttpHeaders& headers) {
  const auto control = find_header(headers, "Cache-Control").value_or("");
  if (control.find("no-store") != std::string_view::npos || control.find("no-cache") != std::string_view::npos)
    return kShortestMs;
  constexpr std::string_view name = "max-age=";
  const auto at = control.find(name);
  if (at == std::string_view::npos) return kDefaultMs;
  std::int64_t seconds = 0;
  const auto digits = control.substr(at + name.size());
  const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), seconds);
  if (parsed.ec != std::errc()) return kDefaultMs;
  return std::clamp(seconds, kShortestMs / 1000, kLongestMs / 1000) * 1000;
}

SignInClient parsed_document(const std::string& client_id, const std::string& text) {
  const auto document = parse_json(text, "The client's document");
  if (!document.IsObject()) throw no_client("The client's document is no JSON object.");
  if (find_string(document, "client_id") != client_id)
    throw no_client("The client's document has another client_id than its address.");
  if (find_member(document, "client_secret")) throw no_client("The client's document has a secret.");
  const auto method = find_string(document, "token_endpoint_auth_method").value_or("none");
  if (method != "none" && method != "private_key_jwt")
    throw no_client("The client's document asks for a secret: token_endpoint_auth_method must be none.");
  return {client_id, client_metadata(document)};
}

}  // namespace

SignInClient ClientDocuments::fetch(const std::string& client_id) {
  {
    const std::lock_guard lock(mutex_);
    const auto at = kept_.find(client_id);
    if (at != kept_.end() && at->second.until_ms > clock_.boot_ms()) {
      if (!at->second.client) throw no_client(at->second.problem);
      return *at->second.client;
    }
  }
  auto kept = ask(client_id);
  keep(client_id, kept);
  if (!kept.client) throw no_client(kept.problem);
  return *std::move(kept.client);
}

ClientDocuments::Kept ClientDocuments::ask(const std::string& client_id) {
  const auto url = address_of(client_id);
  HttpRequest request;
  request.headers = {{"Accept", "application/json"}};
  request.timeout_ms = kFetchMs;
  request.max_response_bytes = kMostBytes;
  const auto call = std::make_shared<CallContext>(CallOwner{"sign-in", "", 0, "", 0, Sends::kSafe}, clock_,
                                                  clock_.boot_ms() + kFetchMs);
  HttpResponse response;
  const auto outcome = transport_->send(call, url, request, {}, response);
  call->end();
  Kept kept;
  kept.until_ms = clock_.boot_ms() + kFailureMs;
  if (outcome.status != KRUX_OK) {
    // A stranger asks: why not is the operator's alone, who may have names that lead to addresses of his own.
    spdlog::info("sign-in: {} could not be fetched: {}", client_id, printable(outcome.message));
    kept.problem = "The client's document could not be fetched.";
  } else if (response.status != 200) {
    kept.problem = fmt::format("The client's document was answered with status {}.", response.status);
  } else if (!is_json(response.headers)) {
    kept.problem = "The client's document is not served as application/json.";
  } else {
    try {
      kept.client = parsed_document(client_id, response.text);
      kept.until_ms = clock_.boot_ms() + lifetime_ms(response.headers);
    } catch (const std::runtime_error& error) {  // Error, or SignInRefused
      kept.problem = error.what();
    }
  }
  return kept;
}

void ClientDocuments::keep(const std::string& client_id, Kept kept) {
  const std::lock_guard lock(mutex_);
  if (!kept_.contains(client_id) && kept_.size() >= kMost)
    kept_.erase(std::min_element(kept_.begin(), kept_.end(),
                                 [](const auto& a, const auto& b) { return a.second.until_ms < b.second.until_ms; }));
  kept_.insert_or_assign(client_id, std::move(kept));
}

}  // namespace krux
