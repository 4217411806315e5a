#include "host/cli/ids.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/util/text.hpp"
#include "host/http/http_types.hpp"

namespace krux::cli {
namespace {

constexpr std::size_t kUuid = 36, kShownOfAmbiguous = 6;

/// Of "w_0192f0c1-…": a prefix, an underscore and all of a UUID.
bool is_whole(const std::string& id) {
  const auto underscore = id.rfind('_');
  return underscore != std::string::npos && id.size() == underscore + 1 + kUuid;
}

std::vector<std::string> ids_in(const HostAnswer& answer, const char* list, const char* member) {
  std::vector<std::string> ids;
  for (const auto& one : items(answer.json, list).GetArray()) ids.push_back(text(one, member));
  return ids;
}

}  // namespace

std::string whole_id(const std::string& given, const std::vector<std::string>& all, const std::string& what) {
  if (given.empty() || std::find(all.begin(), all.end(), given) != all.end()) return given;
  std::vector<std::string> begin_so;
  for (const auto& id : all) {
    if (id.starts_with(given)) begin_so.push_back(id);
  }
  if (begin_so.empty()) return given;
  if (begin_so.size() == 1) return begin_so.front();
  std::string list;
  for (std::size_t i = 0; i < std::min(begin_so.size(), kShownOfAmbiguous); ++i)
    list += (i == 0 ? "" : ", ") + printable(begin_so[i]);
  throw CliError(kUsage, fmt::format("{} begins the ids of several {}: {}{}. Give more of it; nothing was done.",
                                     printable(given), what, list, begin_so.size() > kShownOfAmbiguous ? ", …" : ""));
}

std::string whole_write_id(const Session& session, const std::string& given) {
  if (given.find('_') == std::string::npos || is_whole(given)) return given;
  const auto target = fmt::format("/v1/writes?id={}&limit={}", url_encode(given), kShownOfAmbiguous + 1);
  return whole_id(given, ids_in(session.host.get(target), "writes", "write_id"), "writes");
}

std::vector<std::string> whole_write_ids(const Session& session, const std::vector<std::string>& given) {
  std::vector<std::string> ids;
  for (const auto& one : given) ids.push_back(whole_write_id(session, one));
  return ids;
}

std::string whole_agent_id(const Session& session, const std::string& given) {
  if (!given.starts_with("agent_") || is_whole(given)) return given;
  const auto answer = session.host.get("/v1/agents");
  const auto names = ids_in(answer, "agents", "name");
  if (std::find(names.begin(), names.end(), given) != names.end()) return given;
  return whole_id(given, ids_in(answer, "agents", "agent_id"), "agents");
}

std::string whole_account_id(const Session& session, const std::string& service, const std::string& given) {
  if (given.empty()) return given;
  std::vector<std::string> ids;
  const auto answer = session.host.get("/v1/connections");
  for (const auto& one : items(answer.json, "connections").GetArray()) {
    if (text(one, "service") != service) continue;
    if (text(one, "name") == given || text(one, "account_name") == given) return given;
    ids.push_back(text(one, "account_id"));
  }
  return whole_id(given, ids, "accounts");
}

std::string whole_sign_in_id(const Session& session, const std::string& given) {
  if (given.find('_') == std::string::npos || is_whole(given)) return given;
  const auto answer = session.host.get("/v1/sign-in");
  auto ids = ids_in(answer, "requests", "request_id");
  for (auto& id : ids_in(answer, "grants", "grant_id")) ids.push_back(std::move(id));
  return whole_id(given, ids, "programs");
}

std::string whole_standing_id(const Session& session, const std::string& given) {
  if (given.empty() || is_whole(given)) return given;
  return whole_id(given, ids_in(session.host.get("/v1/standing-approvals"), "standing_approvals", "standing_id"),
                  "approvals");
}

std::string whole_receipt_id(const Session& session, const std::string& given) {
  if (given.empty() || is_whole(given)) return given;
  return whole_id(given, ids_in(session.host.get("/v1/receipts?limit=500"), "receipts", "receipt_id"), "receipts");
}

}  // namespace krux::cli
