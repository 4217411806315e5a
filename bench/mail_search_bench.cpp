// Gmail's operators on a replica of its adapter's records: each form is held against 5 ms.
//   bench-mail-search [MESSAGES [FILE]]      default: 100,000; a FILE is kept, and searched as it is when it is there
#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <filesystem>
#include <kruxos/testing.hpp>
#include <string_view>

#include "bench/mailbox.hpp"
#include "bench/report.hpp"
#include "core/replica/replica.hpp"
#include "core/util/clock.hpp"
#include "search.hpp"

namespace {

using krux::bench::condition;
using krux::bench::Mailbox;

double cpu_ms() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) * 1e3 + static_cast<double>(t.tv_nsec) / 1e6;
}

std::vector<krux::CollectionSpec> specs() {
  return krux::parse_collections(kruxos::detail::to_json(kruxos::Description{gmail::collections(), {}}));
}

constexpr int kSearches = 100;      ///< of each form
constexpr std::size_t kShown = 10;  ///< forms

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
    "{1}",
    "{2}",
    "{3}",
    "subject:{1}",
    "from:{2}",
    "{1} {1}",
    "{2} {2}",
    "{3} {3}",
    "{3} {1}",
    "the up",
    "subject:{1} from:{1}",
    "subject:{2} from:{2}",
    "subject:{3} from:{3}",
    "subject:{3} from:{1}",
    "subject:{2} to:{3}",
    "subject:any from:up",
    "subject:re from:al",
    "{3} from:{2}",
    "subject:{2} from:{3} is:unread",
    "label:label_{n} subject:{2}",
    "subject:{2} OR from:{3}",
    "subject:{3} -from:{2}",
    "after:2020/01/01 before:2020/02/01 subject:{2} from:{2}",
};

std::string address(const std::string& person) {
  const auto begins = person.find('<') + 1;
  return person.substr(begins, person.size() - begins - 1);
}

/// {w}: a word, {1} to {3}: so many of its letters, {p}: an address, {n}: a label's number.
std::string filled(std::string query, Mailbox& mailbox) {
  for (auto at = query.find('{'); at != std::string::npos; at = query.find('{', at)) {
    const auto kind = query[at + 1];
    std::string part;
    if (kind == 'w') part = mailbox.word();
    if (kind == 'p') part = address(mailbox.person());
    if (kind == 'n') part = std::to_string(mailbox.skewed(200));
    if (kind >= '1' && kind <= '3') part = mailbox.word().substr(0, static_cast<std::size_t>(kind - '0'));
    query.replace(at, 3, part);
  }
  return query;
}

struct Figures {
  std::vector<double> times;
  int incomplete = 0;
};

/// Searches of one form, in milliseconds of this thread's CPU: from the query's text to the rows, read as records.
Figures measure(const char* form, int searches, Mailbox& mailbox, krux::Replica& store,
                const gmail::LabelNames& names) {
  Figures figures;
  for (int i = 0; i < searches; ++i) {
    const auto params = gmail::parse(gmail::ObjectWriter().text("query", filled(form, mailbox)).done());
    const auto begun = cpu_ms();
    const auto wanted = gmail::search_query(params, names, "agent@example.com", Mailbox::kNow);
    const krux::Query query{wanted.collection, condition(wanted.where), true, wanted.from_ms, wanted.to_ms, 20, 0, 0};
    const auto result =
        store.reader()->query(query, [](const auto& row) { return gmail::message_from_record(row.json).has_value(); });
    figures.times.push_back(cpu_ms() - begun);
    figures.incomplete += result.incomplete ? 1 : 0;
  }
  std::sort(figures.times.begin(), figures.times.end());
  return figures;
}

double quantile(const std::vector<double>& sorted, double share) {
  return sorted[static_cast<std::size_t>(static_cast<double>(sorted.size() - 1) * share)];
}

struct Form {
  const char* query;
  double median, p99;
};

/// What lacks something that nearly every mail has is not found but by looking at each: the time bounds it.
bool is_denial(const Form& form) {
  const std::string_view query = form.query;
  return query.starts_with("-(") || query.find(" -from:{2}") != std::string_view::npos;
}

void print_slowest(std::vector<Form> forms) {
  const auto first_denial =
      std::stable_partition(forms.begin(), forms.end(), [](const Form& form) { return !is_denial(form); });
  const auto print = [](const char* what, auto figure, auto begin, auto end, double bound) {
    const auto slowest = *std::max_element(begin, end, [&](auto& a, auto& b) { return a.*figure < b.*figure; });
    krux::bench::print_bound(fmt::format("slowest of {} {}: {}", end - begin, what, slowest.query), slowest.*figure,
                             "ms", bound);
  };
  print("forms, p50", &Form::median, forms.begin(), first_denial, 5);
  print("forms, p99", &Form::p99, forms.begin(), first_denial, 5);
  print("denials of short words, p99", &Form::p99, first_denial, forms.end(), 51);
  std::sort(forms.begin(), forms.end(), [](const Form& a, const Form& b) { return a.p99 > b.p99; });
  forms.resize(kShown);
  fmt::print("\n{:<60} {:>9} {:>9}\n", "the slowest", "p50 ms", "p99 ms");
  for (const auto& form : forms) fmt::print("{:<60} {:>9.3f} {:>9.3f}\n", form.query, form.median, form.p99);
}

void measure_all(const gmail::LabelNames& names, krux::Replica& store, std::int64_t messages) {
  Figures all;
  std::vector<Form> forms;
  for (const bool counts : {false, true}) {  // the first round brings the pages into memory
    Mailbox mailbox(messages);
    for (const auto* form : kQueries) {
      const auto figures = measure(form, kSearches, mailbox, store, names);
      if (!counts) continue;
      all.times.insert(all.times.end(), figures.times.begin(), figures.times.end());
      all.incomplete += figures.incomplete;
      forms.push_back({form, quantile(figures.times, 0.5), quantile(figures.times, 0.99)});
    }
  }
  std::sort(all.times.begin(), all.times.end());
  krux::bench::print_bound(fmt::format("{} searches of {} mails, p99 of CPU", all.times.size(), messages),
                           quantile(all.times, 0.99), "ms", 5);
  krux::bench::print_figure("p50", quantile(all.times, 0.5), "ms");
  const auto share = 1000.0 * all.incomplete / static_cast<double>(all.times.size());
  krux::bench::print_bound("cut short by the time, of 1,000", share, "", 1);
  print_slowest(std::move(forms));
}

}  // namespace

int main(int argc, char** argv) {
  const std::int64_t messages = argc > 1 ? std::atoll(argv[1]) : 100'000;
  if (messages < 1'000) krux::bench::wrong("MESSAGES is a number, 1,000 or more.");
  const std::filesystem::path file = argc > 2 ? argv[2] : krux::bench::scratch_directory() / "mail.db";
  const bool filled = std::filesystem::exists(file);
  krux::SystemClock clock;
  krux::Replica store(file, specs(), clock);
  Mailbox mailbox(messages);
  if (!filled) krux::bench::fill(store, messages, mailbox);
  while (store.idle()) {  // as the host has it between passes
  }
  kruxos::testing::FakeClock fake_clock;
  kruxos::testing::FakeStore labels(fake_clock, gmail::collections());
  auto to = labels.store();
  for (int i = 0; i < 200; ++i)
    to.put(gmail::label_record({fmt::format("Label_{}", i), fmt::format("label_{}", i), false}));
  to.commit();
  krux::bench::print_header();
  measure_all(gmail::LabelNames(labels.reader()), store, messages);
}
