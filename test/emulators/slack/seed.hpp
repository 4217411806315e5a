// Fills a workspace from a JSON document, as POST /_emulator/seed takes it (test/emulators/README.md).
#pragma once

#include "emulators/common/json_out.hpp"
#include "emulators/slack/workspace.hpp"

namespace krux::test::slack {

// Adds what the document names to what is there. False: `problem` says why; what came before it has been added.
// On success `out` receives the fields "channels" and "users" (ids added) and "messages" (how many).
bool seed(Workspace& workspace, const rapidjson::Value& document, std::int64_t now_ms, JsonOut& out,
          std::string& problem);

// "public_channel" and its like; nothing for another word.
std::optional<ChannelKind> read_kind(const std::string& name);

}  // namespace krux::test::slack
