#include "records.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <kruxos/kit/json.hpp>
#include <kruxos/kit/text.hpp>
#include <kruxos/kit/time.hpp>

#include <algorithm>
#include <cerrno>

#include "workspace/failure.hpp"
#include "workspace/tree.hpp"

namespace process {
namespace {

constexpr std::size_t kMostRecords = 10'000;
constexpr const char *kBegun = ".begun", *kEnded = ".json", *kOut = ".out", *kErrors = ".err";

std::string all_of(int directory, const std::string& name) {
  const workspace::Descriptor file(openat(directory, name.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  struct stat found {};
  if (!file || fstat(file.get(), &found) != 0 || !S_ISREG(found.st_mode)) return {};
  std::string bytes(static_cast<std::size_t>(found.st_size), '\0');
  const auto got = pread(file.get(), bytes.data(), bytes.size(), 0);
  bytes.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  return bytes;
}

std::optional<View> read_meta(const workspace::Home& home, const std::string& id) {
  const auto json = kruxos::kit::parse(workspace::small_file(home.processes.get(), id + kEnded));
  if (json.HasParseError() || !json.IsObject()) return std::nullopt;
  using kruxos::kit::integer_of;
  View view;
  view.id = id;
  view.command = kruxos::kit::text_of(json, "command");
  view.running = false;
  view.ended = kruxos::kit::text_of(json, "ended");
  view.exit_code = static_cast<int>(integer_of(json, "exit_code"));
  view.started_at_ms = integer_of(json, "started_at_ms");
  view.seconds = integer_of(json, "seconds");
  return view;
}

/// The ids of those that have ended, the oldest first: they begin with the time.
std::vector<std::string> ended_ids(const workspace::Home& home) {
  std::vector<std::string> ids;
  for (const auto& name : workspace::names_in(home.processes.get(), 4 * kMostRecords, [] {}).names) {
    if (name.ends_with(kEnded)) ids.push_back(name.substr(0, name.size() - std::string_view(kEnded).size()));
  }
  return ids;
}

void put_members(kruxos::kit::ObjectWriter& out, const View& view) {
  out.text("process_id", view.id)
      .text("command", view.command)
      .text("state", view.running ? "running" : "ended")
      .text("started_at", kruxos::kit::format_rfc3339(view.started_at_ms))
      .integer("seconds", view.seconds);
  if (!view.running) out.text("ended", view.ended).integer("exit_code", view.exit_code);
}

/// Where the next page begins.
std::size_t put_stream(kruxos::kit::ObjectWriter& out, const char* name, const std::string& said, std::size_t from,
                       std::size_t most) {
  auto page = said.substr(std::min(from, said.size()));
  kruxos::kit::cut_text(page, most);
  out.text(name, kruxos::kit::with_nuls_shown(kruxos::kit::clean_text(page)));
  return std::min(from, said.size()) + page.size();
}

}  // namespace

void begin_record(const workspace::Home& home, const std::string& id) {
  workspace::put_file(home.processes.get(), id + kBegun, "", 0600);
  workspace::sync_directory(home.processes.get());
}

void drop_record(const workspace::Home& home, const std::string& id) {
  for (const char* what : {kBegun, kEnded, kOut, kErrors}) workspace::remove_tree(home.processes.get(), id + what);
}

bool was_begun(const workspace::Home& home, const std::string& id) {
  struct stat found {};
  return fstatat(home.processes.get(), (id + kBegun).c_str(), &found, AT_SYMLINK_NOFOLLOW) == 0;
}

void end_record(int directory, const View& view) {
  const auto meta = kruxos::kit::ObjectWriter()
                        .text("command", view.command)
                        .text("ended", view.ended)
                        .integer("exit_code", view.exit_code)
                        .integer("started_at_ms", view.started_at_ms)
                        .integer("seconds", view.seconds)
                        .done();
  workspace::put_file(directory, view.id + kOut, view.out, 0600);
  workspace::put_file(directory, view.id + kErrors, view.errors, 0600);
  workspace::put_file(directory, view.id + ".new", meta, 0600);
  if (renameat(directory, (view.id + ".new").c_str(), directory, (view.id + kEnded).c_str()) != 0)
    throw workspace::failure_of(errno, workspace::kRoot, "written");
  workspace::sync_directory(directory);
}

std::optional<View> ended(const workspace::Home& home, const std::string& id) {
  if (id.find('/') != std::string::npos) return std::nullopt;
  auto view = read_meta(home, id);
  if (!view) return view;
  view->out = all_of(home.processes.get(), id + kOut);
  view->errors = all_of(home.processes.get(), id + kErrors);
  return view;
}

std::vector<View> last_ended(const workspace::Home& home, std::size_t most) {
  std::vector<View> views;
  auto ids = ended_ids(home);
  for (; !ids.empty() && views.size() < most; ids.pop_back()) {
    if (auto view = read_meta(home, ids.back())) views.push_back(*std::move(view));
  }
  return views;
}

void forget_old(const workspace::Home& home, std::size_t keep) {
  const auto ids = ended_ids(home);
  for (std::size_t i = 0; i + keep < ids.size(); ++i) drop_record(home, ids[i]);
}

std::string json_of(const View& view, const Page& page) {
  kruxos::kit::ObjectWriter out;
  put_members(out, view);
  const auto next_out = put_stream(out, "stdout", view.out, page.out_from, page.most);
  const auto next_errors = put_stream(out, "stderr", view.errors, page.errors_from, page.most);
  if (next_out < view.out.size()) out.integer("next_stdout_offset", static_cast<std::int64_t>(next_out));
  if (next_errors < view.errors.size()) out.integer("next_stderr_offset", static_cast<std::int64_t>(next_errors));
  return out.done();
}

std::string short_json_of(const View& view) {
  kruxos::kit::ObjectWriter out;
  put_members(out, view);
  return out.done();
}

}  // namespace process
