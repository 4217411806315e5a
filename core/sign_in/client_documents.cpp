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
constexpr std::int64_t kShortestMs = 60'000, kDefaultMs = 600'000, kLongestMs = 86'400'000;
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
      "443, query, fragment or dot segment.");
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

/// The next part of a list with commas, without the white space around it.
std::string_view next_directive(std::string_view& rest) {
  const auto comma = rest.find(',');
  auto part = rest.substr(0, comma);
  rest.remove_prefix(comma == std::string_view::npos ? rest.size() : comma + 1);
  const auto blank = [](char c) { return c == ' ' || c == '\t'; };
  while (!part.empty() && blank(part.front())) part.remove_prefix(1);
  while (!part.empty() && blank(part.back())) part.remove_suffix(1);
  return part;
}

/// Nothing where it is no number of seconds (RFC 9111, 1.2.2).
std::optional<std::int64_t> seconds_of(std::string_view text) {
  if (text.size() >= 2 && text.front() == '"' && text.back() == '"') text = text.substr(1, text.size() - 2);
  std::int64_t seconds = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (parsed.ptr != text.data() + text.size() || parsed.ec == std::errc::invalid_argument) return std::nullopt;
  return parsed.ec == std::errc() ? seconds : kLongestMs;
}

/// How long the document may be used, by what its server says.
std::int64_t lifetime_ms(const HttpHeaders& headers) {
  auto lifetime = kDefaultMs;
  for (const auto& [name, value] : headers) {
    if (!equal_ignoring_case(name, "Cache-Control")) continue;
    for (std::string_view rest = value; !rest.empty();) {
      const auto directive = next_directive(rest);
      const auto is = directive.find('=');
      const auto what = directive.substr(0, is);
      if (equal_ignoring_case(what, "no-store") || equal_ignoring_case(what, "no-cache")) return kShortestMs;
      if (!equal_ignoring_case(what, "max-age") || is == std::string_view::npos) continue;
      if (const auto seconds = seconds_of(directive.substr(is + 1)))
        lifetime = std::clamp(*seconds, kShortestMs / 1000, kLongestMs / 1000) * 1000;
    }
  }
  return lifetime;
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
  return {client_id, client_metadata(document, SaidIn::kDocument)};
}

}  // namespace

std::optional<SignInClient> ClientDocuments::at_hand(const std::string& client_id) {
  const std::lock_guard lock(mutex_);
  const auto at = kept_.find(client_id);
  if (at == kept_.end() || at->second.until_ms <= clock_.boot_ms()) return std::nullopt;
  return at->second.client;
}

/// What is no document is not kept, as the draft wants it: who mends one need not wait, and what fails for a reason of
/// this host's own is nobody else's fault.
SignInClient ClientDocuments::fetch(const std::string& client_id) {
  if (auto client = at_hand(client_id)) return *std::move(client);
  auto kept = ask(client_id);
  keep(kept);
  return std::move(kept.client);
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
  if (outcome.status != KRUX_OK) {
    // A stranger asks: why not is the operator's alone, who may have names that lead to addresses of his own.
    spdlog::info("sign-in: {} could not be fetched: {}", client_id, printable(outcome.message));
    throw no_client("The client's document could not be fetched.");
  }
  if (response.status != 200)
    throw no_client(fmt::format("The client's document was answered with status {}.", response.status));
  if (!is_json(response.headers)) throw no_client("The client's document is not served as application/json.");
  try {
    return {parsed_document(client_id, response.text), clock_.boot_ms() + lifetime_ms(response.headers)};
  } catch (const std::runtime_error& error) {  // Error, or SignInRefused
    throw no_client(error.what());
  }
}

void ClientDocuments::keep(const Kept& kept) {
  const std::lock_guard lock(mutex_);
  const auto& client_id = kept.client.client_id;
  if (!kept_.contains(client_id) && kept_.size() >= kMost)
    kept_.erase(std::min_element(kept_.begin(), kept_.end(),
                                 [](const auto& a, const auto& b) { return a.second.until_ms < b.second.until_ms; }));
  kept_.insert_or_assign(client_id, kept);
}

}  // namespace krux
