// Searches over the gateway of a real host, by MCP and by JSON-RPC, against an MCP server of the official SDK on Node
// with the same messages in the same database engine (bench/peers/server.mjs), in turn. Every answer is compared before
// its figure counts.
//   bench-peers [MESSAGES [PAIRS]]   default: 100,000 messages, 11 pairs of each ratio
// scripts/setup --bench-peers installs the server first.
#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "bench/host_rig.hpp"
#include "bench/report.hpp"
#include "bench/rpc_client.hpp"
#include "bench/search_pairs.hpp"
#include "bench/slack_corpus.hpp"
#include "core/storage/database.hpp"
#include "core/util/json.hpp"

using namespace krux;
using namespace krux::bench;

namespace {

namespace fs = std::filesystem;

int pairs = Rounds::kPairs;
constexpr double kTimesOfOne = 2, kTimesOfTwo = 3.5;
constexpr const char* kTerms[] = {"meeting", "invoice", "team and", "zyxwquark", kOnlyWord, "nothing of this"};

/// What the server searches: the messages in the order of time, and their index by three letters.
class PeerDatabase {
 public:
  explicit PeerDatabase(const fs::path& file) : file_(file), db_(file, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE) {
    db_.exec("PRAGMA synchronous = OFF");
    db_.exec(
        "CREATE TABLE messages (text TEXT, channel_id TEXT, channel_name TEXT, user_id TEXT, user_name TEXT, at_ms "
        "INTEGER)");
    db_.exec("CREATE VIRTUAL TABLE found USING fts5(text, content = 'messages', tokenize = 'trigram')");
    db_.exec("BEGIN");
    insert_ =
        std::make_unique<SQLite::Statement>(db_,
                                            "INSERT INTO messages (rowid, text, channel_id, channel_name, user_id, "
                                            "user_name, at_ms) VALUES (?, ?, ?, ?, ?, ?, ?)");
  }
  void add(const SeededMessage& message, std::int64_t messages) {
    insert_->reset();
    insert_->bind(1, messages - message.nth);
    insert_->bind(2, message.text);
    insert_->bind(3, message.channel_id);
    insert_->bind(4, message.channel_name);
    insert_->bind(5, message.user_id);
    insert_->bind(6, message.user_name);
    insert_->bind(7, message.at_ms);
    insert_->exec();
  }
  const fs::path& finish() {
    insert_.reset();
    db_.exec("COMMIT");
    db_.exec("INSERT INTO found (found) VALUES ('rebuild')");
    db_.exec("INSERT INTO found (found) VALUES ('optimize')");
    return file_;
  }

 private:
  const fs::path file_;
  SQLite::Database db_;
  std::unique_ptr<SQLite::Statement> insert_;
};

/// The Node process, and one session of it for each client.
class PeerServer {
 public:
  explicit PeerServer(const fs::path& database) {
    const fs::path installed = KRUXOS_BENCH_PEERS;
    if (!fs::exists(installed / "installed")) wrong("the server is not installed: run scripts/setup --bench-peers");
    // A program finds the packages that are installed beside it.
    fs::copy_file(KRUXOS_BENCH_PEER_SERVER, installed / "server.mjs", fs::copy_options::overwrite_existing);
    test::Command command;
    command.argv = {installed / "node_modules/.bin/node", installed / "server.mjs", database};
    command.env = {{"NODE_ENV", "production"}};
    process_ = std::make_unique<test::Process>(command);
    const auto line = process_->wait_for_line("ready ", test::milliseconds(60'000));
    if (!line) wrong("the server did not start: " + process_->output(test::Stream::err));
    port_ = static_cast<std::uint16_t>(std::stoi(line->substr(6)));
  }

  std::unique_ptr<RpcClient> client() const { return std::make_unique<RpcClient>(port_, ""); }
  static std::string hello() {
    return post("", R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25",)"
                    R"("capabilities":{},"clientInfo":{"name":"bench","version":"1"}}})");
  }
  static std::string search(const std::string& session, const std::string& term) {
    return post("Mcp-Session-Id: " + session + "\r\n",
                fmt::format(R"({{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"search","arguments":)"
                            R"({{"query":{}}}}}}})",
                            json_string(term)));
  }

 private:
  static std::string post(const std::string& more, const std::string& body) {
    return fmt::format(
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        "Accept: application/json, text/event-stream\r\n{}Content-Length: {}\r\n\r\n{}",
        more, body.size(), body);
  }

  std::unique_ptr<test::Process> process_;
  std::uint16_t port_ = 0;
};

/// The texts that an answer shows and how many it says there are.
struct Shown {
  std::vector<std::string> texts;
  std::int64_t total = 0;
  bool bound = false;
};
Shown shown_in(std::string_view body, const char* way_to_messages) {
  const auto document = parse_json(body, "the answer", {16 << 20, 64});
  const JsonValue* at = &document;
  for (std::string_view way(way_to_messages); at && !way.empty();) {
    const auto end = std::min(way.find('/'), way.size());
    at = find_member(*at, way.substr(0, end));
    way.remove_prefix(std::min(end + 1, way.size()));
  }
  const auto* messages = at ? find_member(*at, "messages") : nullptr;
  if (!messages) wrong("an answer shows no messages: " + std::string(body.substr(0, 300)));
  Shown shown;
  for (const auto& message : messages->GetArray()) shown.texts.emplace_back(find_string(message, "text").value_or(""));
  shown.total = find_int(*at, "total").value_or(-1);
  shown.bound = find_bool(*at, "total_is_lower_bound").value_or(false);
  return shown;
}

/// Both show the same messages in the same order; how many there are is compared where both have counted all.
void must_agree(const std::string& term, const Shown& ours, const Shown& theirs) {
  if (ours.texts != theirs.texts || (!ours.bound && !theirs.bound && ours.total != theirs.total))
    wrong(fmt::format("\"{}\": the host shows {} of {}, the server {} of {}, or others", term, ours.texts.size(),
                      ours.total, theirs.texts.size(), theirs.total));
}

/// How an answer begins, to the end of its rows; what follows may change with the time.
std::string rows_of(std::string_view body, std::string_view end) {
  const auto at = body.find(end);
  if (at == std::string_view::npos) wrong("an answer has no total: " + std::string(body.substr(0, 300)));
  return std::string(body.substr(0, at));
}

struct PeerSearch {
  std::string request, expected;
};

class Comparison {
 public:
  Comparison(const HostRig& host, const std::string& key, const PeerServer& server, int connections) {
    for (int i = 0; i < connections; ++i) {
      ours_.push_back(std::make_unique<RpcClient>(host.port(), key));
      theirs_.push_back(server.client());
      sessions_.emplace_back(header_in(theirs_.back()->ask(PeerServer::hello()).head, "mcp-session-id"));
    }
    for (const auto* term : kTerms) prepare(term);
  }

  void rows(double target) {
    const auto many = fmt::format("{} connection{}", ours_.size(), ours_.size() > 1 ? "s" : "");
    for (const auto& [name, searches] : {std::pair("/mcp", &by_mcp_), std::pair("/rpc", &by_rpc_)}) {
      compare_with(*searches, ours_, baseline(), 1);  // warms both up
      print_rates(fmt::format("slack.search over {}, {} / Node with the official SDK", name, many),
                  compare_with(*searches, ours_, baseline(), pairs), target);
    }
  }

 private:
  void prepare(const std::string& term) {
    std::vector<PeerSearch> peers;
    std::string body;
    for (std::size_t i = 0; i < theirs_.size(); ++i) {
      auto request = PeerServer::search(sessions_[i], term);
      body = theirs_[i]->call(request);
      peers.push_back({std::move(request), rows_of(body, R"(,\"total\":)")});
    }
    const auto theirs = shown_in(body, "result/structuredContent");
    const auto add = [&](std::vector<PairedSearch>& all, std::string request, const char* way, const char* end) {
      PairedSearch search{term, "slack.search", "", {}};
      search.request = std::move(request);
      const std::string answer(ours_[0]->call(search.request));
      must_agree(term, shown_in(answer, way), theirs);
      search.expected = rows_of(answer, end);
      all.push_back(std::move(search));
    };
    const auto quoted = fmt::format(R"({{"query":{}}})", json_string("\"" + term + "\""));
    add(by_mcp_, ours_[0]->tool_request("slack__search", quoted), "result/structuredContent", R"(,\"total\":)");
    add(by_rpc_, ours_[0]->request("slack.search", quoted), "result/data", R"(,"total":)");
    peers_[term] = std::move(peers);
  }

  Baseline baseline() {
    return [this](const PairedSearch& search, std::size_t thread) {
      const auto& peer = peers_.at(search.name)[thread];
      if (!theirs_[thread]->call(peer.request).starts_with(peer.expected))
        wrong(search.name + ": the server's answer has changed");
    };
  }

  Clients ours_, theirs_;
  std::vector<std::string> sessions_;
  std::vector<PairedSearch> by_mcp_, by_rpc_;
  std::map<std::string, std::vector<PeerSearch>> peers_;
};

}  // namespace

int main(int argc, char** argv) {
  const std::int64_t messages = argc > 1 ? std::stoll(argv[1]) : 100'000;
  if (argc > 2) pairs = std::stoi(argv[2]);
  configure_sqlite();
  const auto directory = scratch_directory();
  HostRig host(directory);
  PeerDatabase database(directory / "peer.db");
  seed(host.slack(), messages, [&](const SeededMessage& message) { database.add(message, messages); });
  const PeerServer server(database.finish());
  print_header();
  host.start(1);
  host.connect();
  host.await_sync(messages);
  const auto key = host.new_agent();
  Comparison(host, key, server, 1).rows(kTimesOfOne);
  host.stop();
  host.start(2);
  host.await_sync(messages);
  Comparison(host, key, server, 2).rows(kTimesOfTwo);
}
