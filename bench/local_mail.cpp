#include "bench/local_mail.hpp"

#include <kruxos/testing.hpp>

#include "bench/mailbox.hpp"
#include "bench/report.hpp"
#include "search.hpp"

namespace krux::bench {
namespace {

/// Nothing is asked: searches are the replica's.
class NoService final : public HttpClient {
 public:
  HttpOutcome send(const CallContextPtr&, const HttpRequest&, HttpSink&) override {
    wrong("a search asked the service");
  }
};

const PluginInfo& mail_adapter(const PluginRegistry& registry) {
  const auto* plugin = registry.find("gmail");
  if (!plugin) wrong("the mail adapter cannot be loaded: " + registry.all().front().reason);
  return *plugin;
}

}  // namespace

LocalMail::LocalMail(const std::filesystem::path& adapters, const std::filesystem::path& replica)
    : registry_(PluginRegistry::discover(adapters, {})) {
  const auto tables = std::make_shared<const CollectionTables>(mail_adapter(registry_).collections);
  pool_ = std::make_shared<ReplicaReaderPool>(replica, CollectionSets{tables, tables}, SearchBudget{});
  adapter_ = PluginFactory(registry_, runner_, clock_)
                 .make({"gmail", "agent@example.com", 1, std::nullopt, "{}", std::make_shared<NoService>()});
}

std::string LocalMail::read(const std::string& arguments) const {
  const auto call = std::make_shared<CallContext>(CallOwner{"gmail", "agent@example.com", 1, "", 0}, clock_,
                                                  clock_.boot_ms() + 10'000);
  auto answer =
      adapter_->ask<"read">(call, std::make_shared<PooledReader>(pool_, Rows::kServed), "email.search", arguments);
  if (const auto* failure = std::get_if<CallFailure>(&answer)) wrong(failure->message);
  return std::get<std::string>(std::move(answer));
}

void LocalMail::query(const std::string& arguments) const {
  static kruxos::testing::FakeClock clock;
  static kruxos::testing::FakeStore none(clock, gmail::collections());
  static const gmail::LabelNames labels(none.reader());
  const auto wanted = gmail::search_query(gmail::parse(arguments), labels, "agent@example.com", Mailbox::kNow);
  PooledReader reader(pool_, Rows::kServed);
  std::size_t bytes = 0;
  reader.query({wanted.collection, condition(wanted.where), true, wanted.from_ms, wanted.to_ms, 20, 0, 0},
               [&](const RowView& row) { return (bytes += row.json.size()) > 0; });
}

void fill_mail(const std::filesystem::path& adapters, const std::filesystem::path& replica, std::int64_t messages) {
  SystemClock clock;
  const auto registry = PluginRegistry::discover(adapters, {});
  Replica store(replica, mail_adapter(registry).collections, clock);
  Mailbox mailbox(messages);
  fill(store, messages, mailbox);
}

}  // namespace krux::bench
