#include "host/cli/bundle_output.hpp"

#include <fmt/format.h>

#include <ostream>

#include "core/definition/asks.hpp"
#include "core/util/json_out.hpp"
#include "host/bundles/terms_json.hpp"

namespace krux::cli {
namespace {

std::string list_of(const std::vector<std::string>& texts, const char* none) {
  std::string out;
  for (const auto& text : texts) out.append(out.empty() ? "" : ", ").append(text);
  return out.empty() ? none : out;
}

Cell isolation_cell(const BundleOffer& offer) {
  const auto& service = offer.pin.terms.service;
  if (offer.isolation == "in_process")
    return {fmt::format("the host's own process, as services.{}.isolation says: its code can do what the host can",
                        service),
            Style::kWarn};
  if (offer.isolation == "process") return "a process of its own";
  return fmt::format("a process of its own, unless services.{}.isolation says otherwise", service);
}

Style style_of(Tier tier) {
  return tier == Tier::kBlocked ? Style::kDim : Style::kPlain;
}

void print_capabilities(const Session& session, const BundleTerms& terms) {
  Table table({{"CAPABILITY"}, {"KIND"}, {"TIER"}, {"DELAY"}, {"", false, true}});
  for (const auto& c : terms.capabilities) {
    const bool write = c.kind == CapabilityKind::kWrite;
    std::string more = write       ? (c.undoable ? "can be undone" : "cannot be undone")
                       : c.fetches ? "calls its service"
                                   : "";
    if (c.asks) more += fmt::format("{}may ask whoever calls it: {}", more.empty() ? "" : ", ", asks_in_words(c.asks));
    table.add({c.name,
               to_string(c.kind),
               {to_string(c.tier), style_of(c.tier)},
               write ? delay_in_words(c.delay_ms) : std::string(),
               more});
  }
  table.print(session.console);
}

void print_changes(const Session& session, const BundleOffer& offer) {
  auto& out = session.console.out();
  out << "\nChanges since " << printable(offer.before->terms.version) << ", installed "
      << moment(offer.before->installed_at_ms, session.now_ms) << " by " << printable(offer.before->installed_by)
      << ":\n";
  if (offer.changes.empty())
    out << (offer.before->files == offer.pin.files ? "  none: these are the same files\n"
                                                   : "  none in what it asks for\n");
  for (const auto& change : offer.changes) {
    const auto words = fmt::format("{} {}", change.looser ? "!" : "-", printable(change.words));
    out << "  " << styled(session.console, words, change.looser ? Style::kWarn : Style::kPlain) << "\n";
  }
}

}  // namespace

void print_offer(const Session& session, const BundleOffer& offer) {
  const auto& terms = offer.pin.terms;
  Listing listing;
  listing.add("Bundle", {fmt::format("{} {}: {}", terms.service, terms.version, terms.display_name), Style::kBold});
  listing.add("From", offer.source.string());
  listing.add("Runs in", isolation_cell(offer));
  listing.add("Speaks to", list_of(terms.hosts, "no host"));
  listing.add_unless_empty("Further hosts", terms.hosts_from);
  listing.add("Its service", terms.api_base_url);
  listing.add("Token in", terms.auth);
  listing.add_unless_empty("Own address", terms.own_address);
  listing.add_unless_empty("Settings", list_of(terms.settings, ""));
  listing.add_unless_empty("Only reads", list_of(terms.safe_posts, ""));
  listing.add("Account", terms.token_pattern.empty() ? std::string("no token can be pasted for it")
                                                     : "a token of the form " + terms.token_pattern);
  listing.add_unless_empty("Scopes", list_of(terms.scopes, ""));
  for (const auto& limit : terms.limits) listing.add("Limit", limit_in_words(limit));
  if (!terms.limits.empty())
    listing.add("Beyond it", terms.escalate_on_exceed ? "a write waits for you" : "a write is refused");
  for (const auto& [name, hash] : offer.pin.files) listing.add(printable(name), fmt::format("SHA-256 {}", hash));
  listing.print(session.console);
  session.console.out() << "\n";
  print_capabilities(session, terms);
  if (offer.before) print_changes(session, offer);
}

std::string offer_json(const BundleOffer& offer, bool installed) {
  return json_object([&](JsonWriter& out) {
    put(out, "service", offer.pin.terms.service);
    put(out, "installed", installed);
    put(out, "host_runs", offer.host_runs);
    put(out, "isolation", offer.isolation.empty() ? "process" : offer.isolation.c_str());
    put_key(out, "terms");
    out.StartObject();
    put_terms(out, offer.pin.terms);
    out.EndObject();
    put_key(out, "files");
    out.StartObject();
    for (const auto& [name, hash] : offer.pin.files) put(out, name, hash);
    out.EndObject();
    if (!offer.before) return;
    put(out, "version_before", offer.before->terms.version);
    put_objects(out, "changes", offer.changes, [&](const TermChange& change) {
      put(out, "looser", change.looser);
      put(out, "words", change.words);
    });
  });
}

}  // namespace krux::cli
