#include "bench/search_pairs.hpp"

#include <algorithm>
#include <atomic>
#include <string_view>
#include <thread>

#include "core/util/json.hpp"

namespace krux::bench {
namespace {

constexpr double kSliceSeconds = 0.15;

std::atomic<std::int64_t> cut{0};

/// Whether the answer says that its time was up before all rows were found.
bool is_cut(std::string_view text) {
  const auto end = text.substr(text.size() - std::min<std::size_t>(text.size(), 400));
  return end.find("\"incomplete\":true") != std::string_view::npos;
}

/// The total, or 0 when it is a lower bound: where counting ends then may differ from run to run.
std::uint64_t exact_total(const JsonValue& data) {
  if (find_bool(data, "total_is_lower_bound") == true) return 0;
  return static_cast<std::uint64_t>(find_int(data, "total").value_or(-1));
}

/// The rows are the expected ones, and so is the total, unless the answer says that counting ended early (on a busy
/// machine its time may be up). An answer that says of its rows that the time was up is counted, not compared.
bool holds(std::string_view text, std::string_view rows, std::string_view total) {
  if (is_cut(text)) return ++cut > 0;
  if (!text.starts_with(rows)) return false;
  text.remove_prefix(rows.size());
  return text.starts_with(total) || text.substr(0, 64).find("\"total_is_lower_bound\":true") != std::string_view::npos;
}

std::string tool_of(std::string_view capability) {
  const auto dot = capability.find('.');
  return std::string(capability.substr(0, dot)) + "__" + std::string(capability.substr(dot + 1));
}

/// Searches a second of `threads` threads that each run `body` over and over.
double rate(std::size_t threads, const std::function<std::size_t(std::size_t)>& body) {
  std::vector<std::size_t> counts(threads);
  std::vector<std::thread> running;
  const auto start = now_s();
  for (std::size_t t = 0; t < threads; ++t) {
    running.emplace_back([&, t] {
      std::size_t count = 0;
      while (now_s() - start < kSliceSeconds) count += body(t);
      counts[t] = count;
    });
  }
  for (auto& thread : running) thread.join();
  std::size_t sum = 0;
  for (const auto count : counts) sum += count;
  return static_cast<double>(sum) / (now_s() - start);
}

}  // namespace

std::int64_t cut_answers() {
  return cut;
}

void check_answers(std::vector<PairedSearch>& all, RpcClient& client) {
  for (auto& search : all) {
    search.request = search.as_tool ? client.tool_request(tool_of(search.capability), search.arguments)
                                    : client.request(search.capability, search.arguments);
    std::string here, body;
    // The first ones of a new process read from the disk and may run out of time.
    for (int i = 0; i < 50 && (i < 5 || is_cut(here) || is_cut(body)); ++i) {
      here = search.here();
      body = client.call(search.request);
    }
    const auto answer = parse_json(body, "the answer"), ours = parse_json(here, "the result");
    const auto* result = find_member(answer, "result");
    const auto* data = result ? find_member(*result, search.as_tool ? "structuredContent" : "data") : nullptr;
    const auto* rows = data ? find_member(*data, "messages") : nullptr;
    if (!rows) wrong(search.name + ": " + body);
    const auto& expected = *find_member(ours, "messages");
    const auto theirs_total = exact_total(*data), our_total = exact_total(ours);
    bool same = rows->Size() == expected.Size() && (theirs_total == our_total || theirs_total == 0 || our_total == 0);
    for (rapidjson::SizeType i = 0; same && i < expected.Size(); ++i)
      same = find_string((*rows)[i], "id") == find_string(expected[i], "id");
    if (!same) wrong(search.name + ": the gateway's answer is not that of the replica");
    const auto end = here.rfind(",\"total\":");
    search.found = here.substr(0, end);
    // A lower bound ends where its time was up, which is elsewhere each time.
    search.total = our_total > 0 ? here.substr(end, here.find_first_of(",}", end + 1) - end) : "";
    const auto at = body.find(search.found);
    if (at == std::string::npos) wrong(search.name + ": the gateway's rows are not those of the replica");
    search.expected = body.substr(0, at + search.found.size());
    // A tool's answer says all as text first, and with it how old the replica is.
    if (search.as_tool) search.expected = body.substr(0, body.find(R"(,\"total\":)"));
  }
}

BareServers::BareServers(const std::vector<PairedSearch>& all, const Clients& clients) {
  std::size_t request = 0, answer = 0;
  for (const auto& search : all) {
    request += search.request.size() / all.size();
    answer += clients[0]->call_bytes(search.request) / all.size();
  }
  for (std::size_t i = 0; i < clients.size(); ++i) {
    loopbacks_.push_back(std::make_unique<Loopback>(
        request, answer, [all, next = std::size_t{0}]() mutable { all[next++ % all.size()].here(); }));
  }
}

Rounds compare_with(const std::vector<PairedSearch>& all, Clients& clients, const Baseline& baseline, int pairs) {
  Rounds measured;
  for (int pair = 0; pair < pairs; ++pair) {
    const auto here = rate(clients.size(), [&](std::size_t t) {
      for (const auto& search : all) baseline(search, t);
      return all.size();
    });
    const auto there = rate(clients.size(), [&](std::size_t t) {
      for (const auto& search : all) {
        if (!holds(clients[t]->call(search.request), search.expected, search.as_tool ? "" : search.total))
          wrong(search.name + ": the gateway's answer has changed");
      }
      return all.size();
    });
    measured.add(there, here);
  }
  return measured;
}

Rounds compare(const std::vector<PairedSearch>& all, Clients& clients, int pairs) {
  return compare_with(
      all, clients,
      [](const PairedSearch& search, std::size_t) {
        if (!holds(search.here(), search.found, search.total)) wrong(search.name + ": the replica has changed");
      },
      pairs);
}

}  // namespace krux::bench
