#include "emulators/gmail/seed.hpp"

#include <fmt/format.h>

#include "emulators/common/documents.hpp"
#include "emulators/gmail/codec.hpp"
#include "emulators/gmail/control.hpp"

namespace krux::test::gmail {
namespace {

bool read_generated(const rapidjson::Value& document, Generated& into, std::string& problem) {
  const std::vector<const char*> numbers = {"messages",      "spacing_ms", "thread_length", "unread_every",
                                            "starred_every", "sent_every", "first_seed"};
  if (!typed_keys(document, {}, numbers, problem)) return false;
  into.messages = number_or(document, "messages");
  into.spacing_ms = number_or(document, "spacing_ms", into.spacing_ms);
  into.thread_length = std::max<std::int64_t>(1, number_or(document, "thread_length", into.thread_length));
  into.unread_every = number_or(document, "unread_every", into.unread_every);
  into.starred_every = number_or(document, "starred_every", into.starred_every);
  into.sent_every = number_or(document, "sent_every", into.sent_every);
  into.first_seed = static_cast<std::uint64_t>(number_or(document, "first_seed", 1));
  return true;
}

bool seed_labels(Mailbox& mailbox, const rapidjson::Value& list, std::string& problem) {
  if (!list.IsArray()) return problem = "labels is a list", false;
  for (const auto& item : list.GetArray()) {
    if (!only_keys(item, {"id", "name"}, problem)) return false;
    if (text_or(item, "name").empty()) return problem = "a label has a name", false;
    mailbox.add_label({text_or(item, "id"), text_or(item, "name"), false, "", ""});
  }
  return true;
}

bool seed_messages(Mailbox& mailbox, const rapidjson::Value& list, std::int64_t now_ms, JsonOut& out,
                   std::string& problem) {
  if (!list.IsArray()) return problem = "messages is a list", false;
  out.array("ids");
  for (const auto& item : list.GetArray()) {
    NewMessage message{Content(std::string()), now_ms, {}, {}, {}};
    if (!only_keys(item, message_keys(), problem) || !read_message(item, mailbox, now_ms, message, problem))
      return false;
    out.value(format_id(mailbox.add(std::move(message)).id));
  }
  out.end_array();
  return true;
}

bool every(std::int64_t number, std::int64_t step) {
  return step > 0 && number % step == 0;
}

}  // namespace

void generate(Mailbox& mailbox, const Generated& wanted, std::int64_t now_ms) {
  std::uint64_t root = 0;
  for (std::int64_t i = 0; i < wanted.messages; ++i) {
    Growth growth;
    growth.seed = wanted.first_seed + static_cast<std::uint64_t>(i);
    growth.date_ms = now_ms - (wanted.messages - i) * wanted.spacing_ms;
    growth.owner = mailbox.owner;
    if (i % wanted.thread_length == 0)
      root = growth.seed;
    else
      growth.replies_to = root;
    growth.sent = every(i + 1, wanted.sent_every);
    Labels labels;
    if (every(i + 1, wanted.unread_every) && !growth.sent) labels.emplace_back("UNREAD");
    labels.emplace_back(growth.sent ? "SENT" : "INBOX");
    if (every(i + 1, wanted.starred_every)) labels.emplace_back("STARRED");
    const std::int64_t date_ms = growth.date_ms;
    mailbox.add({Content(std::move(growth)), date_ms, {}, std::move(labels), {}});
  }
}

Mailbox* named_mailbox(State& state, const rapidjson::Value& document, std::string& problem) {
  const std::string name = text_or(document, "mailbox", state.settings.address);
  if (name.find('@') == std::string::npos) return problem = "mailbox is an address", nullptr;
  return &state.mailbox(name);
}

bool seed(State& state, const rapidjson::Value& document, JsonOut& out, std::string& problem) {
  if (!only_keys(document, {"mailbox", "generate", "labels", "messages"}, problem)) return false;
  Mailbox* mailbox = named_mailbox(state, document, problem);
  if (!mailbox) return false;
  const std::int64_t now_ms = state.clock.now_ms();
  if (const rapidjson::Value* wanted = find_member(document, "generate")) {
    Generated generated;
    if (!read_generated(*wanted, generated, problem)) return false;
    generate(*mailbox, generated, now_ms);
  }
  const rapidjson::Value* labels = find_member(document, "labels");
  if (labels && !seed_labels(*mailbox, *labels, problem)) return false;
  const rapidjson::Value* messages = find_member(document, "messages");
  return !messages || seed_messages(*mailbox, *messages, now_ms, out, problem);
}

}  // namespace krux::test::gmail
