// A plain REST service by kruxos/kit: every role in fewer than 150 lines. The service is imaginary.
//
//   GET    user                                   -> {"id", "name"}     whose token it is
//   DELETE token                                  -> 204                forget the token
//   GET    tasks?per_page=N&updated_since=TIME    -> [TASK ...]; the header Link names the next page
//   GET    tasks?ref=TEXT                         -> [TASK ...]
//   GET    tasks/ID                               -> TASK or 404
//   POST   tasks {"title", "notes", "ref"}        -> 201 TASK
//   PATCH  tasks/ID {"state": "open" | "closed"}  -> TASK or 404
//   DELETE tasks/ID                               -> 204 or 404
//   TASK: {"id": 7, "title", "notes", "state", "ref", "updated_at": "2026-11-21T09:30:00.000Z"}; with updated_since
//   also {"id", "deleted": true, ...} of those that are gone
#pragma once
#include <kruxos/adapter.hpp>
#include <kruxos/kit/list_sync.hpp>
#include <kruxos/kit/rest.hpp>
#include <kruxos/kit/search.hpp>

namespace tasks {

using namespace kruxos::kit;
using kruxos::EffectFound;
using kruxos::ErrorKind;
using kruxos::ProxyError;

/// What is kept of a task: what the adapter knows, whatever else the service sends.
inline std::string task_json(const Json& task) {
  return ObjectWriter()
      .text("id", digits_of(task, "id"))
      .text("title", text_of(task, "title"))
      .text("notes", text_of(task, "notes"))
      .text("state", text_of(task, "state"))
      .text("ref", text_of(task, "ref"))
      .integer("updated_ms", moment_of(task, "updated_at"))
      .done();
}

inline kruxos::Record record_of(const Json& task) {
  kruxos::Record record;
  record.id = digits_of(task, "id");
  record.json = task_json(task);
  record.text = std::string(text_of(task, "title")) + '\x1f' + std::string(text_of(task, "notes"));
  record.order_ms = moment_of(task, "updated_at");
  record.fields = {{"state", std::string(text_of(task, "state"))}};
  return record;
}

class TasksAdapter final : public kruxos::SyncAdapter,
                           public kruxos::ReadAdapter,
                           public kruxos::WriteExecutor,
                           public kruxos::RollbackCapable,
                           public kruxos::AccountAdapter {
 public:
  TasksAdapter(kruxos::Host host, const kruxos::Account& account) : api_(host, "The tasks service") {
    api_.means(404, "TaskNotFound");
    const auto size = integer_of(parse(account.config_json), "page_size", 100);
    tasks_ = {.collection = "tasks",
              .list = {"tasks?per_page=" + std::to_string(size), Paging::by_link()},
              .since = "updated_since",
              .record = record_of,
              .is_gone = [](const Json& task) { return flag_of(task, "deleted"); }};
  }

  static kruxos::Description describe() {
    return {{{"tasks", 1, kruxos::Order::kTime, true, {{"state", kruxos::FieldType::kText}}}},
            R"({"type":"object","additionalProperties":false,
                "properties":{"page_size":{"type":"integer","minimum":1,"maximum":500}}})"};
  }

  kruxos::SyncStep full_sync(const kruxos::Call& call, kruxos::SyncStore& store) override {
    return tasks_.full_step(api_, call, store);
  }
  kruxos::SyncStep incremental_sync(const kruxos::Call& call, kruxos::SyncStore& store, std::int64_t) override {
    return tasks_.next_step(api_, call, store);
  }

  std::string read(const kruxos::Call&, const kruxos::Reader& reader, std::string_view capability,
                   std::string_view params_json) override {
    const auto params = parse(params_json);
    if (capability == "tasks.read") {
      const auto json = reader.get("tasks", text_of(params, "task_id"));
      if (!json) throw ProxyError(ErrorKind::kNotFound, "There is no such task.").type("TaskNotFound");
      return "{\"task\":" + *json + "}";
    }
    if (capability != "tasks.search") throw ProxyError(ErrorKind::kUnsupported, "There is no such capability.");
    auto query = search_query("tasks", params);
    if (const auto state = text_of(params, "state"); !state.empty())
      query.where.children.push_back(kruxos::field_eq("state", std::string(state)));
    return search_page(reader, query, "tasks");
  }

  // A new task carries the write's id as its "ref", by which it is found again; that a task is closed shows its state.
  std::string execute_write(const kruxos::Call& call, const kruxos::BufferedWrite& write) override {
    const auto params = parse(write.params_json);
    if (write.operation == "tasks.close") return task_json(set_state(call, address(params, "task_id"), "closed"));
    if (write.operation != "tasks.create")
      throw ProxyError(ErrorKind::kUnsupported, "There is no such operation.").no_effect();
    const auto body = ObjectWriter()
                          .text("title", text_of(params, "title"))
                          .text("notes", text_of(params, "notes"))
                          .text("ref", write.write_id)
                          .done();
    return task_json(made_of(api_.send(call, "POST", "tasks", body)));
  }
  EffectFound find_effect(const kruxos::Call& call, const kruxos::BufferedWrite& write) override {
    if (write.operation == "tasks.create")
      return api_.find_by(call, {"tasks?ref=" + encoded(write.write_id), Paging::by_link()}, "ref", write.write_id,
                          task_json);
    const auto task = made_of(api_.get(call, address(parse(write.params_json), "task_id")));
    return text_of(task, "state") == "closed" ? EffectFound::found(task_json(task)) : EffectFound::absent();
  }

  // What nobody has changed since is undone: a new task is deleted, a closed one gets the state that it had.
  bool supports_rollback(std::string_view operation) override {
    return operation == "tasks.create" || operation == "tasks.close";
  }
  std::string create_rollback_point(const kruxos::Call& call, const kruxos::BufferedWrite& write) override {
    if (write.operation == "tasks.create") return "{}";
    return task_json(made_of(api_.get(call, address(parse(write.params_json), "task_id"))));
  }
  std::string rollback(const kruxos::Call& call, const kruxos::RollbackRequest& request) override {
    const auto left = parse(request.result_json);
    const auto url = address(left, "id");
    if (!request.force) {
      const auto now = parse(task_json(api_.get(call, url)));
      if (!same_members(left, now, {"id", "state", "updated_ms"}))
        throw ProxyError(ErrorKind::kConflict, "The task has been changed since.").no_effect();
    }
    if (request.operation == "tasks.close")
      return task_json(set_state(call, url, text_of(parse(request.point_json), "state")));
    api_.run(call, "DELETE", url);
    return R"({"deleted":true})";
  }
  EffectFound find_rollback(const kruxos::Call& call, const kruxos::RollbackRequest& request) override {
    const auto task = api_.find(call, address(parse(request.result_json), "id"));
    const auto before = text_of(parse(request.point_json), "state");
    const bool undone = request.operation == "tasks.create" ? !task : task && text_of(*task, "state") == before;
    return undone ? EffectFound::found("{}") : EffectFound::absent();
  }

  kruxos::Identity verify(const kruxos::Call& call) override {
    const auto user = api_.get(call, "user");
    return {digits_of(user, "id"), std::string(text_of(user, "name")), std::nullopt, ""};
  }
  void revoke(const kruxos::Call& call) override { api_.run(call, "DELETE", "token"); }

 private:
  static std::string address(const Json& object, std::string_view id) {
    return "tasks/" + encoded(text_of(object, id));
  }
  rapidjson::Document set_state(const kruxos::Call& call, const std::string& url, std::string_view state) const {
    return made_of(api_.send(call, "PATCH", url, ObjectWriter().text("state", state).done()));
  }
  /// An answer that is about no task tells nothing.
  static rapidjson::Document made_of(rapidjson::Document task) {
    if (digits_of(task, "id").empty())
      throw ProxyError(ErrorKind::kUnavailable, "The service answered without a task.");
    return task;
  }

  RestClient api_;
  ListSync tasks_;
};

}  // namespace tasks
