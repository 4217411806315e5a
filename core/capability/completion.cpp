#include "core/capability/completion.hpp"

#include <algorithm>

#include "core/account/permission.hpp"
#include "core/capability/call_rules.hpp"
#include "core/capability/handler_context.hpp"
#include "core/replica/replica_reader.hpp"
#include "core/state/agent_pauses.hpp"
#include "core/state/agents.hpp"
#include "core/util/text.hpp"

namespace krux {
namespace {

constexpr std::uint32_t kMostRows = 10'000;  ///< of an account that are looked at
constexpr std::size_t kMostFound = 2'000;    ///< that are kept until they are put in order

bool may_be_shown(const AccountDirectory& accounts, const ActiveAccount& account, const ValuesWanted& wanted) {
  return account.ref.service == wanted.definition->service && account.replica &&
         !accounts.is_leaving(account.ref.service, account.ref.account_id) && !left_out(*wanted.shown_by, account) &&
         missing_scopes(*wanted.shown_by, account).empty();
}

/// Whether all rows were looked at.
bool add_values(ReplicaReader& reader, const CallContext& on, const ValuesWanted& wanted,
                std::vector<std::string>& found) {
  Query query;
  query.collection = wanted.from.collection;
  query.limit = kMostRows;
  const auto typed = fold(wanted.typed);
  std::uint32_t rows = 0;
  reader.query(query, [&](const RowView& row) {
    ++rows;
    const auto record = parse_json(row.json, "a record");
    const auto value = find_string(record, wanted.from.member);
    if (value && !value->empty() && fold(*value).find(typed) != std::string::npos) found.emplace_back(*value);
    return !on.cancelled() && found.size() < kMostFound;
  });
  return rows < kMostRows && found.size() < kMostFound;
}

Completion values_of(const HandlerContext& context, const CallContext& on, const ValuesWanted& wanted) {
  if (context.records.agents.pauses().holding(wanted.agent_id)) return {};
  if (!may_be_shown_now(context, wanted.agent_id, *wanted.shown_by)) return {};
  std::vector<std::string> found;
  bool all_seen = true;
  for (const auto& account : context.accounts.accounts()) {
    if (may_be_shown(context.accounts, *account, wanted))
      all_seen = add_values(*reader_of(*account), on, wanted, found) && all_seen;
  }
  auto completion = completion_of(std::move(found), wanted.typed);
  completion.total_is_lower_bound = !all_seen;
  return completion;
}

}  // namespace

Completion completion_of(std::vector<std::string> all, std::string_view typed) {
  const auto folded = fold(typed);
  std::vector<std::pair<bool, std::string>> fitting;  // whether it only has it within
  for (auto& value : all) {
    const auto at = fold(value).find(folded);
    if (at != std::string::npos) fitting.emplace_back(at > 0, std::move(value));
  }
  std::sort(fitting.begin(), fitting.end());
  fitting.erase(std::unique(fitting.begin(), fitting.end()), fitting.end());
  Completion completion;
  completion.total = fitting.size();
  fitting.resize(std::min(fitting.size(), Completion::kMost));
  for (auto& [within, value] : fitting) completion.values.push_back(std::move(value));
  return completion;
}

void find_values(const HandlerContextPtr& context, ValuesWanted wanted,
                 std::function<void(std::variant<Completion, Error>)> done) {
  const auto call = std::make_shared<CheckedCall>();
  call->invocation.agent_id = wanted.agent_id;
  call->definition = wanted.definition;
  const auto found = std::make_shared<Completion>();
  run_on_worker(
      context, call, context->options.read_timeout_ms,
      [context, found, wanted = std::move(wanted)](const CallContextPtr& on) {
        *found = values_of(*context, *on, wanted);
        return std::string();
      },
      [found, done = std::move(done)](const WorkAnswer& answer) {
        if (const auto* error = std::get_if<Error>(&answer)) return done(*error);
        done(std::move(*found));
      });
}

}  // namespace krux
