// What the gateway needs of the host, from those who have it.
#pragma once

#include "core/capability/capability_handler.hpp"
#include "core/replica/record_watches.hpp"
#include "core/state/agent_pauses.hpp"
#include "core/state/agents.hpp"
#include "core/state/sessions.hpp"
#include "core/upload/upload_store.hpp"
#include "host/gateway/agent_gateway.hpp"
#include "host/gateway/upload_desk.hpp"

namespace krux {

class AgentSide final : public AgentApi {
 public:
  AgentSide(AgentStore& agents, SessionStore& sessions, CapabilityHandler& handler, UploadStore& uploads,
            RecordWatches& record_watches)
      : agents_(agents),
        sessions_(sessions),
        handler_(handler),
        uploads_(uploads),
        record_watches_(record_watches),
        desk_(uploads) {}
  std::optional<Agent> authenticate(std::string_view key) override { return agents_.authenticate(key); }
  std::optional<Agent> active(const std::string& agent_id) override { return agents_.active(agent_id); }
  SessionStore& sessions() override { return sessions_; }
  void in_turn(const std::string& agent_id, std::function<void()> work, std::function<void(Error)> refused,
               RunsOn on) override {
    handler_.in_turn(agent_id, std::move(work), std::move(refused), on);
  }
  void invoke(Invocation invocation, std::function<void(InvocationResult)> done) override {
    handler_.invoke(std::move(invocation), std::move(done));
  }
  std::optional<Error> why_not_ask(const Invocation& invocation, const Questions& questions) override {
    return handler_.why_not_ask(invocation, questions);
  }
  void approval(const std::string& agent_id, const std::string& approval_id, std::int64_t wait_ms,
                std::function<void(std::variant<std::string, Error>)> done) override {
    handler_.approval(agent_id, approval_id, wait_ms, std::move(done));
  }
  void transaction(TransactionStep step, std::function<void(std::variant<std::string, Error>)> done) override {
    handler_.transaction(std::move(step), std::move(done));
  }
  void asked_approval(const std::string& agent_id, const std::string& write_id,
                      std::function<void(AskedOutcome)> done) override {
    handler_.asked_approval(agent_id, write_id, std::move(done));
  }
  std::string list_json(const std::string& agent, const CatalogueFilter& filter) override {
    return handler_.list_json(agent, filter);
  }
  std::optional<std::string> describe_json(const std::string& agent, const std::string& name) override {
    return handler_.describe_json(agent, name);
  }
  std::vector<Offered> offered(const std::string& agent) override { return handler_.offered(agent); }
  bool knows(const std::string& capability) override { return handler_.knows(capability); }
  bool takes_time(const std::string& capability) override { return handler_.takes_time(capability); }
  TakesLong takes_long(const std::string& capability) override { return handler_.takes_long(capability); }
  std::vector<std::string> services() override { return handler_.services(); }
  void values(const ValuesWanted& wanted, std::function<void(std::variant<Completion, Error>)> done) override {
    handler_.values(wanted, std::move(done));
  }
  std::optional<Error> why_not_hear_state(const std::string& agent_id) override {
    return handler_.why_not_hear_state(agent_id);
  }
  std::vector<InputDefinition> header_inputs(const std::string& capability) override {
    return handler_.header_inputs(capability);
  }
  std::shared_ptr<void> watch_record(const std::string& service, const RecordAddress& record,
                                     std::function<void()> changed) override {
    return record_watches_.watch(service, record, std::move(changed));
  }
  BodyToFile upload_target() override { return desk_.target(); }
  std::int64_t upload_room(const std::string& agent_id) override { return uploads_.room_of(agent_id); }
  void add_upload(const UploadRequest& upload, std::function<void(std::variant<std::string, Error>)> done) override {
    if (const auto pause = agents_.pauses().holding(upload.agent_id)) return done(paused_error(*pause));
    desk_.add(upload, std::move(done));
  }

 private:
  AgentStore& agents_;
  SessionStore& sessions_;
  CapabilityHandler& handler_;
  UploadStore& uploads_;
  RecordWatches& record_watches_;
  UploadDesk desk_;
};

}  // namespace krux
