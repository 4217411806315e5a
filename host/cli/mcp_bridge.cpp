#include "host/cli/mcp_bridge.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <ostream>
#include <thread>

#include "core/util/checked_file.hpp"
#include "core/util/error.hpp"
#include "core/util/json_out.hpp"
#include "host/cli/gateway_client.hpp"
#include "host/cli/mcp_bridge_calls.hpp"

namespace krux::cli {
namespace {

constexpr std::uintmax_t kLargestKeyFile = 4096;
constexpr std::string_view kMeta = "io.modelcontextprotocol/protocolVersion";
constexpr std::string_view kListen = "subscriptions/listen";
constexpr int kMostBroken = 100;  ///< streams, one after the other
constexpr int kInternalError = -32603, kParseError = -32700, kHeaderMismatch = -32020;
constexpr int kBadRequest = 400;

std::string without_space(std::string text) {
  std::erase_if(text, [](unsigned char c) { return std::isspace(c); });
  return text;
}

std::string read_key(const McpArguments& arguments) {
  std::string key;
  if (arguments.key_file.empty()) {
    const char* given = std::getenv("KRUXOS_API_KEY");
    if (!given || !*given)
      throw CliError(
          kUsage, "Which key? Name a file with --key-file, or set KRUXOS_API_KEY. kruxos agent create NAME makes one.");
    key = given;
  } else {
    struct stat info {};
    if (::stat(arguments.key_file.c_str(), &info) == 0 && (info.st_mode & 077) != 0)
      throw CliError(kUsage, fmt::format("Others can read the key in \"{0}\". Run: chmod 600 '{0}'",
                                         printable(arguments.key_file)));
    auto file = read_checked_file(arguments.key_file, kLargestKeyFile);
    if (!file.problem.empty())
      throw CliError(
          kUsage, fmt::format("The key file \"{}\" cannot be used. {}", printable(arguments.key_file), file.problem));
    key = std::move(file.bytes);
  }
  key = without_space(std::move(key));
  const bool fits =
      key.size() == 64 && std::all_of(key.begin(), key.end(), [](unsigned char c) { return std::isxdigit(c); });
  if (!fits)
    throw CliError(kUsage, "This is no agent's key: it has 64 hexadecimal digits. kruxos agent create NAME shows one.");
  return key;
}

std::string path_for(const std::string& tools) {
  const auto fits = [](unsigned char c) { return std::isalnum(c) || c == '_' || c == ','; };
  if (!std::all_of(tools.begin(), tools.end(), fits))
    throw CliError(kUsage,
                   fmt::format("--tools takes core, all, or names of services with commas between them, not \"{}\".",
                               printable(tools)));
  return tools.empty() ? "/mcp" : "/mcp?tools=" + tools;
}

std::string member_text(const JsonValue& object, std::string_view name) {
  return std::string(find_string(object, name).value_or(""));
}

/// Throws krux::Error.
BridgeMessage message_of(std::string text) {
  const auto document = parse_json(text, "The message");
  BridgeMessage line;
  line.text = std::move(text);
  line.method = member_text(document, "method");
  line.listens = line.method == kListen;
  line.opens = line.method == "initialize";
  // What the program answers to the host's own requests has an id of the host's, and no answer.
  const auto* own_id = line.method.empty() ? nullptr : find_member(document, "id");
  if (own_id) line.id_json = to_json(*own_id);
  const auto* params = find_member(document, "params");
  if (!params) return line;
  line.name = member_text(*params, line.method == "resources/read"     ? "uri"
                                   : line.method.starts_with("tasks/") ? "taskId"
                                                                       : "name");
  if (const auto* id = find_member(*params, "requestId")) line.cancels = to_json(*id);
  if (const auto* meta = find_member(*params, "_meta")) line.version = member_text(*meta, kMeta);
  return line;
}

std::string error_line(std::string_view id_json, int code, std::string_view message) {
  return fmt::format(R"({{"jsonrpc":"2.0","id":{},"error":{{"code":{},"message":{}}}}})",
                     id_json.empty() ? "null" : id_json, code, json_string(message));
}

/// Of a call that was refused for want of them.
GatewayHeaders repeated_inputs(const std::string& message, const GatewayAnswer& answer) {
  GatewayHeaders headers;
  if (answer.status != kBadRequest || answer.is_stream) return headers;
  try {
    const auto refusal = parse_json(answer.body, "The answer"), call = parse_json(message, "The message");
    const auto* error = find_member(refusal, "error");
    const auto* data = error && find_int(*error, "code") == kHeaderMismatch ? find_member(*error, "data") : nullptr;
    const auto* wanted = data ? find_member(*data, "headers") : nullptr;
    const auto* params = wanted ? find_member(call, "params") : nullptr;
    const auto* arguments = params ? find_member(*params, "arguments") : nullptr;
    if (!arguments || !wanted->IsObject()) return headers;
    for (const auto& member : wanted->GetObject()) {
      const auto* value = member.value.IsString() ? find_member(*arguments, view(member.value)) : nullptr;
      if (!value || value->IsNull()) continue;
      const auto text = value->IsString() ? std::string(view(*value)) : to_json(*value);
      headers.emplace_back("Mcp-Param-" + std::string(view(member.name)), header_value(text));
    }
  } catch (const Error&) {
    headers.clear();  // the refusal is the answer
  }
  return headers;
}

class Bridge {
 public:
  Bridge(Console& console, GatewayClient gateway) : console_(console), gateway_(std::move(gateway)) {}

  void run() {
    while (auto text = console_.read_line({})) {
      if (text->find_first_not_of(" \t\r") == std::string::npos) continue;
      try {
        take(message_of(*std::move(text)));
      } catch (const Error& error) {
        print(error_line({}, kParseError, error.what()));
      }
    }
    // Calls are answered first; streams would never end.
    calls_.finish();
    heard_.end();
    if (listening_.joinable()) listening_.join();
    GatewayCall last;
    if (in_session()) gateway_.send("DELETE", headers_of({}), {}, {}, last);
  }

 private:
  void take(BridgeMessage line) {
    if (line.method == "notifications/cancelled") {
      const bool waited = calls_.take_back(line.cancels);
      // In a session the host is told of what it has; without one, that nobody reads the answer tells it.
      if (waited || !in_session()) return;
    }
    const auto id_json = line.id_json;
    if (!calls_.add(std::move(line)) && !id_json.empty())
      print(error_line(id_json, kInternalError,
                       fmt::format("It was not passed on: {} messages wait for the gateway already, or as many as have "
                                   "{} MiB. Send it again when some have been answered.",
                                   BridgeCalls::kMostWaiting, BridgeCalls::kMostWaitingBytes >> 20)));
  }

  GatewayHeaders headers_of(const BridgeMessage& line) const {
    GatewayHeaders headers;
    if (!line.version.empty()) {
      headers.emplace_back("MCP-Protocol-Version", line.version);
      headers.emplace_back("Mcp-Method", line.method);
      if (!line.name.empty()) headers.emplace_back("Mcp-Name", header_value(line.name));
      return headers;
    }
    const std::lock_guard lock(naming_);
    if (!session_.empty()) headers.emplace_back("Mcp-Session-Id", session_);
    if (!version_.empty()) headers.emplace_back("MCP-Protocol-Version", version_);
    return headers;
  }

  void pass_on(const BridgeMessage& line, const std::shared_ptr<GatewayCall>& call) {
    bool answered = false;
    const OnEvent on_event = [&](std::string_view data, std::string_view id) {
      if (call->ended()) return;
      answered = answered || is_for(data, line.id_json);
      printed_(data, id);
    };
    auto answer = gateway_.send("POST", headers_of(line), line.text, on_event, *call);
    // A tool's inputs may have to be repeated in headers, of which who speaks over standard input knows nothing. The
    // gateway has done nothing yet, and says which.
    if (const auto repeated = repeated_inputs(line.text, answer); !repeated.empty() && !call->ended()) {
      auto headers = headers_of(line);
      headers.insert(headers.end(), repeated.begin(), repeated.end());
      answer = gateway_.send("POST", headers, line.text, on_event, *call);
    }
    if (line.opens && answer.status == 200) remember(answer);
    if (line.opens && in_session() && !listening_.joinable()) listening_ = std::jthread([this] { listen(); });
    calls_.forget(line, call);
    if (line.id_json.empty() || call->ended() || answered) return;
    if (answer.is_stream)
      return print(error_line(line.id_json, kInternalError,
                              line.listens ? "The stream has ended. Listen again."
                                           : "The answer broke off. What was asked for may have been done."));
    if (!answer.problem.empty()) return print(error_line(line.id_json, kInternalError, answer.problem));
    print(is_for(answer.body, line.id_json) ? answer.body
                                            : error_line(line.id_json, kInternalError, reason_of(answer)));
  }

  /// What the host says in a session without having been asked. A stream that breaks off goes on behind its last event.
  void listen() {
    std::string last;
    const OnEvent on_event = [&](std::string_view data, std::string_view id) {
      if (!id.empty()) last = id;
      printed_(data, id);
    };
    for (int broken = 0; broken < kMostBroken && !heard_.ended(); ++broken) {
      auto headers = headers_of({});
      if (!last.empty()) headers.emplace_back("Last-Event-ID", last);
      if (!gateway_.send("GET", headers, {}, on_event, heard_).is_stream) return;
    }
  }

  void remember(const GatewayAnswer& answer) {
    const std::lock_guard lock(naming_);
    session_ = answer.session;
    try {
      const auto document = parse_json(answer.body, "The answer");
      const auto* result = find_member(document, "result");
      version_ = result ? member_text(*result, "protocolVersion") : std::string();
    } catch (const Error&) {
      version_.clear();
    }
  }

  bool in_session() const {
    const std::lock_guard lock(naming_);
    return !session_.empty();
  }

  /// A refusal of the gateway's own is no answer to the message.
  static bool is_for(std::string_view body, const std::string& id_json) {
    return body.starts_with(R"({"jsonrpc":"2.0","id":)" + id_json + ",");
  }
  static std::string reason_of(const GatewayAnswer& answer) {
    try {
      const auto document = parse_json(answer.body, "The answer", {64u << 20, 64});
      if (const auto* error = find_member(document, "error")) return member_text(*error, "message");
    } catch (const Error&) {
    }
    return fmt::format("The gateway answered with HTTP status {}.", answer.status);
  }

  void print(std::string_view line) {
    const std::lock_guard lock(printing_);
    console_.out() << line << '\n' << std::flush;
  }

  Console& console_;
  const GatewayClient gateway_;
  mutable std::mutex naming_;
  std::string session_, version_;  ///< under `naming_`
  std::jthread listening_;         ///< begun by whoever opens a session, which is one at a time
  /// Events without data only say where a stream is.
  const OnEvent printed_ = [this](std::string_view data, std::string_view) {
    if (!data.empty()) print(data);
  };
  GatewayCall heard_;
  std::mutex printing_;
  BridgeCalls calls_{[this](const auto& line, const auto& call) { pass_on(line, call); }};
};

}  // namespace

int run_mcp_bridge(const Session& session, const McpArguments& arguments) {
  Bridge(session.console, GatewayClient(arguments.url, read_key(arguments), path_for(arguments.tools))).run();
  return kOk;
}

}  // namespace krux::cli
