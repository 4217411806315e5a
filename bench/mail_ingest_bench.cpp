// bench-mail-ingest [MAILS] [ROUNDS]: the first sync of a mailbox without a network: the Gmail adapter's library reads
// Gmail's answers and stores their records. Held against the insertion of the same rows, made beforehand, and against
// notmuch and mu over the same mails, with short texts and, a quarter of them, with long ones. Default: 20,000, 3.
#include <SQLiteCpp/Database.h>
#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "bench/adapter_values.hpp"
#include "bench/mail_corpus.hpp"
#include "bench/mail_indexers.hpp"
#include "bench/report.hpp"
#include "core/adapter/call_runner.hpp"
#include "core/net/http.hpp"
#include "core/replica/gram_index.hpp"
#include "core/replica/record_key.hpp"
#include "core/replica/replica.hpp"
#include "core/storage/database.hpp"
#include "core/storage/statement.hpp"
#include "core/util/clock.hpp"
#include "host/plugins/plugin_registry.hpp"
#include "host/runner/plugin_factory.hpp"
#include "model.hpp"

using namespace krux;
using namespace krux::bench;

namespace {

namespace fs = std::filesystem;
constexpr std::int64_t kPage = 200;        // rows a commit of the plain insertion
constexpr std::size_t kWordsOfLong = 560;  // some 4,000 bytes
constexpr const char* kAccount = "agent@example.com";

/// Of all threads: requests of one chunk are sent side by side.
double cpu_s() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) / 1e9;
}

/// What Gmail would answer, made beforehand.
class Mailbox final : public HttpClient {
 public:
  explicit Mailbox(std::int64_t mails) {
    MailCorpus corpus(mails);
    for (std::int64_t i = 0; i < mails; ++i) answers_.push_back(gmail_answer(corpus.next(i)));
  }

  HttpOutcome send(const CallContextPtr&, const HttpRequest& request, HttpSink& sink) override {
    const auto answer = answer_to(request.url);
    const bool taken = sink.head(200, {{"Content-Type", "application/json; charset=UTF-8"}}) && sink.body(answer);
    return taken ? HttpOutcome{} : HttpOutcome{KRUX_CANCELLED, "", std::nullopt};
  }

 private:
  std::string answer_to(const std::string& url) const {
    const auto path = url.substr(0, url.find('?'));
    constexpr std::string_view messages = "gmail/v1/users/me/messages";
    if (path == messages) return list(url);
    if (path.starts_with(messages))
      return answers_.at(static_cast<std::size_t>(mail_number(path.substr(messages.size() + 1))));
    if (path == "gmail/v1/users/me/profile")
      return fmt::format(R"({{"historyId":"9007199254740999","messagesTotal":{}}})", answers_.size());
    if (path == "gmail/v1/users/me/history") return R"({"historyId":"9007199254740999"})";
    if (path == "gmail/v1/users/me/labels") return R"({"labels":[{"id":"INBOX","name":"INBOX","type":"system"}]})";
    wrong("the adapter asks for " + url);
  }

  std::string list(const std::string& url) const {
    constexpr std::size_t ids = 500;
    const auto token = url.find("pageToken=");
    const auto from = token == std::string::npos ? 0 : std::stoul(url.substr(token + 10));
    const auto end = std::min(answers_.size(), from + ids);
    std::string page = "{\"messages\":[";
    for (auto i = from; i < end; ++i)
      page += fmt::format(R"({}{{"id":"{}"}})", i == from ? "" : ",", mail_id(static_cast<std::int64_t>(i)));
    page += "]";
    if (end < answers_.size()) page += fmt::format(R"(,"nextPageToken":"{}")", end);
    return page + "}";
  }

  std::vector<std::string> answers_;
};

struct Took {
  double cpu = 0, wall = 0;
};

void remove_files(const fs::path& file) {
  for (const auto* suffix : {"", "-wal", "-shm"}) fs::remove(file.string() + suffix);
}

/// The adapter's library as the host has it loaded.
class Adapter {
 public:
  explicit Adapter(const fs::path& directory) : plugins_(PluginRegistry::discover(directory, {})) {
    if (!plugins_.find("gmail")) wrong("the adapter cannot be loaded: " + plugins_.all().front().reason);
  }

  /// The mailbox has so many from now on.
  void receive(std::int64_t mails) { mailbox_ = std::make_shared<Mailbox>(mails); }

  const std::vector<CollectionSpec>& collections() const { return plugins_.find("gmail")->collections; }

  /// A first sync into a new replica, step after step as the host runs them.
  Took sync(const fs::path& file, std::int64_t mails) const {
    remove_files(file);
    SystemClock clock;
    CallRunner runner(clock, {});
    const PluginFactory factory(plugins_, runner, clock);
    const auto adapter = factory.make({"gmail", kAccount, 1, std::nullopt, "{}", mailbox_});
    Replica store(file, collections(), clock);
    const auto cpu = cpu_s(), start = now_s();
    for (auto next = SyncStep::Next::kMore; next != SyncStep::Next::kDone;) {
      const auto call =
          std::make_shared<CallContext>(CallOwner{"gmail", kAccount, 1, "", 0}, clock, clock.boot_ms() + 300'000);
      const auto result = adapter->ask<"full_sync">(call, store.begin_session());
      if (const auto* failure = std::get_if<CallFailure>(&result)) wrong(failure->message);
      next = std::get<SyncStep>(result).next;
      if (next == SyncStep::Next::kWait) wrong("the adapter waits");
    }
    const Took took{cpu_s() - cpu, now_s() - start};
    if (store.counts().at("messages") != mails) wrong("messages are missing");
    return took;
  }

 private:
  PluginRegistry plugins_;
  std::shared_ptr<Mailbox> mailbox_;
};

/// As the adapter gives it, and all of its text that the replica has stored.
struct Made {
  Record record;
  std::string text;
};

/// The records that a sync has stored, newest first.
std::vector<Made> records_of(const fs::path& synced) {
  const auto db = open_database(synced, kReplicaKind);
  Statement rows(db->getHandle(), "SELECT json, text FROM c_messages ORDER BY key");
  std::vector<Made> records;
  while (rows.step()) {
    const auto message = gmail::message_from_record(rows.text(0));
    if (!message) wrong("a record that was stored cannot be read");
    records.push_back({record(gmail::message_record(*message)), std::string(rows.text(1))});
    if (records.back().record.fields.size() != 4) wrong("a message has no Message-ID or thread");
  }
  return records;
}

/// They are put into the replica as they are: no answer is read.
Took put_made(const fs::path& file, const std::vector<CollectionSpec>& collections, std::vector<Made> records) {
  remove_files(file);
  SystemClock clock;
  Replica store(file, collections, clock);
  const auto session = store.begin_session();
  const auto cpu = cpu_s(), start = now_s();
  for (std::size_t i = 0; i < records.size(); ++i) {
    session->put(std::move(records[i].record));
    if (i % kPage == kPage - 1 || i + 1 == records.size()) session->commit();
  }
  return {cpu_s() - cpu, now_s() - start};
}

/// Into the same tables and indexes by bare statements: nothing is checked, folded, compared or looked up.
Took insert_plainly(const fs::path& file, const std::vector<CollectionSpec>& collections,
                    const std::vector<Made>& records) {
  remove_files(file);
  SystemClock clock;
  const Replica made(file, collections, clock);  // the tables
  const auto db = open_database(file, kReplicaKind);
  register_gram_tokenizer(db->getHandle());
  Statement row(db->getHandle(),
                "INSERT INTO c_messages (key, id, order_ms, order_key, scope, own_bytes, text, json, f_message_id, "
                "f_thread_id, f_date, f_size) VALUES (?1, ?2, ?3, '', '', ?4, ?5, ?6, ?7, ?8, ?9, ?10)");
  Statement index(db->getHandle(), "INSERT INTO t_messages (rowid, text) VALUES (?1, ?2)");
  Statement seen(db->getHandle(), "INSERT INTO s_messages VALUES (?1, 0, ?2, x'000102030405060708090a0b0c0d0e0f')");
  const auto cpu = cpu_s(), start = now_s();
  std::int64_t key = 0;
  for (std::size_t i = 0; i < records.size(); ++i) {
    const auto& [r, text] = records[i];
    key = std::max(first_key(r.order_ms), key + 1);
    if (i % kPage == 0) execute(db->getHandle(), "BEGIN IMMEDIATE");
    row.bind_all(key, r.id, r.order_ms, static_cast<std::int64_t>(text.size()), text, r.json,
                 std::get<std::string>(r.fields[2].second), std::get<std::string>(r.fields[3].second),
                 std::get<std::int64_t>(r.fields[0].second), std::get<std::int64_t>(r.fields[1].second))
        .run();
    index.bind_all(key, text).run();
    seen.bind_all(key, r.order_ms).run();
    if (i % kPage == kPage - 1 || i + 1 == records.size()) execute(db->getHandle(), "COMMIT");
  }
  return {cpu_s() - cpu, now_s() - start};
}

struct Compared {
  Rounds cpu, wall;
  void add(const Took& ours, const Took& theirs, std::int64_t mails) {
    const auto per = static_cast<double>(mails);
    cpu.add(per / ours.cpu, per / theirs.cpu);
    wall.add(per / ours.wall, per / theirs.wall);
  }
  void print(const std::string& what, double target) const {
    print_rates(what, cpu, target);
    print_rates("  by the clock on the wall", wall, target);
  }
};

/// `words` follow the text that the replica keeps the beginning of.
void write_maildir(const fs::path& directory, std::int64_t mails, std::size_t words) {
  for (const auto* part : {"cur", "new", "tmp"}) fs::create_directories(directory / part);
  MailCorpus corpus(mails);
  Corpus texts(mails);
  for (std::int64_t i = 0; i < mails; ++i) {
    auto mail = corpus.next(i);
    if (words > 0) mail.body += "\n" + texts.text(words);
    std::ofstream(directory / "cur" / fmt::format("{}.{}.host:2,S", mail.date_ms / 1000, mail.id)) << mail_file(mail);
  }
}

void compare_indexers(Adapter& adapter, const fs::path& scratch, std::int64_t mails, std::size_t words) {
  constexpr double target = 5;
  const auto directory = scratch / std::to_string(words), maildir = directory / "mail";
  fs::create_directories(directory);
  write_maildir(maildir, mails, words);
  adapter.receive(mails);
  for (const auto& indexer : mail_indexers(maildir, directory)) {
    if (!is_installed(indexer.name)) {
      fmt::print("{} is not installed (scripts/setup --bench): not compared\n", indexer.name);
      continue;
    }
    const auto ours = adapter.sync(directory / "replica.db", mails);
    const auto theirs = run_indexer(indexer, mails);
    Compared compared;
    compared.add(ours, {theirs.cpu_seconds, theirs.seconds}, mails);
    const std::string_view length = words > 0 ? "4,000" : "230";
    compared.print(fmt::format("sync of {} mails of {} bytes, a second of CPU / {}", mails, length, indexer.name),
                   target);
    Compared limit;
    const auto records = records_of(directory / "replica.db");
    limit.add(insert_plainly(directory / "other.db", adapter.collections(), records),
              {theirs.cpu_seconds, theirs.seconds}, mails);
    limit.print("  the same rows by bare statements / the same", target);
  }
}

void compare_insertions(Adapter& adapter, const fs::path& directory, std::int64_t mails, int rounds) {
  adapter.receive(mails);
  const auto file = directory / "replica.db", other = directory / "other.db";
  adapter.sync(file, mails);
  const auto records = records_of(file);
  Compared made, plain;
  for (int round = 0; round < rounds; ++round) {
    const auto put = put_made(other, adapter.collections(), records);
    const auto ours = adapter.sync(file, mails);
    made.add(ours, put, mails);
    plain.add(ours, insert_plainly(other, adapter.collections(), records), mails);
  }
  made.print(fmt::format("sync of {} mails, a second of CPU / records made beforehand", mails), 0.9);
  plain.print("  the same / bare statements into the same tables", 0.9);
}

}  // namespace

int main(int argc, char** argv) {
  const std::int64_t mails = argc > 1 ? std::stoll(argv[1]) : 20'000;
  const int rounds = argc > 2 ? std::stoi(argv[2]) : 3;
  configure_sqlite();
  const auto directory = fs::canonical(scratch_directory());
  const auto plugins = directory / "adapters";
  fs::create_directory(plugins);
  fs::copy_file(KRUXOS_BENCH_ADAPTER, plugins / "gmail.so");
  fs::permissions(plugins, fs::perms::owner_all);
  fs::permissions(plugins / "gmail.so", fs::perms(0644));
  Adapter adapter(plugins);
  print_header();
  compare_insertions(adapter, directory, mails, rounds);
  compare_indexers(adapter, directory, mails, 0);
  compare_indexers(adapter, directory, std::max<std::int64_t>(1, mails / 4), kWordsOfLong);
}
