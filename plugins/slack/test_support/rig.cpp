#include "rig.hpp"

#include <stdexcept>

#include "../timestamp.hpp"
#include "emulators/slack/params.hpp"

namespace slack {
namespace {

using kruxos::testing::FakeAnswer;

class Caught final : public emu::Responder {
 public:
  std::optional<emu::HttpAnswer> got;
  void answer(const emu::HttpAnswer& answer) override { got = answer; }
  void raw_then_close(std::string) override {}
  void drip(const emu::HttpAnswer& answer, std::size_t, std::int64_t) override { got = answer; }
  void close() override {}
  void reset() override {}
  bool is_open() const override { return true; }
};

std::string http_date(std::int64_t ms) {
  const time_t seconds = static_cast<time_t>(ms / 1000);
  tm t{};
  gmtime_r(&seconds, &t);
  char text[64];
  strftime(text, sizeof text, "%a, %d %b %Y %H:%M:%S GMT", &t);
  return text;
}

emu::Settings settings_of(const std::string& token) {
  emu::Settings settings;
  settings.tokens = {token};
  settings.clock = emu::EmulatorClock::driven(0);
  return settings;
}

/// What of a message people see.
std::string shown(const Message& m) {
  std::string out = m.text + "|" + m.edited_ts + "|" + m.user + "|" + m.thread_ts;
  for (const auto& reaction : m.reactions) {
    out += "|" + reaction.name + "=" + std::to_string(reaction.count);
    for (const auto& user : reaction.users) out += "," + user;
  }
  return out;
}

Message expected(const emu::Channel& channel, const emu::Message& m) {
  Message out;
  out.channel = channel.info.id;
  out.ts = emu::format_ts(m.ts);
  if (m.thread_ts != 0) out.thread_ts = emu::format_ts(m.thread_ts);
  out.text = m.text;
  out.user = m.user.empty() ? m.bot_id : m.user;
  if (m.edited) out.edited_ts = emu::format_ts(m.edited->ts);
  for (const auto& reaction : m.reactions) {
    out.reactions.push_back({reaction.name, static_cast<std::int64_t>(reaction.users.size()), reaction.users});
  }
  return out;
}

}  // namespace

Params params_of(const kruxos::testing::FakeRequest& request) {
  Params params;
  std::string_view rest = request.body;
  while (!rest.empty()) {
    const auto pair = rest.substr(0, rest.find('&'));
    rest.remove_prefix(std::min(rest.size(), pair.size() + 1));
    const auto equals = pair.find('=');
    params.emplace_back(emu::decode_form_component(pair.substr(0, equals)).value(),
                        emu::decode_form_component(pair.substr(equals + 1)).value());
  }
  return params;
}

std::string param(const Params& params, const std::string& name) {
  for (const auto& [key, value] : params) {
    if (key == name) return value;
  }
  return "";
}

Rig::Rig(SyncOptions the_options, const std::string& token)
    : state(settings_of(token)),
      options(the_options),
      api_(state, [](std::int64_t, const std::function<void()>& f) { f(); }),
      token_(token.substr(0, token.find(':'))) {
  host.on_request = [this](const kruxos::testing::FakeRequest& request) { return answer(request); };
  restart();
}

FakeAnswer Rig::answer(const kruxos::testing::FakeRequest& request) {
  state.clock.set_ms(host.clock.now_ms + service_ahead_ms);
  if (override_answer) {
    if (auto own = override_answer(request.url, params_of(request))) return *own;
  }
  emu::HttpRequest real;
  real.method = request.method;
  real.path = "/api/" + request.url;
  real.body = request.body;
  for (const auto& [name, value] : request.headers) {
    std::string lower = name;
    for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    real.headers[lower] = value;
  }
  real.headers["authorization"] = "Bearer " + token_;
  const auto caught = std::make_shared<Caught>();
  api_.handle(real, caught);
  if (!caught->got) return FakeAnswer::failed(kruxos::ErrorKind::kNetwork, "The connection was reset.");
  FakeAnswer answer;
  answer.status = caught->got->status;
  refused_for_rate += answer.status == 429;
  answer.body = caught->got->body;
  answer.headers = caught->got->headers;
  if (tells_date) answer.headers.emplace_back("Date", http_date(state.clock.now_ms()));
  return answer;
}

emu::Channel& Rig::add_channel(const std::string& id, const std::string& name) {
  emu::ChannelInfo info;
  info.id = id;
  info.name = name;
  return workspace().add_channel(info);
}

emu::Channel& Rig::channel(const std::string& id) {
  auto* found = workspace().channel(id);
  if (!found) throw std::runtime_error("no channel " + id);
  return *found;
}

std::string Rig::say(const std::string& id, const std::string& text, const std::string& thread_ts, bool broadcast) {
  host.clock.advance(1'000);
  emu::Draft draft;
  draft.user = "U0PERSON01";
  draft.text = text;
  if (!thread_ts.empty()) draft.thread_ts = *emu::parse_ts(thread_ts);
  draft.broadcast = broadcast;
  const auto at = (host.clock.now_ms + service_ahead_ms) * 1000;
  return emu::format_ts(workspace().post(channel(id), std::move(draft), at).ts);
}

void Rig::say_many(const std::string& id, int count) {
  for (int i = 0; i < count; ++i) say(id, "message " + std::to_string(i) + " of " + id);
}

emu::Message& Rig::message(const std::string& id, const std::string& ts) {
  auto* found = channel(id).find(*emu::parse_ts(ts));
  if (!found) throw std::runtime_error("no message " + id + "/" + ts);
  return *found;
}

void Rig::edit(const std::string& id, const std::string& ts, const std::string& text) {
  host.clock.advance(1'000);
  workspace().edit(message(id, ts), text, "U0PERSON01", host.clock.now_ms * 1000);
}

void Rig::erase(const std::string& id, const std::string& ts) {
  workspace().erase(channel(id), *emu::parse_ts(ts));
}

void Rig::restart() {
  store.drop_uncommitted();
  sync_.reset();
  changes.emplace();
  sync_ = std::make_unique<Sync>(client, host.host(), options, *changes);
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
  for (int steps = 0; steps < 100'000; ++steps) {
    const auto done = step();
    if (done.next == KRUX_SYNC_DONE) return done;
    if (done.next == KRUX_SYNC_WAIT) host.clock.advance(done.wait_ms);
  }
  throw std::runtime_error("the pass does not end");
}

kruxos::SyncStep Rig::next_pass(std::int64_t after_ms) {
  host.clock.advance(after_ms);
  return pass();
}

std::string Rig::differences() {
  std::string out;
  std::size_t wanted = 0;
  for (std::size_t i = 0; i < workspace().channel_count(); ++i) {
    const auto info = workspace().channel_at(i);
    if (!info.is_member || info.is_archived) continue;
    const auto& of = channel(info.id);
    for (const auto& [ts, real] : of.messages) {
      ++wanted;
      const auto message = expected(of, real);
      const auto known = replica(info.id, message.ts);
      if (!known) {
        out += "lacks " + message.id() + "\n";
      } else if (shown(*known) != shown(message)) {
        out += message.id() + " is " + shown(*known) + " and should be " + shown(message) + "\n";
      }
    }
  }
  if (replica_size() != wanted) {
    out += "has " + std::to_string(replica_size()) + " of " + std::to_string(wanted) + " messages\n";
  }
  return out;
}

std::optional<Message> Rig::replica(const std::string& id, const std::string& ts) const {
  const auto& rows = store.rows(kMessages);
  const auto at = rows.find(id + "/" + ts);
  return at == rows.end() ? std::nullopt : message_from_record(at->second.json);
}

std::size_t Rig::calls(const std::string& method) const {
  std::size_t count = 0;
  for (const auto& request : host.requests) count += request.url == method;
  return count;
}

}  // namespace slack
