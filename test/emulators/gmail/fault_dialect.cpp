#include "emulators/gmail/fault_dialect.hpp"

#include <algorithm>

#include "emulators/gmail/methods.hpp"
#include "emulators/oauth/provider.hpp"

namespace krux::test::gmail {
namespace {

struct Named {
  const char* reason;
  int code;
  const char* status;
  const char* message;
};

// Reasons that a fault can name; any other is a 500.
const Named kNamed[] = {
    {"backendError", 503, "UNAVAILABLE", "Backend Error"},
    {"internalError", 500, "INTERNAL", "Internal error encountered."},
    {"authError", 401, "UNAUTHENTICATED", "Invalid Credentials"},
    {"insufficientPermissions", 403, "PERMISSION_DENIED", "Request had insufficient authentication scopes."},
    {"forbidden", 403, "PERMISSION_DENIED", "The caller does not have permission"},
    {"domainPolicy", 403, "PERMISSION_DENIED", "The domain administrators have disabled Gmail apps."},
    {"dailyLimitExceeded", 403, "PERMISSION_DENIED", "Daily Limit Exceeded"},
    {"rateLimitExceeded", 403, "PERMISSION_DENIED", "Rate Limit Exceeded"},
    {"userRateLimitExceeded", 403, "PERMISSION_DENIED", "User Rate Limit Exceeded"},
    {"failedPrecondition", 400, "FAILED_PRECONDITION", "Precondition check failed."},
    {"invalidArgument", 400, "INVALID_ARGUMENT", "Invalid Argument"},
    {"notFound", 404, "NOT_FOUND", "Requested entity was not found."},
};

HttpAnswer named_error(const Fault& fault) {
  Failure failure;
  failure.code = 500;
  failure.status = "INTERNAL";
  failure.reason = failure.message = fault.error;
  for (const Named& named : kNamed) {
    if (fault.error != named.reason) continue;
    failure.code = named.code;
    failure.status = named.status;
    failure.message = named.message;
  }
  if (failure.code == 401) failure.headers = invalid_credentials().headers;
  return to_answer(failure);
}

HttpAnswer too_many(const Fault& fault) {
  Failure failure;
  failure.code = 429;
  failure.status = "RESOURCE_EXHAUSTED";
  failure.reason = "rateLimitExceeded";
  failure.domain = "global";
  failure.message = "Too many concurrent requests for user";
  if (fault.retry_after > 0) failure.headers.emplace_back("Retry-After", std::to_string(fault.retry_after));
  return to_answer(failure);
}

std::string without_ids(const std::string& body) {
  rapidjson::Document document;
  if (!parse_json(body, document) || !document.IsObject()) return "{}";
  document.RemoveMember("id");
  document.RemoveMember("historyId");
  return to_json(document);
}

FaultDialect make_dialect() {
  FaultDialect dialect;
  dialect.has_method = [](const std::string& method) {
    const auto& others = oauth::Provider::methods(oauth::Flavour::google);
    return method == "batch" || find_method(method) != nullptr ||
           std::find(others.begin(), others.end(), method) != others.end();
  };
  dialect.default_error = "backendError";
  dialect.error = named_error;
  dialect.rate_limited = too_many;
  dialect.own_shapes = {"missing_ids", "wrong_types"};
  dialect.own_shape = [](const std::string& shape, const HttpAnswer& real) -> std::string {
    if (shape == "missing_ids") return without_ids(real.body);
    return R"({"id":5,"threadId":{},"labelIds":"INBOX","historyId":-1,"internalDate":[],"messages":{},"history":7,)"
           R"("payload":[],"labels":"none","drafts":3,"nextPageToken":0})";
  };
  return dialect;
}

}  // namespace

const FaultDialect& fault_dialect() {
  static const FaultDialect dialect = make_dialect();
  return dialect;
}

}  // namespace krux::test::gmail
