// Gmail's operators on a replica of its adapter's records: each is held against 5 ms.
//   bench-mail-search [MESSAGES]      default: 1,000,000
#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <filesystem>
#include <kruxos/testing.hpp>
#include <random>

#include "core/replica/sync_store.hpp"
#include "core/util/clock.hpp"
#include "model.hpp"
#include "search.hpp"

namespace {

constexpr std::int64_t kNow = 1'700'000'000'000;

double cpu_ms() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) * 1e3 + static_cast<double>(t.tv_nsec) / 1e6;
}

/// A mailbox of ten years: a few people write much, many little; most is read and filed.
class Mailbox {
 public:
  gmail::Message next(std::int64_t number) {
    gmail::Message m;
    m.id = fmt::format("{:016x}", 0x18cf000000000000 + number);
    m.thread_id = fmt::format("{:016x}", 0x18cf000000000000 + number / 3);
    const auto sender = skewed(20'000);
    m.from = fmt::format("{} {} <{}.{}@{}.example.com>", word(sender), word(sender + 7), word(sender), word(sender + 7),
                         word(sender % 300));
    m.to = "Agent Smith <agent@example.com>";
    if (pick(10) == 0) m.to += fmt::format(", {0} <{0}@example.com>", word(skewed(5'000)));
    if (pick(6) == 0) m.cc = fmt::format("{0} <{0}@example.com>", word(skewed(5'000)));
    m.subject = words(6);
    m.snippet = words(25);
    m.date_ms = kNow - number * 315'000;
    m.size = 2'000 + pick(100'000);
    m.message_id = fmt::format("{}@mail.example.com", number);
    if (pick(100) < (number < 2'000 ? 60 : 8)) m.add("INBOX");
    if (pick(100) < 7) m.add("UNREAD");
    if (pick(100) < 15) m.add("SENT");
    if (pick(100) < 30) m.add("IMPORTANT");
    if (pick(1'000) < 4) m.add("STARRED");
    if (pick(100) < 3) m.add("SPAM");
    if (pick(100) < 2) m.add("TRASH");
    m.add(fmt::format("Label_{}", skewed(200)));
    if (pick(100) < 12) m.attachments.push_back({"1", word(pick(3'000)) + (pick(4) ? ".pdf" : ".xlsx"), "a/b", 5'000});
    return m;
  }
  std::string word(std::int64_t n) const {
    static const char* const syllables[] = {"ka", "ro", "mi", "te", "lan", "ver", "so", "di", "nu", "pa", "gel", "fo"};
    std::string out;
    auto h = static_cast<std::uint64_t>(n + 1) * 0x9E3779B97F4A7C15u >> 20;
    for (int i = 0; i < 3; ++i, h /= 12) out += syllables[h % 12];
    return out;
  }
  std::int64_t skewed(std::int64_t below) {
    const double u = static_cast<double>(random_()) / static_cast<double>(std::mt19937::max());
    return static_cast<std::int64_t>(static_cast<double>(below) * u * u * u * 0.999);
  }
  int pick(int below) { return static_cast<int>(random_() % static_cast<unsigned>(below)); }

 private:
  std::string words(int count) {
    std::string out;
    for (int i = 0; i < count; ++i) out += (i ? " " : "") + word(skewed(20'000));
    return out;
  }
  std::mt19937 random_{7};
};

krux::Condition condition(const kruxos::Condition& from) {
  krux::Condition to;
  to.kind = static_cast<krux::Condition::Kind>(from.kind - KRUX_ALL_OF);
  to.op = static_cast<krux::Condition::Op>(std::max(0, from.op - KRUX_EQ));
  to.field = from.field;
  to.text = from.text;
  to.number = from.number;
  for (const auto& child : from.children) to.children.push_back(condition(child));
  return to;
}

std::vector<krux::CollectionSpec> specs() {
  std::vector<krux::CollectionSpec> out;
  for (const auto& c : gmail::collections()) {
    krux::CollectionSpec spec;
    spec.name = c.name;
    spec.version = c.version;
    spec.order =
        c.order == kruxos::Order::kTime ? krux::CollectionSpec::Order::kTime : krux::CollectionSpec::Order::kKey;
    spec.searchable = c.searchable;
    for (const auto& f : c.fields) {
      spec.fields.push_back({f.name, f.type == kruxos::FieldType::kText ? krux::FieldSpec::Type::kText
                                                                        : krux::FieldSpec::Type::kInteger});
    }
    out.push_back(std::move(spec));
  }
  return out;
}

void fill(krux::SyncStore& store, std::int64_t messages, Mailbox& mailbox) {
  auto session = store.begin_session();
  for (std::int64_t n = 0; n < messages; ++n) {
    const auto record = gmail::message_record(mailbox.next(n));
    krux::Record to;
    to.collection = record.collection;
    to.id = record.id;
    to.json = record.json;
    to.text = record.text;
    to.order_ms = record.order_ms;
    for (const auto& [name, value] : record.fields) {
      std::visit([&](const auto& v) { to.fields.emplace_back(name, v); }, value);
    }
    session->put(std::move(to));
    if (n % 200 == 199) session->commit();
  }
  session->commit();
}

const char* const kQueries[] = {
    "",
    "{w}",
    "{w} {w}",
    "\"{w} {w}\"",
    "from:{w}",
    "from:{w}.{w}",
    "to:{w}",
    "cc:{w}",
    "subject:{w}",
    "subject:{w} from:{w}",
    "label:label_{n}",
    "label:label_{n} {w}",
    "-label:label_{n}",
    "label:label_{n} is:unread",
    "in:inbox",
    "in:inbox is:unread",
    "in:sent",
    "in:trash",
    "in:anywhere {w}",
    "is:unread",
    "is:read",
    "is:starred",
    "-is:starred",
    "is:important -in:inbox",
    "is:starred from:{w}",
    "has:attachment",
    "has:attachment from:{w}",
    "filename:pdf",
    "filename:{w}",
    "filename:xlsx is:unread",
    "older_than:5y",
    "older_than:5y {w}",
    "after:2020/01/01 before:2020/02/01",
    "after:2020/01/01 before:2020/02/01 {w}",
    "before:2015/01/01 -in:inbox",
    "newer_than:30d -from:{w}",
    "from:{w} OR from:{w}",
    "-({w} OR {w})",
    "rfc822msgid:{n}@mail.example.com",
    "larger:90k is:unread",
    "from:me",
    "zzqqxx",
    "from:zzqqxx",
    "filename:zzqqxx",
    "-in:inbox -in:sent -in:trash is:unread",
};

std::string filled(std::string query, Mailbox& mailbox) {
  for (auto at = query.find('{'); at != std::string::npos; at = query.find('{', at)) {
    query.replace(at, 3,
                  query[at + 1] == 'w' ? mailbox.word(mailbox.skewed(20'000)) : std::to_string(mailbox.skewed(200)));
  }
  return query;
}

}  // namespace

int main(int argc, char** argv) {
  const std::int64_t messages = argc > 1 ? std::atoll(argv[1]) : 1'000'000;
  const auto file = std::filesystem::temp_directory_path() / "kruxos-bench-mail-search.db";
  if (argc <= 2) {
    for (const auto* suffix : {"", "-wal", "-shm"}) std::filesystem::remove(file.string() + suffix);
  }
  krux::SystemClock clock;
  krux::SyncStore store(file, specs(), clock);
  Mailbox mailbox;
  const auto start = cpu_ms();
  if (argc <= 2) fill(store, messages, mailbox);
  fmt::print("{} messages in {:.0f} s, {} MB\n", messages, (cpu_ms() - start) / 1e3,
             std::filesystem::file_size(file) >> 20);
  kruxos::testing::FakeClock fake_clock;
  kruxos::testing::FakeStore labels(fake_clock, gmail::collections());
  auto to = labels.store();
  for (int i = 0; i < 200; ++i)
    to.put(gmail::label_record({fmt::format("Label_{}", i), fmt::format("label_{}", i), false}));
  to.commit();
  const gmail::LabelNames names(labels.reader());
  std::vector<double> all;
  for (const auto* text : kQueries) {
    std::vector<double> times;
    int incomplete = 0;
    std::uint64_t total = 0;
    std::string slowest;
    for (int i = 0; i < 60; ++i) {
      const auto query = filled(text, mailbox);
      const auto params = gmail::parse(gmail::ObjectWriter().text("query", query).done());
      const auto begun = cpu_ms();
      const auto wanted = gmail::search_query(params, names, "agent@example.com", kNow);
      krux::Query real{wanted.collection, condition(wanted.where), true, wanted.from_ms, wanted.to_ms, 20, 0, 0};
      const auto result =
          store.reader()->query(real, [](const auto& row) { return gmail::message_from_record(row.json).has_value(); });
      times.push_back(cpu_ms() - begun);
      if (times.back() >= *std::max_element(times.begin(), times.end())) slowest = query;
      incomplete += result.incomplete;
      total = result.total;
    }
    std::sort(times.begin(), times.end());
    all.insert(all.end(), times.begin(), times.end());
    fmt::print("{:45} p50 {:7.2f} ms  max {:7.2f} ms  incomplete {:2}  last total {:5}  slowest {}\n", text, times[30],
               times.back(), incomplete, total, slowest);
  }
  std::sort(all.begin(), all.end());
  fmt::print("all: p50 {:.2f} ms, p99 {:.2f} ms\n", all[all.size() / 2], all[all.size() * 99 / 100]);
}
