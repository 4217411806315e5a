// Gmail's operators on a replica of its adapter's records: each is held against 5 ms.
//   bench-mail-search [MESSAGES]      default: 1,000,000
#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <filesystem>
#include <kruxos/testing.hpp>

#include "bench/corpus.hpp"
#include "core/replica/sync_store.hpp"
#include "core/util/clock.hpp"
#include "model.hpp"
#include "search.hpp"

namespace {

constexpr std::int64_t kNow = 1'700'000'000'000, kApartMs = 315'000;

double cpu_ms() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) * 1e3 + static_cast<double>(t.tv_nsec) / 1e6;
}

/// A mailbox of ten years: a few people write much, many little; most is read and filed.
class Mailbox {
 public:
  explicit Mailbox(std::int64_t messages) : corpus_(messages) {}

  gmail::Message next(std::int64_t number) {
    gmail::Message m;
    m.id = fmt::format("{:016x}", 0x18cf000000000000 + number);
    m.thread_id = fmt::format("{:016x}", 0x18cf000000000000 + number / 3);
    m.from = person();
    m.to = "Agent Smith <agent@example.com>";
    if (pick(10) == 0) m.to += ", " + person();
    if (pick(6) == 0) m.cc = person();
    m.subject = corpus_.text(static_cast<std::size_t>(4 + pick(7)));
    m.snippet = corpus_.text(static_cast<std::size_t>(26 + pick(14)));
    m.date_ms = kNow - number * kApartMs;
    m.size = 2'000 + pick(100'000);
    m.message_id = fmt::format("{}@mail.example.com", number);
    if (pick(100) < (number < 2'000 ? 60 : 8)) m.add("INBOX");
    if (pick(100) < 7) m.add("UNREAD");
    if (pick(100) < 15) {
      m.add("SENT");
      std::swap(m.from, m.to);
    }
    if (pick(100) < 30) m.add("IMPORTANT");
    if (pick(1'000) < 4) m.add("STARRED");
    if (pick(100) < 3) m.add("SPAM");
    if (pick(100) < 2) m.add("TRASH");
    m.add(fmt::format("Label_{}", skewed(200)));
    if (pick(100) < 12) m.attachments.push_back({"1", word() + (pick(4) ? ".pdf" : ".xlsx"), "a/b", 5'000});
    return m;
  }
  /// As somebody might search for it: seldom one of the most frequent.
  const std::string& word() { return corpus_.vocabulary(corpus_.skewed(40'000)); }
  const std::string& person() { return corpus_.person(corpus_.skewed(5'000)); }
  std::size_t skewed(std::size_t below) { return corpus_.skewed(below); }
  int pick(int below) { return static_cast<int>(random_() % static_cast<unsigned>(below)); }

 private:
  krux::bench::Corpus corpus_;
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
    "from:{p}",
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
    "from:{p} -subject:{w}",
    "the",
    "the from:{p}",
    "invoice the",
    "meeting label:label_{n} is:unread",
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

std::string address(const std::string& person) {
  const auto begins = person.find('<') + 1;
  return person.substr(begins, person.size() - begins - 1);
}

std::string filled(std::string query, Mailbox& mailbox) {
  for (auto at = query.find('{'); at != std::string::npos; at = query.find('{', at)) {
    const auto kind = query[at + 1];
    query.replace(at, 3,
                  kind == 'w'   ? mailbox.word()
                  : kind == 'p' ? address(mailbox.person())
                                : std::to_string(mailbox.skewed(200)));
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
  Mailbox mailbox(messages);
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
