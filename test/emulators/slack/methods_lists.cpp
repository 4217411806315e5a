// conversations.list, conversations.info, users.list, users.info.
#include <array>

#include "emulators/slack/paging.hpp"
#include "emulators/slack/render.hpp"

namespace krux::test::slack {
namespace {

using KindSet = std::array<bool, 4>;

// `types`, by default public channels. Nothing: a type that Slack does not know.
std::optional<KindSet> wanted_kinds(const std::string& types) {
  KindSet wanted{};
  std::string_view rest = types.empty() ? std::string_view("public_channel") : std::string_view(types);
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(','), rest.size());
    std::string_view name = rest.substr(0, end);
    while (!name.empty() && name.front() == ' ') name.remove_prefix(1);
    while (!name.empty() && name.back() == ' ') name.remove_suffix(1);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    bool known = false;
    for (int kind = 0; kind < 4; ++kind) {
      if (name != type_name(static_cast<ChannelKind>(kind))) continue;
      wanted[kind] = known = true;
    }
    if (!known) return std::nullopt;
  }
  return wanted;
}

MaybeFailure check_kind_scopes(const MethodContext& context, const KindSet& wanted) {
  for (int kind = 0; kind < 4; ++kind) {
    const std::string scope = std::string(scope_family(static_cast<ChannelKind>(kind))) + ":read";
    if (wanted[kind] && !context.token->has(scope)) return Failure{"missing_scope", scope, {}};
  }
  return std::nullopt;
}

// A bot sees every public channel and, of the others, those it is in.
bool visible(const ChannelInfo& info) {
  return info.kind == ChannelKind::public_channel || info.is_member;
}

}  // namespace

MaybeFailure conversations_list(MethodContext& context) {
  const auto wanted = wanted_kinds(context.call.text("types"));
  if (!wanted) return Failure{"invalid_types", "", {}};
  if (MaybeFailure failure = check_kind_scopes(context, *wanted)) return failure;
  int limit = 0;
  if (!page_size(context, 100, 1000, limit)) return Failure{"invalid_limit", "", {}};
  const Workspace& workspace = context.workspace;
  std::size_t index = 0;
  if (const std::string cursor = context.call.text("cursor"); !cursor.empty()) {
    const auto id = read_cursor(cursor, "team");
    const auto found = id ? workspace.channel_index(*id) : std::nullopt;
    if (!found) return Failure{"invalid_cursor", "", {}};
    index = *found;
  }
  // As with Slack, a page is cut before it is filtered: it may be short, even empty, and still have a next one.
  const std::size_t end = std::min(index + static_cast<std::size_t>(limit), workspace.channel_count());
  context.out.array("channels");
  for (; index < end; ++index) {
    const ChannelInfo info = workspace.channel_at(index);
    if (!(*wanted)[static_cast<int>(info.kind)] || !visible(info)) continue;
    if (info.is_archived && context.call.flag("exclude_archived")) continue;
    render_channel(workspace, info, true, context.out);
  }
  context.out.end_array();
  write_page_end(context,
                 end < workspace.channel_count() ? make_cursor("team", workspace.channel_at(end).id) : std::string());
  return std::nullopt;
}

MaybeFailure conversations_info(MethodContext& context) {
  if (!context.call.has("channel")) {
    return Failure{"invalid_arguments", "", {"[ERROR] missing required field: channel"}};
  }
  const Channel* channel = context.workspace.channel(context.call.text("channel"));
  if (!channel || !visible(channel->info)) return Failure{"channel_not_found", "", {}};
  const std::string scope = std::string(scope_family(channel->info.kind)) + ":read";
  if (!context.token->has(scope)) return Failure{"missing_scope", scope, {}};
  JsonOut rendered;
  render_channel(context.workspace, channel->info, context.call.flag("include_num_members"), rendered);
  context.out.raw_field("channel", rendered.str());
  return std::nullopt;
}

MaybeFailure users_list(MethodContext& context) {
  const Workspace& workspace = context.workspace;
  const int most = context.behaviour.users_without_limit_max;
  int limit = 0;
  const std::string asked = context.call.text("limit");
  const bool all_at_once = asked.empty() || asked == "0";
  if (!page_size(context, most, all_at_once ? most : 1000, limit)) return Failure{"invalid_limit", "", {}};
  if (all_at_once && workspace.user_count() > static_cast<std::size_t>(most)) {
    return Failure{"limit_required", "", {}};
  }
  std::size_t index = 0;
  if (const std::string cursor = context.call.text("cursor"); !cursor.empty()) {
    const auto id = read_cursor(cursor, "user");
    const auto found = id ? workspace.user_index(*id) : std::nullopt;
    if (!found) return Failure{"invalid_cursor", "", {}};
    index = *found;
  }
  const std::size_t end = std::min(index + static_cast<std::size_t>(limit), workspace.user_count());
  context.out.array("members");
  for (; index < end; ++index) render_user(workspace, workspace.user_at(index), context.out);
  context.out.end_array().field("cache_ts", context.now_ms / 1000);
  write_page_end(context, end < workspace.user_count() ? make_cursor("user", workspace.user_at(end).id) : "");
  return std::nullopt;
}

MaybeFailure users_info(MethodContext& context) {
  const auto user = context.workspace.user(context.call.text("user"));
  if (!user) return Failure{"user_not_found", "", {}};
  JsonOut rendered;
  render_user(context.workspace, *user, rendered);
  context.out.raw_field("user", rendered.str());
  return std::nullopt;
}

}  // namespace krux::test::slack
