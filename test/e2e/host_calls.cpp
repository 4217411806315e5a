// The rig's operator and agent.
#include <stdexcept>

#include "host_fixture.hpp"

namespace krux::test {

Command Rig::kruxos_command(const std::vector<std::string>& arguments) const {
  Command command;
  command.argv = {KRUXOS_COMMAND, "--data-dir", data().string()};
  command.argv.insert(command.argv.end(), arguments.begin(), arguments.end());
  command.inherit_env = false;
  command.env = {{"HOME", path("home").string()}, {"PATH", "/usr/bin:/bin"}};
  return command;
}

Finished Rig::kruxos(std::vector<std::string> arguments, const std::string& in) {
  Command command = kruxos_command(arguments);
  command.stdin_text = in;
  return run(command, milliseconds(60000));
}

std::unique_ptr<Process> Rig::launch_kruxos(const std::vector<std::string>& arguments) {
  Command command = kruxos_command(arguments);
  command.stdin_text = std::nullopt;
  return std::make_unique<Process>(command);
}

Json Rig::operate(std::vector<std::string> arguments, const std::string& in) {
  arguments.insert(arguments.begin(), "--json");
  const auto done = kruxos(arguments, in);
  if (!done.status.ok()) throw std::runtime_error("kruxos " + arguments.at(1) + ": " + done.out + done.err);
  return parse(done.out);
}

HttpReply Rig::control(const std::string& method, const std::string& path, const std::string& body) {
  return http_request((data() / "control.sock").string(), method, "/v1" + path,
                      {{"host", "localhost"}, {"content-type", "application/json"}}, body);
}

Json Rig::write(const std::string& write_id) {
  const auto reply = control("GET", "/writes/" + write_id);
  if (reply.status != 200) throw std::runtime_error("write " + write_id + ": " + reply.body);
  return parse(reply.body);
}

bool Rig::told(const std::string& write_id) {
  return bool_at(write(write_id), "/write/needs_person");
}

void Rig::resolve(const std::string& write_id, const std::string& decision) {
  operate({"approve", "resolve", write_id, "--" + decision, "--yes"});
}

void Rig::connect(const std::string& token) {
  operate({"connect", "slack"}, token + "\n");
}

bool Rig::synced() {
  const auto reply = control("GET", "/sync/slack");
  return reply.status == 200 && number_at(parse(reply.body), "/sync/accounts/0/passes") > 0;
}

std::string Rig::new_agent(const std::string& name) {
  return text_at(operate({"agent", "create", name}), "/key");
}

Answer Rig::invoke_as(const std::string& with_key, const std::string& capability, const std::string& arguments,
                      const std::string& more) {
  const auto body = R"({"jsonrpc":"2.0","id":1,"method":"capabilities.invoke","params":{"capability":")" + capability +
                    R"(","arguments":)" + arguments + more + "}}";
  Answer answer;
  try {
    const auto reply = http_request(gateway_port_, "POST", "/rpc",
                                    {{"authorization", "Bearer " + with_key}, {"content-type", "application/json"}},
                                    body, milliseconds(30000));
    answer.status = reply.status;
    answer.document = parse(reply.body);
  } catch (const std::runtime_error&) {
    if (alive() && host_->wait(milliseconds(2000)) == std::nullopt) throw;
    answer.document.SetObject();  // it died before it answered
  }
  return answer;
}

Answer Rig::invoke(const std::string& capability, const std::string& arguments, const std::string& more) {
  return invoke_as(key, capability, arguments, more);
}

Answer Rig::send(const std::string& text, const std::string& channel) {
  return invoke("slack.send", R"({"channel":")" + channel + R"(","text":")" + text + "\"}");
}

}  // namespace krux::test
