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
#include <utility>

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

std::string rule_problem(const Json& rule) {
  if (!rule.IsObject() || !is_one_of(text(rule, "call"), kCalls)) return "it needs a \"call\" of the interface.";
  for (const auto& member : rule.GetObject()) {
    if (!is_one_of(member.name.GetString(), kRuleKeys))
      return std::string("a rule has no key \"") + member.name.GetString() + "\".";
  }
  for (const char* key : {"when", "error", "ask"}) {
    if (rule.HasMember(key) && !rule[key].IsObject()) return std::string("\"") + key + "\" must be an object.";
  }
  if (!rule.HasMember("says")) return {};
  const auto& says = rule["says"];
  const auto is_object = [](const Json& one) { return one.IsObject(); };
  const bool fit = says.IsArray() && std::all_of(says.Begin(), says.End(), is_object);
  return fit ? "" : "\"says\" must be a list of objects.";
}

/// As a value under `name`, or where it is none as a text under `otherwise`.
void put_json(rapidjson::Document& line, const char* name, const char* otherwise, const std::string& json) {
  auto& allocator = line.GetAllocator();
  rapidjson::Document document;
  document.Parse(json.c_str(), json.size());
  const bool raw = document.HasParseError();
  line.AddMember(
      Json(raw ? otherwise : name, allocator),
      raw ? Json(json.c_str(), static_cast<rapidjson::SizeType>(json.size()), allocator) : Json(document, allocator),
      allocator);
}

/// Why the call does not succeed; null: it does.
Json failure_of(const Act& act, rapidjson::Document::AllocatorType& allocator) {
  Json failure;
  const auto add = [&](const char* name, const std::string& value) {
    if (!failure.IsObject()) failure.SetObject();
    if (!value.empty()) failure.AddMember(Json(name, allocator), Json(value.c_str(), allocator), allocator);
  };
  if (act.error) {
    add("status", act.error->status);
    add("type", act.error->type);
    add("message", act.error->message);
    if (act.error->no_effect) add("effect", "none");
  }
  if (!act.crash.empty()) add("crash", act.crash);
  if (act.hang) add("hang", act.deaf ? "deaf" : "until it is cancelled");
  return failure;
}

constexpr const char* kDone = R"({"status":"ok"})";

}  // namespace

Script::Script(std::filesystem::path file) : file_(std::move(file)), journal_(file_.string() + ".journal") {
  load();
  read_journal();
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
    const auto end = content.begin() + static_cast<std::ptrdiff_t>(document.GetErrorOffset());
    why << rapidjson::GetParseError_En(document.GetParseError()) << " In line "
        << std::count(content.begin(), end, '\n') + 1 << ", at byte " << document.GetErrorOffset() << ".";
    refuse(why.str());
  }
  if (!document.IsObject() || text(document, "service").empty()) refuse("it needs a \"service\".");
  for (const auto& member : document.GetObject()) {
    if (!is_one_of(member.name.GetString(), kKeys))
      refuse(std::string("there is no key \"") + member.name.GetString() + "\".");
  }
  if (document.HasMember("rules")) {
    if (!document["rules"].IsArray()) refuse("\"rules\" must be a list.");
    int number = 0;
    for (const auto& rule : document["rules"].GetArray()) {
      ++number;
      if (const auto why = rule_problem(rule); !why.empty()) refuse("rule " + std::to_string(number) + ": " + why);
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
    problem_.clear();
  } catch (const std::exception& broken) {
    read_ = changed;
    problem_ = broken.what();
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

std::string Script::take_problem() {
  const std::lock_guard lock(mutex_);
  return std::exchange(problem_, {});
}

std::optional<std::string> Script::note(const Asked& asked, const Act& act, bool effect,
                                        const std::string& answer_json) {
  rapidjson::Document line(rapidjson::kObjectType);
  auto& allocator = line.GetAllocator();
  const auto add = [&](const char* name, Json value) { line.AddMember(Json(name, allocator), value, allocator); };
  add("call", Json(asked.call.c_str(), allocator));
  add("operation", Json(asked.operation.c_str(), allocator));
  add("id", Json(asked.id.c_str(), allocator));
  put_json(line, "params", "raw_params", asked.params_json);
  add("effect", Json(effect));
  auto failure = failure_of(act, allocator);
  const bool failed = failure.IsObject();
  if (failed) add("error", std::move(failure));
  if (!failed || act.answer) put_json(line, "answer", "raw", answer_json);
  rapidjson::StringBuffer buffer;
  rapidjson::Writer<rapidjson::StringBuffer, rapidjson::UTF8<>, rapidjson::ASCII<>> writer(buffer);
  line.Accept(writer);
  const std::string bytes(buffer.GetString(), buffer.GetSize());

  const std::lock_guard lock(mutex_);
  if (effect) effects_[asked.id] = failed && !act.answer ? kDone : answer_json;
  const int descriptor = ::open(journal_.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  if (descriptor < 0) return bytes;
  const auto whole = bytes + "\n";
  const bool kept = ::write(descriptor, whole.data(), whole.size()) == static_cast<ssize_t>(whole.size()) &&
                    ::fdatasync(descriptor) == 0;
  ::close(descriptor);
  if (!kept) throw std::runtime_error(journal_.string() + " cannot be written.");
  return std::nullopt;
}

std::optional<std::string> Script::effect_of(const std::string& id) const {
  const std::lock_guard lock(mutex_);
  const auto found = effects_.find(id);
  return found == effects_.end() ? std::nullopt : std::optional(found->second);
}

/// What an earlier process did. This one may open no file once it runs.
void Script::read_journal() {
  std::ifstream in(journal_);
  for (std::string line; std::getline(in, line);) {
    rapidjson::Document entry;
    entry.Parse(line.c_str(), line.size());
    if (entry.HasParseError() || !entry.IsObject()) continue;
    if (!entry.HasMember("effect") || !entry["effect"].IsTrue()) continue;
    const auto answer = entry.FindMember("answer");
    effects_[text(entry, "id")] = answer != entry.MemberEnd() ? written(answer->value) : text(entry, "raw", kDone);
  }
}

}  // namespace mock
