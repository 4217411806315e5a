#include <unistd.h>

#include "core/util/error.hpp"
#include "core/util/json.hpp"
#include "core/util/json_out.hpp"
#include "host/certify/worker.hpp"

namespace krux::certify {
namespace {

constexpr JsonLimits kLimits{4 << 20, 8};
constexpr const char* kKinds[] = {"begins", "ended", "leak", "cannot"};

std::string get(const JsonValue& object, std::string_view name) {
  return std::string(find_string(object, name).value_or(""));
}

CheckOutcome outcome_of(std::string_view word) {
  for (const auto outcome : {CheckOutcome::kPassed, CheckOutcome::kNotChecked, CheckOutcome::kNotApplicable}) {
    if (word == to_string(outcome)) return outcome;
  }
  return CheckOutcome::kFailed;
}

}  // namespace

std::string to_json(const WorkerOrder& order) {
  rapidjson::StringBuffer buffer;
  JsonWriter out(buffer);
  out.StartObject();
  put(out, "manifest", order.manifest.string());
  put(out, "scratch", order.scratch.string());
  put(out, "token", order.token);
  out.Key("port");
  out.Int(order.port);
  out.Key("tasks");
  out.StartArray();
  for (const auto& task : order.tasks) {
    out.StartObject();
    put(out, "id", task.id);
    put(out, "subject", task.subject);
    out.EndObject();
  }
  out.EndArray();
  out.EndObject();
  return buffer.GetString();
}

WorkerOrder read_order(std::string_view json) {
  const auto order = parse_json(json, "the kit's order", kLimits);
  WorkerOrder out{get(order, "manifest"),
                  get(order, "scratch"),
                  static_cast<std::uint16_t>(find_int(order, "port").value_or(0)),
                  get(order, "token"),
                  {}};
  if (const auto* tasks = find_member(order, "tasks"); tasks && tasks->IsArray()) {
    for (const auto& task : tasks->GetArray()) out.tasks.push_back({get(task, "id"), get(task, "subject")});
  }
  return out;
}

std::string to_json(const WorkerLine& line) {
  rapidjson::StringBuffer buffer;
  JsonWriter out(buffer);
  out.StartObject();
  put(out, "kind", kKinds[static_cast<int>(line.kind)]);
  put(out, "text", line.text);
  put(out, "id", line.check.id);
  put(out, "subject", line.check.subject);
  put(out, "outcome", to_string(line.check.outcome));
  put(out, "happened", line.check.happened);
  put(out, "hint", line.check.hint);
  out.Key("ms");
  out.Int64(line.check.ms);
  out.EndObject();
  return buffer.GetString();
}

WorkerLine read_line(std::string_view json) {
  const auto line = parse_json(json, "the worker's line", kLimits);
  WorkerLine out;
  for (int i = 0; i < 4; ++i) {
    if (get(line, "kind") == kKinds[i]) out.kind = static_cast<WorkerLine::Kind>(i);
  }
  out.text = get(line, "text");
  out.check.id = get(line, "id");
  out.check.subject = get(line, "subject");
  out.check.outcome = outcome_of(get(line, "outcome"));
  out.check.happened = get(line, "happened");
  out.check.hint = get(line, "hint");
  out.check.ms = find_int(line, "ms").value_or(0);
  return out;
}

}  // namespace krux::certify
