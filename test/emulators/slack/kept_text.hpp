// What Slack keeps of a text that is posted.
#pragma once

#include <string>
#include <string_view>

namespace krux::test::slack {

// &, < and > become entities, but for what Slack knows as an entity or as <@U…>, <#C…>, <!…> or <https://…>. A bare
// link becomes <http://…>, an emoji its :name:.
std::string kept_text(std::string_view text);

}  // namespace krux::test::slack
