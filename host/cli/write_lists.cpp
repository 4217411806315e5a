// Writes that are held as a copy, and those in the dead letter queue.
#include <fmt/format.h>

#include <ostream>

#include "host/cli/commands.hpp"
#include "host/cli/known_names.hpp"
#include "host/cli/write_output.hpp"
#include "host/cli/write_pages.hpp"
#include "host/http/http_types.hpp"

namespace krux::cli {

int list_held(const Session& session, const std::string& service) {
  JsonDocument writes(rapidjson::kArrayType);
  const bool whole =
      all_writes(session.host, "held=1" + (service.empty() ? "" : "&service=" + url_encode(service)), writes);
  if (writes.Empty()) must_narrow_to_something(session, service);
  if (session.json) {
    session.console.out() << "{\"writes\":" << to_json(writes) << "}\n";
    return whole ? kOk : tell_of_older(session);
  }
  if (writes.Empty()) {
    session.console.out() << "No write is held as a copy.\n";
    return kOk;
  }
  session.console.out()
      << "This data directory may be a copy of one that went on, and its original may have sent these. Complete what "
         "was found (kruxos held complete), then release or discard the rest (kruxos held release|discard).\n";
  Table table(
      {id_column("ID"), {"AGENT"}, {"OPERATION"}, {"CONTENT", false, true}, {"STATE"}, {"ACCEPTED"}, {"EFFECT"}});
  for (const auto& write : writes.GetArray())
    table.add({text(write, "write_id"), text(write, "agent"), text(write, "operation"), text(write, "summary"),
               text(write, "state"), relative(number(write, "created_at_ms"), session.now_ms), finding_of(write)});
  table.print(session.console);
  return whole ? kOk : tell_of_older(session);
}

int list_dead_letters(const Session& session, const std::string& service) {
  JsonDocument writes(rapidjson::kArrayType);
  const auto query = "state=dead_letter" + (service.empty() ? "" : "&service=" + url_encode(service));
  const bool whole = all_writes(session.host, query, writes);
  if (writes.Empty()) must_narrow_to_something(session, service);
  if (session.json) {
    session.console.out() << "{\"writes\":" << to_json(writes) << "}\n";
    return whole ? kOk : tell_of_older(session);
  }
  if (writes.Empty()) {
    session.console.out() << "No write is in the dead letter queue.\n";
    return kOk;
  }
  session.console.out() << "The last attempt of these did not happen. Those with a time are tried again by themselves; "
                           "the others wait for you (kruxos dlq retry|discard ID).\n";
  Table table({id_column("ID"),
               {"AGENT"},
               {"OPERATION"},
               {"CONTENT", false, true},
               {"TRIES", true},
               {"NEXT"},
               {"WHY", false, true}});
  for (const auto& write : writes.GetArray()) {
    const auto& error = part(write, "error");
    table.add({text(write, "write_id"), text(write, "agent"), text(write, "operation"), text(write, "summary"),
               std::to_string(number(write, "attempts")),
               flag(write, "needs_operator") ? "waits for you" : relative(number(write, "due_at_ms"), session.now_ms),
               fmt::format("{}{}: {}", flag(write, "irrevocable") ? "an earlier attempt may have had its effect; " : "",
                           text(error, "type"), text(error, "message"))});
  }
  table.print(session.console);
  return whole ? kOk : tell_of_older(session);
}

}  // namespace krux::cli
