// `kruxos test-host`, as a tester starts it.
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>

#include "e2e/host_rig.hpp"
#include "support/http.hpp"
#include "support/safe_file.hpp"

namespace krux::test {

inline Command test_host_command(const std::filesystem::path& temporary, const std::vector<std::string>& words) {
  Command command;
  command.argv = {KRUXOS_COMMAND, "test-host", "--definitions", KRUXOS_DEFINITIONS, "--mock", KRUXOS_MOCK_ADAPTER};
  command.argv.insert(command.argv.end(), words.begin(), words.end());
  command.env = {{"TMPDIR", temporary.string()}, {"KRUXOS_DATA_DIR", "/nowhere"}};
  command.stdin_text = std::nullopt;
  return command;
}

class StartedHost {
 public:
  explicit StartedHost(const std::vector<std::string>& words) : process_(test_host_command(scratch_.path(), words)) {
    const auto line = process_.wait_for_line("{", milliseconds(60'000));
    if (!line) throw std::runtime_error("no ready line: " + process_.output(Stream::err));
    ready = parse(*line);
  }

  Answer invoke(const std::string& capability, const std::string& arguments) {
    return invoke_as(text_at(ready, "/key"), capability, arguments);
  }
  Answer invoke_as(const std::string& key, const std::string& capability, const std::string& arguments) {
    const auto url = text_at(ready, "/url");
    const auto port = static_cast<std::uint16_t>(std::stoi(url.substr(url.rfind(':') + 1)));
    const auto reply =
        http_request(port, "POST", "/rpc", {{"authorization", "Bearer " + key}, {"content-type", "application/json"}},
                     R"({"jsonrpc":"2.0","id":1,"method":"capabilities.invoke","params":{"capability":")" + capability +
                         R"(","arguments":)" + arguments + "}}");
    Answer answer;
    answer.status = reply.status;
    answer.document = parse(reply.body);
    return answer;
  }
  std::string state(const std::string& write_id) {
    return invoke("proxy.write_status", R"({"write_id":")" + write_id + "\"}").text("/status");
  }
  bool reaches(const std::string& write_id, const std::string& wanted, milliseconds limit = milliseconds(15'000)) {
    const bool so = eventually([&] { return state(write_id) == wanted; }, limit);
    UNSCOPED_INFO("its state is " << state(write_id));
    return so;
  }
  /// One line of standard input, and what is answered.
  Json tell(const std::string& line) {
    process_.write_stdin(line + "\n");
    const auto answer = process_.wait_for_line("{", milliseconds(60'000));
    if (!answer) throw std::runtime_error("no answer to " + line + ": " + process_.output(Stream::err));
    return parse(*answer);
  }
  std::vector<Json> journal(int service = 0) {
    std::ifstream in(text_at(ready, "/services/" + std::to_string(service) + "/journal"));
    std::vector<Json> lines;
    for (std::string line; std::getline(in, line);) lines.push_back(parse(line));
    return lines;
  }
  Finished operate(std::vector<std::string> words) {
    words.insert(words.begin(), {KRUXOS_COMMAND, "--socket", text_at(ready, "/control")});
    return run({.argv = words});
  }
  /// Nothing is left of it where temporary files are.
  bool left_nothing() const { return std::filesystem::is_empty(scratch_.path()); }
  Process& process() { return process_; }
  const std::filesystem::path& temporary() const { return scratch_.path(); }

  Json ready;

 private:
  support::Scratch scratch_;
  Process process_;
};

/// Of one that does not begin: what it says to that.
inline std::string refusal(const std::vector<std::string>& words) {
  const support::Scratch scratch;
  auto command = test_host_command(scratch.path(), words);
  command.stdin_text = "";
  const auto done = run(command, milliseconds(60'000));
  CHECK(done.status.code != 0);
  CHECK(done.out.empty());
  CHECK(std::filesystem::is_empty(scratch.path()));
  return done.err;
}

}  // namespace krux::test
