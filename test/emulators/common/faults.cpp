#include "emulators/common/faults.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "emulators/common/documents.hpp"

namespace krux::test::emulator {
namespace {

struct KindRow {
  const char* name;
  FaultKind kind;
  FaultEffect effect;  // unless the fault names another
};

const KindRow kKinds[] = {
    {"http_status", FaultKind::http_status, FaultEffect::none},
    {"error", FaultKind::error, FaultEffect::none},
    {"error_after", FaultKind::error, FaultEffect::applied},
    {"rate_limited", FaultKind::rate_limited, FaultEffect::none},
    {"hang", FaultKind::hang, FaultEffect::none},
    {"hang_after", FaultKind::hang, FaultEffect::applied},
    {"reset", FaultKind::reset, FaultEffect::none},
    {"reset_after", FaultKind::reset, FaultEffect::applied},
    {"late", FaultKind::late, FaultEffect::on_release},
    {"truncated", FaultKind::truncated, FaultEffect::applied},
    {"body", FaultKind::body, FaultEffect::applied},
    {"slow", FaultKind::slow, FaultEffect::applied},
};

const char* const kShapes[] = {"not_json",           "array",      "html", "deep", "huge", "invalid_utf8", "empty",
                               "wrong_content_type", "odd_escapes"};

bool is_shape(const std::string& shape, const FaultDialect& dialect) {
  return std::find(std::begin(kShapes), std::end(kShapes), shape) != std::end(kShapes) ||
         std::find(dialect.own_shapes.begin(), dialect.own_shapes.end(), shape) != dialect.own_shapes.end();
}

bool read_effect(const rapidjson::Value& document, Fault& fault, std::string& problem) {
  const std::string effect = text_or(document, "effect");
  if (effect.empty()) return true;
  if (effect == "none")
    fault.effect = FaultEffect::none;
  else if (effect == "applied")
    fault.effect = FaultEffect::applied;
  else if (effect == "on_release" && fault.kind == FaultKind::hang)
    fault.effect = FaultEffect::on_release;
  else
    return problem = "effect is none, applied or, for a hang, on_release", false;
  return true;
}

// The kind, and that every key is one of a fault's and has its type.
bool read_kind(const rapidjson::Value& document, Fault& fault, std::string& problem) {
  if (!typed_keys(document, {"method", "kind", "effect", "when", "error", "body", "framing", "shape", "connection"},
                  {"skip", "count", "status", "retry_after", "after_ms", "chunk_bytes", "interval_ms", "bytes"},
                  problem)) {
    return false;
  }
  fault.kind_name = text_or(document, "kind");
  const auto row = std::find_if(std::begin(kKinds), std::end(kKinds),
                                [&](const KindRow& known) { return fault.kind_name == known.name; });
  if (row == std::end(kKinds)) {
    problem = fmt::format("no fault has the kind '{}'", fault.kind_name);
    return false;
  }
  fault.kind = row->kind;
  fault.effect = row->effect;
  return read_effect(document, fault, problem);
}

bool read_when(const rapidjson::Value& document, Fault& fault, std::string& problem) {
  const rapidjson::Value* when = find_member(document, "when");
  if (!when) return true;
  for (const auto& entry : when->GetObject()) {
    if (!entry.value.IsString()) return problem = "when has a text for each parameter", false;
    fault.when[entry.name.GetString()] = entry.value.GetString();
  }
  return true;
}

std::string mistake_in(const Fault& fault, const FaultDialect& dialect) {
  if (fault.method != "*" && !dialect.has_method(fault.method)) {
    return fmt::format("there is no method '{}'", fault.method);
  }
  if (!is_shape(fault.shape, dialect)) return fmt::format("no body has the shape '{}'", fault.shape);
  if (fault.framing != "short" && fault.framing != "exact") return "framing is short or exact";
  if (fault.connection != "close" && fault.connection != "hang") return "connection is close or hang";
  return "";
}

// The answer as it is, with what JSON's escapes can spell and texts cannot hold where a text says so.
std::string with_odd_escapes(std::string body) {
  for (const auto& [mark, escape] : {std::pair{"{nul}", "\\u0000"}, {"{half}", "\\ud83d"}}) {
    for (auto at = body.find(mark); at != std::string::npos; at = body.find(mark, at))
      body.replace(at, std::string_view(mark).size(), escape);
  }
  return body;
}

std::string shaped_body(const Fault& fault, const HttpAnswer& real, const FaultDialect& dialect) {
  if (fault.shape == "not_json") return "upstream connect error or disconnect/reset before headers";
  if (fault.shape == "array") return "[" + real.body + "]";
  if (fault.shape == "html") return "<!DOCTYPE html><html><body><h1>502 Bad Gateway</h1></body></html>";
  if (fault.shape == "invalid_utf8") return "{\"ok\":true,\"note\":\"\xC3\x28\xFF\"}";
  if (fault.shape == "deep") {
    const std::size_t depth = fault.bytes > 0 ? static_cast<std::size_t>(fault.bytes) : 200000;
    return "{\"ok\":true,\"deep\":" + std::string(depth, '[') + std::string(depth, ']') + "}";
  }
  if (fault.shape == "huge") {
    const std::size_t size = fault.bytes > 0 ? static_cast<std::size_t>(fault.bytes) : 64u << 20;
    return "{\"ok\":true,\"padding\":\"" + std::string(size, 'x') + "\"}";
  }
  if (fault.shape == "empty") return "";
  if (fault.shape == "odd_escapes") return with_odd_escapes(real.body);
  return fault.shape == "wrong_content_type" ? real.body : dialect.own_shape(fault.shape, real);
}

}  // namespace

std::optional<Fault> read_fault(const rapidjson::Value& document, const FaultDialect& dialect, std::string& problem) {
  Fault fault;
  if (!read_kind(document, fault, problem) || !read_when(document, fault, problem)) return std::nullopt;
  fault.method = text_or(document, "method", "*");
  fault.skip = number_or(document, "skip", 0);
  fault.count = number_or(document, "count", 1);
  fault.status = static_cast<int>(number_or(document, "status", 503));
  fault.error = text_or(document, "error", dialect.default_error);
  fault.text = text_or(document, "body");
  fault.framing = text_or(document, "framing", "short");
  fault.shape = text_or(document, "shape", "not_json");
  fault.connection = text_or(document, "connection", "close");
  fault.retry_after = number_or(document, "retry_after", 30);
  fault.after_ms = number_or(document, "after_ms", 0);
  fault.chunk_bytes = std::max<std::int64_t>(1, number_or(document, "chunk_bytes", 64));
  fault.interval_ms = number_or(document, "interval_ms", 20);
  fault.bytes = number_or(document, "bytes", 0);
  problem = mistake_in(fault, dialect);
  return problem.empty() ? std::optional(fault) : std::nullopt;
}

std::optional<Fault> Faults::take(const CallRecord& call) {
  for (Fault& fault : faults_) {
    const bool fits = (fault.method == "*" || fault.method == call.method) &&
                      std::all_of(fault.when.begin(), fault.when.end(),
                                  [&](const auto& wanted) { return call.text(wanted.first) == wanted.second; });
    if (!fits || (fault.count > 0 && fault.hits >= fault.count)) continue;
    if (fault.skip > 0) {
      --fault.skip;
      continue;
    }
    ++fault.hits;
    return fault;
  }
  return std::nullopt;
}

void Faults::write(JsonOut& out) const {
  out.array("faults");
  for (const Fault& fault : faults_) {
    out.object().field("method", fault.method).field("kind", fault.kind_name).field("count", fault.count);
    out.field("skip", fault.skip).field("hits", fault.hits).end_object();
  }
  out.end_array();
}

HttpAnswer faulty_answer(const Fault& fault, const HttpAnswer& real, const FaultDialect& dialect) {
  HttpAnswer answer;
  switch (fault.kind) {
    case FaultKind::http_status:
      answer.status = fault.status;
      answer.content_type = "text/html; charset=utf-8";
      answer.body = fault.text.empty() ? "<html><body>Server Error</body></html>" : fault.text;
      break;
    case FaultKind::rate_limited:
      return dialect.rate_limited(fault);
    case FaultKind::body:
      answer = real;
      answer.body = shaped_body(fault, real, dialect);
      if (fault.shape == "html" || fault.shape == "wrong_content_type") answer.content_type = "text/html";
      break;
    default:
      return dialect.error(fault);
  }
  return answer;
}

}  // namespace krux::test::emulator
