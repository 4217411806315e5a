// A message as a document of the control plane says it: a seed's, or one that a person or an integration posts.
#pragma once

#include <string>
#include <vector>

#include "emulators/slack/workspace.hpp"

namespace krux::test::slack {

// The keys of such a document, besides its place and time.
const std::vector<const char*>& draft_keys();

// `user`: who posts where the document names nobody; an integration (`bot_id`) posts as nobody.
Draft read_draft(const Workspace& workspace, const rapidjson::Value& document, const std::string& user);

}  // namespace krux::test::slack
