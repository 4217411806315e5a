// What rules' facts take: look-ups in a replica of the Gmail adapter's records, and texts of 10 KB. In microseconds of
// the asking thread's processor time.
//   bench-facts [MESSAGES]      default: 100,000
#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <kruxos/testing.hpp>
#include <memory>
#include <string>
#include <vector>

#include "bench/mailbox.hpp"
#include "bench/report.hpp"
#include "core/definition/definition_loader.hpp"
#include "core/facts/fact_book.hpp"
#include "core/storage/group_commit.hpp"
#include "core/util/clock.hpp"
#include "core/util/json.hpp"
#include "model.hpp"

namespace {

using namespace krux;

constexpr int kAsked = 1'000;
constexpr std::size_t kTextBytes = 10'000;

double cpu_us() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) * 1e6 + static_cast<double>(t.tv_nsec) / 1e3;
}

struct Book {
  SystemClock clock;
  GroupCommit store;
  AgentHistory history{store, clock};
  AccountDirectory accounts;
  FactBook facts{history, accounts};
  std::shared_ptr<const ServiceDefinition> definition =
      std::make_shared<const ServiceDefinition>(load_definition(KRUXOS_BENCH_MAIL_DEFINITION));

  Book(const std::filesystem::path& file, std::shared_ptr<Replica> replica) : store(file, kLedgerKind) {
    ActiveAccount account;
    account.ref = {"gmail", "agent@example.com", 1};
    account.definition = definition;
    account.replica = std::move(replica);
    accounts.publish(std::make_shared<const ActiveAccount>(std::move(account)));
  }
  /// What one answer takes; `params` is parsed before.
  double ask(const char* fact, const std::string& params) {
    const auto document = parse_json(params, "the parameters");
    const auto begun = cpu_us();
    const auto answer = answer_to(fact, document);
    const auto took = cpu_us() - begun;
    if (answer.truth == Truth::kNotKnown) bench::wrong(fmt::format("{} is not known: {}", fact, answer.because));
    return took;
  }
  FactAnswer answer_to(const char* fact, const rapidjson::Document& params) {
    const FactQuestion question{
        "bench", *definition->find("email.send"), params, Mailbox::kNow, {"agent_1", "gmail", "agent@example.com"}};
    return facts.ask(fact, question);
  }
  using Mailbox = bench::Mailbox;
};

void print(const std::string& what, const std::function<double(int)>& once, double bound) {
  std::vector<double> times;
  for (int i = 0; i < 2 * kAsked; ++i) {  // the first half brings the pages into memory
    const auto took = once(i);
    if (i >= kAsked) times.push_back(took);
  }
  std::sort(times.begin(), times.end());
  bench::print_bound(what + ", p50", times[times.size() / 2], "us", bound);
  bench::print_figure("p99", times[times.size() * 99 / 100], "us");
}

std::string mail(const std::string& to, const std::string& body) {
  return fmt::format(R"({{"to":{},"body":{}}})", json_string(to), json_string(body));
}

std::string long_text(bench::Mailbox& mailbox) {
  std::string text;
  while (text.size() < kTextBytes) text += mailbox.word() + (text.size() % 97 == 0 ? ". " : " ");
  return text;
}

void measure_look_ups(Book& book, bench::Mailbox& mailbox) {
  constexpr double kLookUpUs = 50;
  for (const char* fact : {"new_recipient", "unfamiliar_recipient"}) {
    print(
        fmt::format("{}, of a correspondent", fact), [&](int) { return book.ask(fact, mail(mailbox.person(), "hi")); },
        kLookUpUs);
    print(
        fmt::format("{}, of a stranger", fact),
        [&](int i) { return book.ask(fact, mail(fmt::format("stranger{}@nowhere{}.example", i, i % 7), "hi")); },
        kLookUpUs);
  }
  print(
      "new_link, of a host that nobody has named",
      [&](int i) { return book.ask("new_link", mail("a@b.example", fmt::format("https://host{}.example/x", i))); },
      kLookUpUs);
  // The domains that the account has written to are read in steps, by as many questions as that takes.
  constexpr int kMostToRead = 1'000;
  int asked = 1;
  const auto to_stranger = parse_json(mail("a@b.example", "hi"), "the parameters");
  while (book.answer_to("look_alike_recipient", to_stranger).truth == Truth::kNotKnown) {
    if (++asked > kMostToRead) bench::wrong("Whom the account has written to is never read to its end.");
  }
  bench::print_figure("look_alike_recipient, questions until it is known", asked, "");
  print(
      "look_alike_recipient, of a stranger",
      [&](int i) {
        return book.ask("look_alike_recipient", mail(fmt::format("stranger{}@nowhere{}.example", i, i % 7), "hi"));
      },
      kLookUpUs);
  print(
      "new_phone, that nobody has named",
      [&](int i) { return book.ask("new_phone", mail("a@b.example", fmt::format("+49 171 555{:04}", i))); }, kLookUpUs);
  print(
      "quotes_code, of a number that nobody has named",
      [&](int i) { return book.ask("quotes_code", mail("a@b.example", fmt::format("5582-{:04}", i))); }, kLookUpUs);
}

void measure_texts(Book& book, bench::Mailbox& mailbox) {
  constexpr double kTextUs = 2'000;
  const auto text = long_text(mailbox);
  print(
      "carries_secret, of 10 KB", [&](int) { return book.ask("carries_secret", mail("a@b.example", text)); }, kTextUs);
  print(
      "read_code, of 10 KB", [&](int) { return book.ask("read_code", mail("a@b.example", text)); }, kTextUs);
  const auto read = fmt::format(R"({{"body":{}}})", json_string(text));
  for (int i = 0; i < 150; ++i) {
    const auto other = fmt::format(R"({{"body":{}}})", json_string(long_text(mailbox)));
    book.history.words.note("agent_1", {"gmail", "agent@example.com", "email.read", fmt::format("m{}", i)}, other);
  }
  print(
      "read_words, of 10 KB against as many as are kept",
      [&](int) { return book.ask("read_words", mail("a@b.example", long_text(mailbox))); }, kTextUs);
  print(
      "noting the words of 10 KB",
      [&](int i) {
        const auto begun = cpu_us();
        book.history.words.note("agent_2", {"gmail", "agent@example.com", "email.read", fmt::format("m{}", i)}, read);
        return cpu_us() - begun;
      },
      kTextUs);
  print(
      "noting a read of 10 KB",
      [&](int) {
        const auto begun = cpu_us();
        book.history.reads.note("agent_1", {"gmail", "agent@example.com", "email.read", "m"}, read);
        return cpu_us() - begun;
      },
      kTextUs);
}

}  // namespace

int main(int argc, char** argv) {
  const std::int64_t messages = argc > 1 ? std::atoll(argv[1]) : 100'000;
  if (messages < 1'000) bench::wrong("MESSAGES is a number, 1,000 or more.");
  const auto directory = bench::scratch_directory();
  SystemClock clock;
  const auto specs = parse_collections(kruxos::detail::to_json(kruxos::Description{gmail::collections(), {}}));
  const auto replica = std::make_shared<Replica>(directory / "mail.db", specs, clock);
  bench::Mailbox mailbox(messages);
  bench::fill(*replica, messages, mailbox);
  replica->finish_pass(true, clock.wall_ms());
  while (replica->idle()) {  // as the host has it between passes
  }
  Book book(directory / "kruxos.db", replica);
  bench::print_header();
  measure_look_ups(book, mailbox);
  measure_texts(book, mailbox);
}
