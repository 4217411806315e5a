#include "adapter.hpp"

#include <fcntl.h>

#include <algorithm>

#include "records.hpp"
#include "words.hpp"
#include "workspace/failure.hpp"
#include "workspace/path.hpp"

namespace process {
namespace {

using kruxos::EffectFound;
using kruxos::ErrorKind;
using kruxos::ProxyError;
using kruxos::kit::Json;
using kruxos::kit::text_of;

constexpr std::size_t kInResult = 256 * 1024;  ///< of each stream; the rest by process.output
constexpr std::size_t kKeep = 200, kListed = 50;
constexpr std::int64_t kWaitMs = 100, kKillMs = 5'000;

Command command_of(const Json& params) {
  Command command;
  const auto text = text_of(params, "command");
  // A program's words end there: less would be run than a person has read.
  if (text.find('\0') != std::string_view::npos) throw workspace::invalid("The command has a NUL: leave it out.");
  if (kruxos::kit::flag_of(params, "shell")) {
    command.words = {"/bin/sh", "-c", std::string(text)};
  } else {
    command.words = words_of(text);
  }
  const auto directory = text_of(params, "working_directory");
  command.directory = workspace::parse_path(directory.empty() ? workspace::kRoot : directory).shown();
  command.input = text_of(params, "stdin");
  return command;
}

ProxyError no_such_process() {
  return ProxyError(ErrorKind::kNotFound, "There is no such program of yours.").type("ProcessNotFound").no_effect();
}

std::string id_in(const Json& params) {
  return std::string(text_of(params, "process_id"));
}

std::string killed(const std::string& id) {
  return kruxos::kit::ObjectWriter().text("process_id", id).text("state", "ended").done();
}

}  // namespace

ProcessAdapter::ProcessAdapter(kruxos::Host, const kruxos::Account& account)
    : options_(options_of(account.config_json)), homes_(options_.root), supervisor_(options_) {}

kruxos::Description ProcessAdapter::describe() {
  kruxos::Description description;
  description.config_schema_json = kConfigSchema;
  description.acts_by_http = false;
  return description;
}

std::string ProcessAdapter::read(const kruxos::Call& call, const kruxos::Reader&, std::string_view capability,
                                 std::string_view params_json) {
  const auto home = homes_.of(call.agent());
  if (capability == "process.list") return list(call, home);
  if (capability == "process.output") return output(call, home, kruxos::kit::parse(params_json));
  throw ProxyError(ErrorKind::kUnsupported, "There is no such capability.");
}

std::string ProcessAdapter::list(const kruxos::Call& call, const workspace::Home& home) const {
  kruxos::kit::ArrayWriter all;
  for (const auto& view : supervisor_.running(std::string(call.agent()))) all.raw(short_json_of(view));
  for (const auto& view : last_ended(home, kListed)) all.raw(short_json_of(view));
  return kruxos::kit::ObjectWriter().raw("processes", all.done()).done();
}

std::string ProcessAdapter::output(const kruxos::Call& call, const workspace::Home& home, const Json& params) const {
  const Page page{static_cast<std::size_t>(kruxos::kit::integer_of(params, "stdout_offset")),
                  static_cast<std::size_t>(kruxos::kit::integer_of(params, "stderr_offset")),
                  static_cast<std::size_t>(kruxos::kit::integer_of(params, "max_bytes", 65'536))};
  if (const auto view = supervisor_.find(std::string(call.agent()), id_in(params))) return json_of(*view, page);
  if (const auto view = ended(home, id_in(params))) return json_of(*view, page);
  throw no_such_process();
}

std::string ProcessAdapter::resolve(const kruxos::Call&, const kruxos::Reader&, std::string_view operation,
                                    std::string_view params_json) {
  if (operation == "process.run") (void)command_of(kruxos::kit::parse(params_json));
  return std::string(params_json);
}

std::string ProcessAdapter::execute_write(const kruxos::Call& call, const kruxos::BufferedWrite& write) {
  if (write.operation == "process.run") return run(call, write);
  if (write.operation == "process.kill") return kill(call, write);
  throw ProxyError(ErrorKind::kUnsupported, "There is no such operation.").no_effect();
}

std::string ProcessAdapter::run(const kruxos::Call& call, const kruxos::BufferedWrite& write) {
  auto home = homes_.of(call.agent());
  const auto params = kruxos::kit::parse(write.params_json);
  const std::string agent(call.agent()), id(write.write_id);
  const bool background = kruxos::kit::flag_of(params, "background");
  if (was_begun(home, id)) throw ProxyError(ErrorKind::kInternal, "It was begun before, and is never begun twice.");
  Order order;
  order.command = command_of(params);
  order.agent = agent;
  order.id = id;
  order.shown = text_of(params, "command");
  order.limit_seconds =
      background ? options_.background_seconds : kruxos::kit::integer_of(params, "timeout_seconds", 60);
  order.started_at_ms = call.now_ms();
  const auto records = std::make_shared<workspace::Descriptor>(fcntl(home.processes.get(), F_DUPFD_CLOEXEC, 0));
  order.when_ended = [records](const View& view) {
    try {
      end_record(records->get(), view);
    } catch (const ProxyError&) {  // nobody is told how it ended, and its write is unknown
    }
  };
  forget_old(home, kKeep, call.now_ms());
  begin_record(home, id, call.now_ms());
  try {
    supervisor_.start(homes_.of(agent), std::move(order));
  } catch (const ProxyError&) {
    drop_record(home, id);
    throw;
  }
  if (background) {
    if (const auto view = supervisor_.find(agent, id)) return json_of(*view, {0, 0, kInResult});
  }
  return await_result(call, home, id);
}

std::string ProcessAdapter::await_result(const kruxos::Call& call, const workspace::Home& home, const std::string& id) {
  const std::string agent(call.agent());
  while (!supervisor_.await_end(agent, id, kWaitMs)) {
    if (!call.cancelled()) continue;
    supervisor_.kill(agent, id);
    throw ProxyError(ErrorKind::kCancelled, "The program was ended: the time for this call was over.");
  }
  const auto view = ended(home, id);
  if (!view) throw ProxyError(ErrorKind::kStorage, "The program has ended, and how could not be kept.");
  return json_of(*view, {0, 0, kInResult});
}

std::string ProcessAdapter::kill(const kruxos::Call& call, const kruxos::BufferedWrite& write) {
  const auto home = homes_.of(call.agent());
  const std::string agent(call.agent());
  const auto id = id_in(kruxos::kit::parse(write.params_json));
  if (id.empty() || id.find('/') != std::string::npos) throw no_such_process();
  if (supervisor_.kill(agent, id)) {
    if (!supervisor_.await_end(agent, id, kKillMs))
      throw ProxyError(ErrorKind::kTimeout, "The program has not ended yet.");
  } else if (!was_begun(home, id)) {
    throw no_such_process();
  }
  return killed(id);
}

EffectFound ProcessAdapter::find_effect(const kruxos::Call& call, const kruxos::BufferedWrite& write) {
  const auto home = homes_.of(call.agent());
  const std::string agent(call.agent());
  if (write.operation == "process.kill") {
    const auto id = id_in(kruxos::kit::parse(write.params_json));
    return supervisor_.find(agent, id) ? EffectFound::disproved() : EffectFound::found(killed(id));
  }
  const std::string id(write.write_id);
  if (const auto view = supervisor_.find(agent, id)) return EffectFound::found(json_of(*view, {0, 0, kInResult}));
  if (const auto view = ended(home, id)) return EffectFound::found(json_of(*view, {0, 0, kInResult}));
  if (was_begun(home, id))
    return EffectFound::cannot_tell(
        "The host ended while the program ran, and the program with it, or its record is no longer kept: look at the "
        "workspace what it has done.");
  if (write.created_at_ms > 0 && call.now_ms() - write.created_at_ms > kKeepMs)
    return EffectFound::cannot_tell("What was kept of programs of that time has been taken away.");
  return write.attempt == 0 ? EffectFound::absent() : EffectFound::disproved();
}

}  // namespace process
