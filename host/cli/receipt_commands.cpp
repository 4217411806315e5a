// Receipts of decisions: what the audit log says of a write, signed, and checked without a host.
#include <fmt/format.h>

#include <fstream>
#include <ostream>

#include "core/audit/decision_receipt.hpp"
#include "core/util/checked_file.hpp"
#include "core/util/text.hpp"
#include "core/util/write_file.hpp"
#include "host/cli/audit_row.hpp"
#include "host/cli/commands.hpp"
#include "host/cli/ids.hpp"
#include "host/http/http_types.hpp"

namespace krux::cli {
namespace {

constexpr std::uintmax_t kLargestReceipt = 64 << 20;

std::string read_file(const std::string& file) {
  auto read = read_checked_file(file, kLargestReceipt, FileWriters::kAnybody);
  if (!read.problem.empty()) throw CliError(kFailed, fmt::format("{}: {}", printable(file), read.problem));
  return std::move(read.bytes);
}

std::string in_words(const AuditRow& row) {
  const auto body = parse_json(row.body, "the row", {1 << 20, 16});
  const auto words = audit_body_in_words(body), hash = text(body, "content_hash");
  return words.empty() || hash.empty() ? words + hash : words + ", " + hash;
}

}  // namespace

int get_receipt(const Session& session, const ReceiptArguments& arguments) {
  const auto answer = session.host.get("/v1/audit/receipts/" + url_encode(whole_write_id(session, arguments.write)));
  if (arguments.file.empty()) {
    session.console.out() << answer.text << "\n";
    return kOk;
  }
  write_file_atomically(arguments.file, answer.text + "\n");
  session.console.out() << "The receipt is in " << printable(arguments.file) << ".\n";
  return kOk;
}

int verify_receipt(const Session& session, const ReceiptArguments& arguments) {
  const auto receipt = check_decision_receipt(read_file(arguments.file));
  auto& out = session.console.out();
  for (const auto& problem : receipt.problems) out << "The receipt proves nothing: " << printable(problem) << "\n";
  if (!receipt.problems.empty()) return kFailed;
  if (!arguments.key.empty() && arguments.key != receipt.key) {
    out << fmt::format("The receipt is signed by {}, and not by {}.\n", printable(receipt.key),
                       printable(arguments.key));
    return kFailed;
  }
  Table table({{"ROW", true}, {"TIME"}, {"KIND"}, {"WHAT", false, true}});
  for (const auto& row : receipt.rows)
    table.add({std::to_string(row.seq), format_time(row.at_ms), row.kind, in_words(row)});
  table.print(session.console);
  for (const auto& gap : receipt.gaps) out << gap << "\n";
  out << fmt::format("Write {}, log {}, {}: as the key {} has signed it.\n", printable(receipt.write_id),
                     printable(receipt.log_id), format_time(receipt.made_at_ms), printable(receipt.key));
  if (arguments.key.empty())
    session.console.err() << "Whose key that is you know by comparing it: kruxos audit key, at the host; --key here.\n";
  return kOk;
}

int show_audit_key(const Session& session) {
  const auto answer = session.host.get("/v1/audit?limit=1");
  const auto key = text(answer.json, "key");
  if (key.empty()) throw CliError(kFailed, "The audit log is not signed.");
  session.console.out() << printable(key) << "\n";
  return kOk;
}

int rotate_audit_key(const Session& session, bool yes) {
  if (!session.confirm("The audit log and receipts are signed by another key from now on. Go on?", yes)) return kFailed;
  const auto answer = session.host.post("/v1/audit/rotate-key");
  if (session.printed(answer)) return kOk;
  session.console.out() << printable(text(answer.json, "key")) << "\n";
  return kOk;
}

}  // namespace krux::cli
