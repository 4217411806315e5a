#include "emulators/slack/draft.hpp"

#include <fmt/format.h>

namespace krux::test::slack {
namespace {

std::string json_or_nothing(const rapidjson::Value& document, const char* key) {
  const rapidjson::Value* found = find_member(document, key);
  return found ? to_json(*found) : "";
}

std::vector<File> read_files(const rapidjson::Value& document) {
  std::vector<File> files;
  const rapidjson::Value* list = find_member(document, "files");
  if (!list || !list->IsArray()) return files;
  for (const auto& one : list->GetArray()) {
    const std::string name = text_or(one, "name", "file.txt");
    const std::string ending = name.substr(name.rfind('.') == std::string::npos ? name.size() : name.rfind('.') + 1);
    files.push_back({text_or(one, "id", fmt::format("F0FILE{:05}", files.size())), name, text_or(one, "title", name),
                     text_or(one, "mimetype", "text/plain"), text_or(one, "filetype", ending),
                     number_or(one, "size", 0)});
  }
  return files;
}

// What Slack itself says of somebody who comes.
std::string text_of_subtype(const std::string& subtype, const std::string& user) {
  return subtype == "channel_join" ? "<@" + user + "> has joined the channel" : "";
}

}  // namespace

const std::vector<const char*>& draft_keys() {
  static const std::vector<const char*> keys = {"user", "bot_id",    "app_id",   "username", "bot_name",    "subtype",
                                                "text", "broadcast", "metadata", "blocks",   "attachments", "files"};
  return keys;
}

Draft read_draft(const Workspace& workspace, const rapidjson::Value& document, const std::string& user) {
  Draft draft;
  draft.bot_id = text_or(document, "bot_id");
  draft.app_id = text_or(document, "app_id");
  draft.username = text_or(document, "username");
  draft.bot_name = text_or(document, "bot_name");
  draft.files = read_files(document);
  draft.user = text_or(document, "user", draft.bot_id.empty() ? user : "");
  draft.subtype = text_or(document, "subtype", draft.files.empty() ? "" : "file_share");
  draft.text = text_or(document, "text", text_of_subtype(draft.subtype, draft.user));
  draft.broadcast = flag_or(document, "broadcast");
  draft.metadata = json_or_nothing(document, "metadata");
  draft.blocks = json_or_nothing(document, "blocks");
  draft.attachments = json_or_nothing(document, "attachments");
  if (draft.user == workspace.bot.user_id && draft.bot_id.empty()) {
    draft.bot_id = workspace.bot.bot_id;
    draft.app_id = workspace.bot.app_id;
  }
  return draft;
}

}  // namespace krux::test::slack
