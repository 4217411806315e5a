// Fills mailboxes from the documents that POST /_emulator/seed takes.
#pragma once

#include "emulators/gmail/state.hpp"

namespace krux::test::gmail {

// What is described in test/emulators/README.md. False, with `problem`, when the document is not understood; what came
// before the mistake is then there. `out` tells the ids of messages that were written by hand.
bool seed(State& state, const rapidjson::Value& document, JsonOut& out, std::string& problem);

struct Generated {
  std::int64_t messages = 0;
  std::int64_t spacing_ms = 60000;  // between one and the next; the newest is one spacing before now
  std::int64_t thread_length = 1;   // messages in a thread
  std::int64_t unread_every = 7, starred_every = 23, sent_every = 9;  // 0: none
  std::uint64_t first_seed = 1;
};
void generate(Mailbox& mailbox, const Generated& wanted, std::int64_t now_ms);

// One mail by hand: raw, or made from from, to, cc, bcc, subject, body, html, headers, attachments.
bool read_message(const rapidjson::Value& document, const Mailbox& mailbox, std::int64_t now_ms, NewMessage& into,
                  std::string& problem);
const std::vector<const char*>& message_keys();

}  // namespace krux::test::gmail
