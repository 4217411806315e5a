#include "script.hpp"

#include <fcntl.h>
#include <rapidjson/error/en.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>

namespace mock {
namespace {

constexpr const char* kCalls[] = {"verify",       "revoke",        "full_sync",   "incremental_sync",      "read",
                                  "resolve",      "execute_write", "find_effect", "create_rollback_point", "rollback",
                                  "find_rollback"};
constexpr const char* kRuleKeys[] = {"call",   "operation", "when",    "times",  "skip", "delay_ms",
                                     "answer", "raw",       "error",   "effect", "hang", "crash",
                                     "state",  "answered",  "can_ask", "says",   "ask",  "answers_as"};
constexpr const char* kKeys[] = {"service",     "prefix",  "version",  "account",
                                 "collections", "records", "undoable", "rules"};

std::string text(const Json& object, const char* name, const std::string& otherwise = {}) {
  const auto at = object.FindMember(name);
  return at != object.MemberEnd() && at->value.IsString()
             ? std::string(at->value.GetString(), at->value.GetStringLength())
             : otherwise;
}

std::int64_t number(const Json& object, const char* name, std::int64_t otherwise) {
  const auto at = object.FindMember(name);
  return at != object.MemberEnd() && at->value.IsInt64() ? at->value.GetInt64() : otherwise;
}

std::string written(const Json& value) {
  rapidjson::StringBuffer buffer;
  rapidjson::Writer<rapidjson::StringBuffer> writer(buffer);
  value.Accept(writer);
  return {buffer.GetString(), buffer.GetSize()};
}

template <std::size_t N>
bool is_one_of(const std::string& name, const char* const (&all)[N]) {
  return std::find(std::begin(all), std::end(all), name) != std::end(all);
}

/// Every member of `when` equals the parameter of that name.
bool fits(const Json& rule, const Asked& asked) {
  if (text(rule, "call") != asked.call) return false;
  if (rule.HasMember("operation") && text(rule, "operation") != asked.operation) return false;
  if (rule.HasMember("state") && text(rule, "state") != asked.state) return false;
  if (rule.HasMember("answered") && rule["answered"].IsTrue() == asked.answers_json.empty()) return false;
  const auto& can_ask = asked.can_ask;
  if (rule.HasMember("can_ask") && std::find(can_ask.begin(), can_ask.end(), text(rule, "can_ask")) == can_ask.end())
    return false;
  const auto when = rule.FindMember("when");
  if (when == rule.MemberEnd()) return true;
  rapidjson::Document params;
  params.Parse(asked.params_json.c_str(), asked.params_json.size());
  if (params.HasParseError() || !params.IsObject()) return false;
  for (const auto& wanted : when->value.GetObject()) {
    const auto given = params.FindMember(wanted.name);
    if (given == params.MemberEnd() || given->value != wanted.value) return false;
  }
  return true;
}

Saying saying_of(const Json& one) {
  Saying saying;
  saying.delay_ms = number(one, "delay_ms", 0);
  if (one.HasMember("message")) saying.message = text(one, "message");
  saying.level = text(one, "level", "info");
  const auto amount = [&](const char* name) {
    return one.HasMember(name) && one[name].IsNumber() ? one[name].GetDouble() : 0;
  };
  saying.done = amount("done");
  saying.total = amount("total");
  return saying;
}

/// The answer, with what was answered to the read as its member `name`.
std::string with_answers(const std::string& answer, const std::string& name, const std::string& answers_json) {
  rapidjson::Document whole, answers;
  whole.Parse(answer.c_str(), answer.size());
  answers.Parse(answers_json.c_str(), answers_json.size());
  if (whole.HasParseError() || !whole.IsObject() || answers.HasParseError()) return answer;
  auto& allocator = whole.GetAllocator();
  whole.AddMember(Json(name.c_str(), allocator), Json(answers, allocator), allocator);
  return written(whole);
}

Act act_of(const Json& rule, const Asked& asked) {
  Act act;
  if (rule.HasMember("says")) {
    for (const auto& one : rule["says"].GetArray()) act.says.push_back(saying_of(one));
  }
  if (const auto ask = rule.FindMember("ask"); ask != rule.MemberEnd()) {
    if (ask->value.HasMember("questions")) act.questions_json = written(ask->value["questions"]);
    act.state = text(ask->value, "state");
  }
  act.delay_ms = number(rule, "delay_ms", 0);
  const auto hang = text(rule, "hang");
  act.deaf = hang == "deaf";
  act.hang = act.deaf || (rule.HasMember("hang") && rule["hang"].IsTrue());
  act.crash = text(rule, "crash");
  if (rule.HasMember("answer")) act.answer = written(rule["answer"]);
  if (act.answer && rule.HasMember("answers_as"))
    act.answer = with_answers(*act.answer, text(rule, "answers_as"), asked.answers_json);
  if (rule.HasMember("raw")) act.answer = text(rule, "raw");
  if (rule.HasMember("effect")) act.effect = rule["effect"].IsTrue();
  if (const auto error = rule.FindMember("error"); error != rule.MemberEnd()) {
    const auto& e = error->value;
    act.error =
        Failure{text(e, "status", "unavailable"), text(e, "type"), text(e, "message", "The mock's script says so."),
                text(e, "effect") == "none", number(e, "retry_after_ms", -1)};
  }
  return act;
}

}  // namespace

Script::Script(std::filesystem::path file) : file_(std::move(file)), journal_(file_.string() + ".journal") {
  load();
  service_ = text(document_, "service");
  prefix_ = text(document_, "prefix", service_);
  version_ = text(document_, "version", "1.0.0");
}

void Script::load() {
  std::ifstream in(file_);
  if (!in) throw std::runtime_error(file_.string() + " cannot be read: a mock needs its script there.");
  const std::string content{std::istreambuf_iterator<char>(in), {}};
  rapidjson::Document document;
  document.Parse(content.c_str(), content.size());
  const auto refuse = [&](const std::string& why) { throw std::runtime_error(file_.string() + ": " + why); };
  if (document.HasParseError()) {
    std::ostringstream why;
    why << rapidjson::GetParseError_En(document.GetParseError()) << " At byte " << document.GetErrorOffset() << ".";
    refuse(why.str());
  }
  if (!document.IsObject() || text(document, "service").empty()) refuse("it needs a \"service\".");
  for (const auto& member : document.GetObject()) {
    if (!is_one_of(member.name.GetString(), kKeys))
      refuse(std::string("there is no key \"") + member.name.GetString() + "\".");
  }
  if (document.HasMember("rules")) {
    if (!document["rules"].IsArray()) refuse("\"rules\" must be a list.");
    for (const auto& rule : document["rules"].GetArray()) {
      if (!rule.IsObject() || !is_one_of(text(rule, "call"), kCalls))
        refuse("a rule needs a \"call\" of the interface.");
      for (const auto& member : rule.GetObject()) {
        if (!is_one_of(member.name.GetString(), kRuleKeys))
          refuse(std::string("a rule has no key \"") + member.name.GetString() + "\".");
      }
      if (rule.HasMember("when") && !rule["when"].IsObject()) refuse("\"when\" must be an object of parameters.");
      if (rule.HasMember("error") && !rule["error"].IsObject()) refuse("\"error\" must be an object.");
      if (rule.HasMember("ask") && !rule["ask"].IsObject()) refuse("\"ask\" must be an object.");
      if (rule.HasMember("says")) {
        const auto& says = rule["says"];
        const auto is_object = [](const Json& one) { return one.IsObject(); };
        if (!says.IsArray() || !std::all_of(says.Begin(), says.End(), is_object))
          refuse("\"says\" must be a list of objects.");
      }
    }
  }
  read_ = std::filesystem::last_write_time(file_);
  met_.assign(document.HasMember("rules") ? document["rules"].Size() : 0, 0);
  document_ = std::move(document);
}

/// A script that is broken while the host runs leaves the one before in use.
void Script::refresh() {
  std::error_code error;
  const auto changed = std::filesystem::last_write_time(file_, error);
  if (error || changed == read_) return;
  try {
    load();
  } catch (const std::exception&) {
    read_ = changed;
  }
}

Act Script::act_on(const Asked& asked) {
  const std::lock_guard lock(mutex_);
  refresh();
  if (!document_.HasMember("rules")) return {};
  const auto& rules = document_["rules"];
  for (rapidjson::SizeType i = 0; i < rules.Size(); ++i) {
    if (!fits(rules[i], asked)) continue;
    const auto met = met_[i]++;
    const auto skip = number(rules[i], "skip", 0), times = number(rules[i], "times", -1);
    if (met < skip || (times >= 0 && met >= skip + times)) continue;
    return act_of(rules[i], asked);
  }
  return {};
}

rapidjson::Document Script::part(const char* name) {
  const std::lock_guard lock(mutex_);
  refresh();
  rapidjson::Document copy;
  if (document_.HasMember(name)) copy.CopyFrom(document_[name], copy.GetAllocator());
  return copy;
}

void Script::note(const Asked& asked, bool effect, const std::string& answer_json) {
  rapidjson::Document line(rapidjson::kObjectType);
  auto& allocator = line.GetAllocator();
  const auto add = [&](const char* name, const std::string& value) {
    line.AddMember(Json(name, allocator),
                   Json(value.c_str(), static_cast<rapidjson::SizeType>(value.size()), allocator), allocator);
  };
  add("call", asked.call);
  add("operation", asked.operation);
  add("id", asked.id);
  add("params", asked.params_json);
  line.AddMember("effect", effect, allocator);
  add("answer", answer_json);
  const auto bytes = written(line) + "\n";
  const std::lock_guard lock(mutex_);
  const int descriptor = ::open(journal_.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  if (effect) effects_[asked.id] = answer_json;
  if (descriptor < 0) return;
  const bool kept = ::write(descriptor, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()) &&
                    ::fdatasync(descriptor) == 0;
  ::close(descriptor);
  if (!kept) throw std::runtime_error(journal_.string() + " cannot be written.");
}

std::optional<std::string> Script::effect_of(const std::string& id) const {
  const std::lock_guard lock(mutex_);
  if (const auto here = effects_.find(id); here != effects_.end()) return here->second;
  std::ifstream in(journal_);
  std::optional<std::string> found;
  for (std::string line; std::getline(in, line);) {
    rapidjson::Document entry;
    entry.Parse(line.c_str(), line.size());
    if (entry.HasParseError() || !entry.IsObject() || text(entry, "id") != id) continue;
    if (entry.HasMember("effect") && entry["effect"].IsTrue()) found = text(entry, "answer");
  }
  return found;
}

}  // namespace mock
