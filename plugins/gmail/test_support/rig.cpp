#include "rig.hpp"

#include <algorithm>
#include <cstdio>
#include <stdexcept>

namespace gmail {

using kruxos::testing::FakeAnswer;

emu::Id id_of(const std::string& hex) {
  return std::stoull(hex, nullptr, 16);
}

std::string hex_of(emu::Id id) {
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(id));
  return text;
}

Rig::Rig(SyncOptions the_options, const std::string& token)
    : gmail(emu::driven_settings({token})), options(the_options), token_(token.substr(0, token.find_first_of("@:;"))) {
  host.on_request = [this](const kruxos::testing::FakeRequest& request) { return answer(request); };
  restart();
}

FakeAnswer Rig::answer(const kruxos::testing::FakeRequest& request) {
  gmail.state.clock.set_ms(host.clock.now_ms);
  if (override_answer) {
    if (auto own = override_answer(request)) return *own;
  }
  emu::HttpRequest real;
  real.method = request.method;
  const auto question = request.url.find('?');
  real.path = "/" + request.url.substr(0, question);
  if (question != std::string::npos) real.query = request.url.substr(question + 1);
  real.body = request.body;
  for (const auto& [name, value] : request.headers) {
    std::string lower = name;
    for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    real.headers[lower] = value;
  }
  real.headers["authorization"] = "Bearer " + token_;
  const auto outcome = std::make_shared<emu::Outcome>();
  gmail.api.handle(real, outcome);
  if (outcome->how != "answered" && outcome->how != "dripped") return FakeAnswer::dropped();
  return FakeAnswer::with(outcome->given.status, outcome->given.body, outcome->given.headers);
}

std::string Rig::arrive(const std::string& subject, const std::vector<std::string>& labels) {
  host.clock.advance(1'000);
  const auto number = std::to_string(++mails_);
  emu::NewMessage mail{
      emu::Content("From: Person " + number + " <p" + number + "@example.com>\r\nTo: agent@example.com\r\n" +
                   "Subject: " + subject + "\r\nMessage-ID: <m" + number + "@example.com>\r\n" +
                   "Date: Tue, 14 Nov 2023 22:13:20 +0000\r\n\r\nThe text of mail " + number + ".\r\n"),
      host.clock.now_ms,
      {},
      labels,
      {}};
  return hex_of(mailbox().add(std::move(mail)).id);
}

std::vector<std::string> Rig::arrive_many(int count) {
  std::vector<std::string> ids;
  for (int i = 0; i < count; ++i) ids.push_back(arrive("Mail " + std::to_string(i)));
  return ids;
}

void Rig::modify(const std::string& id, const std::vector<std::string>& add, const std::vector<std::string>& remove) {
  mailbox().modify({id_of(id)}, add, remove);
}

void Rig::erase(const std::string& id) {
  mailbox().erase({id_of(id)});
}

void Rig::restart() {
  store.drop_uncommitted();
  sync_ = std::make_unique<Sync>(client, host.host(), options);
}

kruxos::SyncStep Rig::step() {
  kruxos::testing::FakeCall call(host.clock);
  auto lent = store.store();
  struct Drop {
    kruxos::testing::FakeStore& store;
    ~Drop() { store.drop_uncommitted(); }
  } drop{store};
  return sync_->step(call.call(), lent);
}

kruxos::SyncStep Rig::pass() {
  bool expired = false;
  for (int steps = 0; steps < 100'000; ++steps) {
    try {
      const auto done = step();
      if (done.next == KRUX_SYNC_DONE) return done;
      if (done.next == KRUX_SYNC_WAIT) host.clock.advance(done.wait_ms);
    } catch (const kruxos::ProxyError& error) {
      if (error.kind() != kruxos::ErrorKind::kCursorExpired || expired) throw;
      expired = true;
      ++expirations;
      store.cursors.clear();
    }
  }
  throw std::runtime_error("the pass does not end");
}

kruxos::SyncStep Rig::next_pass(std::int64_t after_ms) {
  host.clock.advance(after_ms);
  return pass();
}

std::string Rig::differences() {
  std::string out;
  for (const auto& [key, real] : mailbox().newest_first()) {
    const auto known = replica(hex_of(real->id));
    if (!known) {
      out += "lacks " + hex_of(real->id) + "\n";
      continue;
    }
    auto labels = real->labels;
    std::sort(labels.begin(), labels.end());
    labels.erase(std::unique(labels.begin(), labels.end()), labels.end());
    const auto joined = [](const std::vector<std::string>& all) {
      std::string text;
      for (const auto& one : all) text += one + " ";
      return text;
    };
    const bool same = known->labels == labels && known->date_ms == real->date_ms &&
                      known->subject == real->content.subject() &&
                      message_record(*known).text == store.rows(kMessages).at(known->id).text;
    if (!same) out += known->id + " has " + joined(known->labels) + "and should have " + joined(labels) + "\n";
  }
  if (replica_size() != mailbox().size()) {
    out += "has " + std::to_string(replica_size()) + " of " + std::to_string(mailbox().size()) + " messages\n";
  }
  for (const auto& [id, label] : mailbox().labels()) {
    if (!store.rows(kLabels).contains(id)) out += "lacks the label " + id + "\n";
  }
  if (store.rows(kLabels).size() != mailbox().labels().size()) out += "has labels that are gone\n";
  return out;
}

std::optional<Message> Rig::replica(const std::string& id) const {
  const auto& rows = store.rows(kMessages);
  const auto at = rows.find(id);
  return at == rows.end() ? std::nullopt : message_from_record(at->second.json);
}

std::size_t Rig::calls(const std::string& part) const {
  std::size_t count = 0;
  for (const auto& request : host.requests) count += request.url.find(part) != std::string::npos;
  return count;
}

}  // namespace gmail
