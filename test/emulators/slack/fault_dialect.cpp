#include "emulators/slack/fault_dialect.hpp"

#include <algorithm>

#include "emulators/slack/methods.hpp"

namespace krux::test::slack {
namespace {

std::string without_ok(const std::string& body) {
  rapidjson::Document document;
  if (!parse_json(body, document) || !document.IsObject()) return "{}";
  document.RemoveMember("ok");
  return to_json(document);
}

FaultDialect make_dialect() {
  FaultDialect dialect;
  dialect.has_method = [](const std::string& method) {
    const auto& others = oauth::Provider::methods(oauth::Flavour::slack);
    return find_method(method) != nullptr || std::find(others.begin(), others.end(), method) != others.end();
  };
  dialect.default_error = "internal_error";
  dialect.error = [](const Fault& fault) {
    HttpAnswer answer;
    answer.body = JsonOut().object().field("ok", false).field("error", fault.error).end_object().str();
    return answer;
  };
  dialect.rate_limited = [](const Fault& fault) { return ratelimited(fault.retry_after); };
  dialect.own_shapes = {"missing_ok", "ok_is_string"};
  dialect.own_shape = [](const std::string& shape, const HttpAnswer& real) {
    if (shape == "missing_ok") return without_ok(real.body);
    return "{\"ok\":\"true\"," + real.body.substr(real.body.find(',') + 1);
  };
  return dialect;
}

}  // namespace

const FaultDialect& fault_dialect() {
  static const FaultDialect dialect = make_dialect();
  return dialect;
}

HttpAnswer ratelimited(std::int64_t retry_after) {
  HttpAnswer answer;
  answer.status = 429;
  answer.headers.emplace_back("Retry-After", std::to_string(retry_after));
  answer.body = R"({"ok":false,"error":"ratelimited"})";
  return answer;
}

}  // namespace krux::test::slack
