// kruxos plugin install, kruxos plugin remove
#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

#include <cstdlib>
#include <optional>
#include <ostream>

#include "core/util/json_out.hpp"
#include "core/util/text.hpp"
#include "host/bundles/store.hpp"
#include "host/cli/bundle_output.hpp"
#include "host/cli/commands.hpp"

namespace krux::cli {
namespace {

namespace fs = std::filesystem;

/// Where things are, and what the running host adds to that.
struct Places {
  fs::path data_dir, bundles_dir, definitions;
  std::optional<HostAnswer> config;  ///< of the running host

  std::string configured(const std::string& key) const {
    return config ? text(part(config->json, key), "value") : std::string();
  }
};

std::optional<HostAnswer> ask_if_running(const Session& session, const std::string& target) {
  try {
    return session.host.get(target);
  } catch (const CliError& error) {
    if (error.code() != kNotRunning) throw;
    return std::nullopt;
  }
}

Places find_places(const Session& session, const BundleArguments& arguments) {
  Places places{session.data_dir, arguments.bundles_dir, arguments.definitions, ask_if_running(session, "/v1/config")};
  if (places.config) {
    places.data_dir = places.configured("data_dir");
    places.bundles_dir = places.configured("bundles_dir");
    if (places.definitions.empty()) places.definitions = places.configured("definitions_dir");
  }
  if (places.data_dir.empty())
    throw CliError(kUsage,
                   "The host is not running, so that the socket says nothing of its data directory: give "
                   "--data-dir instead of --socket.");
  places.data_dir = fs::absolute(places.data_dir).lexically_normal();
  const char* configured = std::getenv("KRUXOS_BUNDLES_DIR");
  if (places.bundles_dir.empty() && configured) places.bundles_dir = configured;
  if (places.bundles_dir.empty()) places.bundles_dir = places.data_dir / "bundles";
  places.bundles_dir = fs::absolute(places.bundles_dir).lexically_normal();
  return places;
}

std::string who() {
  const auto uid = ::geteuid();
  const auto* user = ::getpwuid(uid);
  return user && user->pw_name ? fmt::format("{} (uid {})", user->pw_name, uid) : fmt::format("uid {}", uid);
}

/// Other bundles; what stands outside of them was compared with the definitions.
void refuse_prefix(const BundlePins& pins, const BundleTerms& terms) {
  for (const auto& pin : pins.bundles) {
    if (pin.terms.service != terms.service && pin.terms.prefix == terms.prefix)
      throw CliError(kConflict, fmt::format("The prefix {} is that of the installed bundle of {}; ask its author for "
                                            "another one.",
                                            terms.prefix, pin.terms.service));
  }
}

BundleOffer offer_of(const Session& session, const BundleArguments& arguments, const Places& places,
                     BundleStore& store) {
  const auto source = fs::absolute(arguments.bundle).lexically_normal();
  const auto directory = store.stage(source);
  const auto contents = session.inspect_bundle({directory, source, places.definitions});
  BundleOffer offer{source, {}, nullptr, {}, places.config.has_value(), {}};
  auto& pin = offer.pin;
  pin.terms = terms_of(*contents.definition, contents.manifest.version, contents.manifest.hosts);
  pin.files = contents.files;
  pin.library = contents.manifest.library;
  pin.installed_at_ms = session.now_ms;
  pin.installed_by = who();
  refuse_prefix(store.pins(), pin.terms);
  offer.before = store.pins().find(pin.terms.service);
  if (offer.before) offer.changes = changes_between(offer.before->terms, pin.terms);
  if (places.config) {
    offer.isolation = places.configured("services." + pin.terms.service + ".isolation");
    if (offer.isolation.empty()) offer.isolation = "process";
  }
  return offer;
}

const char* when(bool host_runs) {
  return host_runs ? " A running host goes on with what it has loaded until it is started again." : "";
}

bool agreed(const Session& session, const BundleArguments& arguments, const std::string& question) {
  if (!arguments.yes && !session.console.reads_terminal())
    throw CliError(kUsage, "This decision is a person's, and there is no terminal to ask on: add --yes.");
  return session.confirm(question, arguments.yes);
}

std::string counted(std::int64_t count, const char* what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

[[noreturn]] void refuse_connected(const std::string& service, std::int64_t connections, bool loaded) {
  const auto who =
      fmt::format("{} of {} {} connected", counted(connections, "account"), service, connections == 1 ? "is" : "are");
  if (loaded) throw CliError(kConflict, fmt::format("{}. Disconnect first: kruxos disconnect {}", who, service));
  throw CliError(kConflict,
                 fmt::format("{}, and its adapter is refused. Install the bundle anew, start the host again, "
                             "and disconnect: kruxos disconnect {}. With --force the tokens stay in the vault.",
                             who, service));
}

/// What the host knows of the service's bundle. Without a host nobody knows, unless there never was one.
void refuse_in_use(const Session& session, const Places& places, const std::string& service) {
  const auto answer = ask_if_running(session, "/v1/plugins");
  if (!answer) {
    if (!fs::exists(places.data_dir / "kruxos.db")) return;
    throw CliError(kNotRunning,
                   fmt::format("The host is not running, so that nobody knows whether accounts of {} are connected: "
                               "start it and try again, or give --force.",
                               service));
  }
  for (const auto& plugin : items(answer->json, "plugins").GetArray()) {
    if (text(plugin, "service") != service || text(plugin, "origin") != "bundle") continue;
    const auto connections = number(plugin, "connections"), writes = number(plugin, "unfinished_writes");
    if (connections > 0) refuse_connected(service, connections, text(plugin, "state") != "refused");
    if (writes > 0)
      throw CliError(kConflict, fmt::format("{0} of {1} {2} not ended. Decide about them first: kruxos approve list "
                                            "--service {1}. With --force they stay as they are.",
                                            counted(writes, "write"), service, writes == 1 ? "has" : "have"));
  }
}

}  // namespace

int install_bundle(const Session& session, const BundleArguments& arguments) {
  const auto places = find_places(session, arguments);
  BundleStore store(places.data_dir, places.bundles_dir);
  const auto offer = offer_of(session, arguments, places, store);
  auto& out = session.console.out();
  if (session.json && !arguments.yes) {
    out << offer_json(offer, false) << "\n";
    return kOk;
  }
  if (!session.json) {
    print_offer(session, offer);
    out << std::flush;
  }
  const auto& terms = offer.pin.terms;
  const auto question = offer.before ? fmt::format("\nInstall {} {} in its place?", terms.service, terms.version)
                                     : fmt::format("\nInstall {} {}?", terms.service, terms.version);
  if (!agreed(session, arguments, question)) {
    out << "Nothing was installed.\n";
    return kFailed;
  }
  const auto shown = session.json ? offer_json(offer, true) : std::string();
  store.install(offer.pin);
  if (session.json) {
    out << shown << "\n";
  } else {
    out << fmt::format("{} {} is installed, and loaded when the host is started next.{}\n", terms.service,
                       terms.version, when(offer.host_runs));
  }
  return kOk;
}

int remove_bundle(const Session& session, const BundleArguments& arguments) {
  const auto places = find_places(session, arguments);
  BundleStore store(places.data_dir, places.bundles_dir);
  const auto& service = arguments.bundle;
  const auto* pin = store.pins().find(service);
  if (!pin)
    throw CliError(kNotFound,
                   fmt::format("No bundle of {} is installed: kruxos plugin list shows them.", printable(service)));
  if (!arguments.force) refuse_in_use(session, places, service);
  const auto version = printable(pin->terms.version);
  if (!agreed(session, arguments, fmt::format("Remove the bundle of {}, version {}?", service, version)))
    return kFailed;
  store.remove(service);
  if (session.json) {
    session.console.out() << json_object([&](JsonWriter& out) {
      put(out, "service", service);
      put(out, "removed", true);
      put(out, "host_runs", places.config.has_value());
    }) << "\n";
    return kOk;
  }
  session.console.out() << fmt::format("The bundle of {} is removed.{}\n", service, when(places.config.has_value()));
  return kOk;
}

}  // namespace krux::cli
