#include "emulators/common/control_plane.hpp"

#include <fmt/format.h>

#include "emulators/common/documents.hpp"
#include "emulators/common/text.hpp"

namespace krux::test::emulator {
namespace {

HttpAnswer refusal(int status, const std::string& problem) {
  HttpAnswer answer;
  answer.status = status;
  answer.body = JsonOut().object().field("ok", false).field("problem", problem).end_object().str();
  return answer;
}

HttpAnswer accepted(JsonOut& out) {
  HttpAnswer answer;
  answer.body = out.end_object().str();
  return answer;
}

}  // namespace

HttpAnswer ControlPlane::handle(const HttpRequest& request) {
  const std::string what = request.path.substr(std::string("/_emulator/").size());
  if (request.method == "GET") return get(what, request);
  if (request.method == "DELETE" && what == "faults") {
    faults_.clear();
    return accepted(JsonOut().object().field("ok", true));
  }
  if (request.method != "POST") return refusal(405, "the control plane takes GET, POST and DELETE");
  rapidjson::Document document;
  if (!parse_json(request.body.empty() ? "{}" : request.body, document)) return refusal(400, "the body is no JSON");
  return post(what, document);
}

HttpAnswer ControlPlane::get(const std::string& what, const HttpRequest& request) {
  std::map<std::string, std::string> query = decode_form(request.query);
  JsonOut out;
  out.object();
  if (what == "log") {
    journal_.write_log(query["method"], std::strtoull(query["after"].c_str(), nullptr, 10), out);
    return accepted(out);
  }
  if (what == "faults") {
    faults_.write(out);
    return accepted(out);
  }
  std::string problem;
  const Outcome outcome = get_own(what, query, out, problem);
  if (outcome == Outcome::done) return accepted(out);
  if (outcome == Outcome::refused) return refusal(404, problem);
  return refusal(404, fmt::format("GET knows log, faults, {}", own_gets()));
}

HttpAnswer ControlPlane::post(const std::string& what, const rapidjson::Value& document) {
  JsonOut out;
  out.object().field("ok", true);
  std::string problem;
  Outcome outcome = post_common(what, document, out, problem);
  if (outcome == Outcome::unknown) outcome = post_own(what, document, out, problem);
  if (outcome == Outcome::done) return accepted(out);
  if (outcome == Outcome::refused) return refusal(400, problem);
  return refusal(404, fmt::format("POST knows clock, fault, release, reset, {}", own_posts()));
}

ControlPlane::Outcome ControlPlane::post_common(const std::string& what, const rapidjson::Value& document, JsonOut& out,
                                                std::string& problem) {
  bool done = true;
  if (what == "clock") {
    done = set_clock(document, out, problem);
  } else if (what == "fault") {
    auto fault = read_fault(document, dialect_, problem);
    done = fault.has_value();
    if (done) faults_.add(std::move(*fault));
  } else if (what == "release") {
    done = only_keys(document, {"answer"}, problem);
    if (done) out.field("applied", performer_.release(flag_or(document, "answer")));
  } else if (what == "reset") {
    performer_.drop_held();
    reset();
  } else {
    return Outcome::unknown;
  }
  return done ? Outcome::done : Outcome::refused;
}

bool ControlPlane::set_clock(const rapidjson::Value& document, JsonOut& out, std::string& problem) {
  if (!only_keys(document, {"advance_ms", "set_ms"}, problem)) return false;
  if (!clock_.is_driven()) return problem = "the clock is real: start with --clock driven", false;
  if (find_member(document, "set_ms")) clock_.set_ms(number_or(document, "set_ms"));
  clock_.advance_ms(number_or(document, "advance_ms"));
  performer_.run_due();
  out.field("now_ms", clock_.now_ms());
  return true;
}

void ControlPlane::write_common_state(JsonOut& out) const {
  out.field("now_ms", clock_.now_ms()).field("driven", clock_.is_driven());
  out.field("hanging", performer_.hanging()).field("pending_effects", performer_.pending_effects());
  journal_.write_counters(out);
}

}  // namespace krux::test::emulator
