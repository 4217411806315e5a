// The rig's operator and agent.
#include <stdexcept>

#include "host_rig.hpp"

namespace krux::test {

Command HostRig::kruxos_command(const std::vector<std::string>& arguments) const {
  Command command;
  command.argv = {KRUXOS_COMMAND, "--data-dir", data().string()};
  command.argv.insert(command.argv.end(), arguments.begin(), arguments.end());
  command.inherit_env = false;
  command.env = {{"HOME", path("home").string()}, {"PATH", "/usr/bin:/bin"}};
  if (!served_.client_secret.empty()) command.env["KRUXOS_CLIENT_SECRET"] = served_.client_secret;
  return command;
}

Finished HostRig::kruxos(const std::vector<std::string>& arguments, const std::string& in) {
  Command command = kruxos_command(arguments);
  command.stdin_text = in;
  return run(command, milliseconds(60000));
}

std::unique_ptr<Process> HostRig::launch_kruxos(const std::vector<std::string>& arguments,
                                                const std::map<std::string, std::string>& env) {
  Command command = kruxos_command(arguments);
  command.env.insert(env.begin(), env.end());
  command.stdin_text = std::nullopt;
  return std::make_unique<Process>(command);
}

Json HostRig::operate(std::vector<std::string> arguments, const std::string& in) {
  arguments.insert(arguments.begin(), "--json");
  const auto done = kruxos(arguments, in);
  if (!done.status.ok()) throw std::runtime_error("kruxos " + arguments.at(1) + ": " + done.out + done.err);
  return parse(done.out);
}

HttpReply HostRig::control(const std::string& method, const std::string& path, const std::string& body) {
  return http_request((data() / "control.sock").string(), method, "/v1" + path,
                      {{"host", "localhost"}, {"content-type", "application/json"}}, body);
}

Json HostRig::write(const std::string& write_id) {
  const auto reply = control("GET", "/writes/" + write_id);
  if (reply.status != 200) throw std::runtime_error("write " + write_id + ": " + reply.body);
  return parse(reply.body);
}

bool HostRig::told(const std::string& write_id) {
  return bool_at(write(write_id), "/write/needs_operator");
}

void HostRig::resolve(const std::string& write_id, const std::string& decision) {
  operate({"approve", "resolve", write_id, "--" + decision, "--yes"});
}

bool HostRig::synced() {
  const auto reply = control("GET", "/sync/" + served_.name);
  return reply.status == 200 && number_at(parse(reply.body), "/sync/accounts/0/passes") > 0;
}

std::string HostRig::new_agent(const std::string& name) {
  return text_at(parse(control("POST", "/agents", R"({"name":")" + name + "\"}").body), "/key");
}

Answer HostRig::invoke_as(const std::string& with_key, const std::string& capability, const std::string& arguments,
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

Answer HostRig::invoke(const std::string& capability, const std::string& arguments, const std::string& more) {
  return invoke_as(key, capability, arguments, more);
}

}  // namespace krux::test
