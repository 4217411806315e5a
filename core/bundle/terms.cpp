#include "core/bundle/terms.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "core/definition/asks.hpp"
#include "core/net/url.hpp"
#include "core/policy/policy.hpp"

namespace krux {
namespace {

using Capability = BundleTerms::Capability;

std::string span_in_words(std::int64_t ms) {
  for (const auto& [unit, length] : {std::pair{"d", 86'400'000}, {"h", 3'600'000}, {"min", 60'000}, {"s", 1000}}) {
    if (ms >= length && ms % length == 0) return fmt::format("{} {}", ms / length, unit);
  }
  return fmt::format("{} ms", ms);
}

template <class T>
bool has(const std::vector<T>& all, const T& one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

const Capability* find(const BundleTerms& terms, const std::string& name) {
  const auto at = std::find_if(terms.capabilities.begin(), terms.capabilities.end(),
                               [&](const Capability& c) { return c.name == name; });
  return at == terms.capabilities.end() ? nullptr : &*at;
}

std::array<int, 3> numbers_of(const std::string& version) {
  std::array<int, 3> numbers{};
  const char *at = version.data(), *const end = at + version.size();
  for (auto& number : numbers) {
    at = std::from_chars(at, end, number).ptr;
    if (at != end) ++at;
  }
  return numbers;
}

/// Whether `limit` never lets through what `other` would refuse, of the operations that there still are.
bool implies(const Limit& limit, const Limit& other, const BundleTerms& now) {
  if (!limit.key.empty() && limit.key != other.key) return false;
  const auto covered = [&](const std::string& name) { return has(limit.operations, name) || !find(now, name); };
  return std::all_of(other.operations.begin(), other.operations.end(), covered) &&
         most_within(limit, other.window_ms) <= other.limit;
}

bool implied(const std::vector<Limit>& limits, const Limit& other, const BundleTerms& now) {
  const auto gone = [&](const std::string& name) { return !find(now, name); };
  if (std::all_of(other.operations.begin(), other.operations.end(), gone)) return true;
  return std::any_of(limits.begin(), limits.end(), [&](const auto& limit) { return implies(limit, other, now); });
}

class Comparison {
 public:
  Comparison(const BundleTerms& before, const BundleTerms& now) : before_(before), now_(now) {}

  std::vector<TermChange> run() {
    versions();
    network();
    for (const auto& capability : now_.capabilities) capability_now(capability);
    for (const auto& capability : before_.capabilities) {
      if (!find(now_, capability.name)) add(false, "{} is removed", capability.name);
    }
    limits();
    connecting();
    std::stable_sort(changes_.begin(), changes_.end(),
                     [](const auto& a, const auto& b) { return a.looser && !b.looser; });
    return std::move(changes_);
  }

 private:
  template <class... Values>
  void add(bool looser, fmt::format_string<Values...> words, Values&&... values) {
    changes_.push_back({looser, fmt::format(words, std::forward<Values>(values)...)});
  }

  void versions() {
    if (now_.version == before_.version) return;
    const bool older = numbers_of(now_.version) < numbers_of(before_.version);
    add(older, "version {} instead of {}{}", now_.version, before_.version, older ? ", which is newer" : "");
  }

  void network() {
    for (const auto& host : now_.hosts) {
      if (!has(before_.hosts, host)) add(true, "speaks to another host: {}", host);
    }
    for (const auto& host : before_.hosts) {
      if (!has(now_.hosts, host)) add(false, "no longer speaks to {}", host);
    }
    if (now_.hosts_from != before_.hosts_from)
      add(!now_.hosts_from.empty(), "further hosts are those that the configuration lists under {} instead of {}",
          or_none(now_.hosts_from), or_none(before_.hosts_from));
    if (now_.api_base_url != before_.api_base_url)
      add(true, "its service is at {} instead of {}", now_.api_base_url, before_.api_base_url);
    if (now_.auth != before_.auth) add(true, "the token stands in {} instead of {}", now_.auth, before_.auth);
    if (now_.own_address != before_.own_address)
      add(!now_.own_address.empty(), "an account's own address lies at {} instead of {}", or_none(now_.own_address),
          or_none(before_.own_address));
    for (const auto& post : now_.safe_posts) {
      if (!has(before_.safe_posts, post)) add(true, "may send this as one that only reads: {}", post);
    }
    for (const auto& post : before_.safe_posts) {
      if (!has(now_.safe_posts, post)) add(false, "no longer sends this as one that only reads: {}", post);
    }
    if (now_.prefix != before_.prefix)
      add(true, "its capabilities begin with {}. instead of {}.", now_.prefix, before_.prefix);
  }

  void capability_now(const Capability& now) {
    const auto* before = find(before_, now.name);
    if (!before) {
      add(now.tier != Tier::kBlocked, "{} is new: {}, {}", now.name, to_string(now.kind), to_string(now.tier));
      return;
    }
    if (now.kind != before->kind)
      add(true, "{}: its kind is {} instead of {}", now.name, to_string(now.kind), to_string(before->kind));
    if (now.tier != before->tier)
      add(now.tier < before->tier, "{}: the tier is {} instead of {}", now.name, to_string(now.tier),
          to_string(before->tier));
    if (now.delay_ms != before->delay_ms) {
      // Against the host's default neither is known to be the longer one.
      const bool known = now.delay_ms && before->delay_ms;
      add(!known || *now.delay_ms < *before->delay_ms, "{}: the delay is {} instead of {}", now.name,
          delay_in_words(now.delay_ms), delay_in_words(before->delay_ms));
    }
    if (now.undoable != before->undoable)
      add(before->undoable, "{}: it can {} be undone", now.name, now.undoable ? "now" : "no longer");
    if (now.fetches != before->fetches)
      add(now.fetches, "{}: it {} its service to answer", now.name, now.fetches ? "calls" : "no longer calls");
    if (now.asks != before->asks)
      add((now.asks & ~before->asks) != 0, "{}: what it asks of whoever calls it is {} instead of {}", now.name,
          now.asks ? asks_in_words(now.asks) : "nothing", before->asks ? asks_in_words(before->asks) : "nothing");
  }

  void limits() {
    for (const auto& limit : before_.limits) {
      if (!implied(now_.limits, limit, now_)) add(true, "this limit is gone or looser: {}", limit_in_words(limit));
    }
    for (const auto& limit : now_.limits) {
      if (!implied(before_.limits, limit, before_))
        add(false, "this limit is new or tighter: {}", limit_in_words(limit));
    }
    if (now_.escalate_on_exceed != before_.escalate_on_exceed)
      add(now_.escalate_on_exceed, "what exceeds a limit {}",
          now_.escalate_on_exceed ? "waits for you instead of being refused" : "is refused instead of waiting for you");
  }

  static std::string or_none(const std::string& words) { return words.empty() ? "none" : words; }

  void connecting() {
    for (const auto& setting : now_.settings) {
      if (!has(before_.settings, setting)) add(false, "its accounts have another setting: {}", setting);
    }
    for (const auto& scope : now_.scopes) {
      if (!has(before_.scopes, scope)) add(true, "asks for another scope of the token: {}", scope);
    }
    for (const auto& scope : before_.scopes) {
      if (!has(now_.scopes, scope)) add(false, "no longer asks for the scope {}", scope);
    }
  }

  const BundleTerms &before_, &now_;
  std::vector<TermChange> changes_;
};

}  // namespace

namespace {

std::string auth_in_words(const AuthDefinition& auth) {
  if (auth.way == AuthDefinition::Way::kNone) return "no part of a request: the service needs none";
  if (auth.way == AuthDefinition::Way::kQuery) return fmt::format("the query's parameter {}", auth.name);
  if (auth.way == AuthDefinition::Way::kBasic)
    return fmt::format("Authorization: Basic {}", auth.user.empty() ? "TOKEN" : auth.user + ":TOKEN");
  return fmt::format("{}: {}{}TOKEN", auth.name, auth.scheme, auth.scheme.empty() ? "" : " ");
}

std::string own_address_in_words(const AccountTerms& accounts) {
  if (accounts.base_url == AccountTerms::BaseUrl::kNo) return {};
  std::string words;
  for (const auto& host : accounts.base_hosts) words += (words.empty() ? "" : ", ") + host;
  return words.empty() ? "any host that you name" : words;
}

}  // namespace

BundleTerms terms_of(const ServiceDefinition& definition, const std::string& version,
                     const std::vector<std::string>& hosts) {
  BundleTerms terms{definition.service,
                    definition.prefix,
                    version,
                    definition.display_name,
                    definition.api_base_url,
                    hosts,
                    {},
                    definition.limits,
                    definition.escalate_on_exceed,
                    definition.connect_scopes,
                    definition.connect_token_pattern,
                    {},
                    {},
                    {},
                    {},
                    {}};
  terms.auth = auth_in_words(definition.auth);
  terms.own_address = own_address_in_words(definition.accounts);
  if (!definition.hosts_from.empty())
    terms.hosts_from = fmt::format("services.{}.adapter.{}", definition.service, definition.hosts_from);
  for (const auto& setting : definition.accounts.settings) terms.settings.push_back(setting.name);
  for (const auto& post : definition.safe_posts)
    terms.safe_posts.push_back(fmt::format("POST {}{}", post.path, post.graphql ? " (GraphQL queries)" : ""));
  for (const auto& profile : definition.oauth.profiles) {
    for (const auto& scope : profile.scopes) {
      if (!has(terms.scopes, scope)) terms.scopes.push_back(scope);
    }
  }
  // Where client secrets and refresh tokens go is as much of a promise as where the adapter's requests do.
  std::vector<std::string> urls{definition.oauth.revoke_url};
  for (const auto& flow : definition.oauth.flows) urls.insert(urls.end(), {flow.authorize_url, flow.token_url});
  for (const auto& url : urls) {
    if (url.empty()) continue;
    const auto host = parse_url(url).host;
    if (!has(terms.hosts, host)) terms.hosts.push_back(host);
  }
  std::sort(terms.hosts.begin(), terms.hosts.end());
  for (const auto& c : definition.capabilities)
    terms.capabilities.push_back({c.name, c.kind, c.tier, c.delay_ms, c.undoable, c.fetches, c.asks});
  return terms;
}

std::vector<TermChange> changes_between(const BundleTerms& before, const BundleTerms& now) {
  return Comparison(before, now).run();
}

std::string delay_in_words(const std::optional<std::int64_t>& delay_ms) {
  if (!delay_ms) return "the host's default";
  return *delay_ms == 0 ? "at once" : span_in_words(*delay_ms);
}

std::string limit_in_words(const Limit& limit) {
  std::string operations;
  for (const auto& name : limit.operations) operations += (operations.empty() ? "" : ", ") + name;
  return fmt::format("{}: {} within {}{}", operations, limit.limit, span_in_words(limit.window_ms),
                     limit.key.empty() ? "" : ", for each " + limit.key);
}

}  // namespace krux
