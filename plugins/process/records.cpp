#include "records.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <kruxos/kit/json.hpp>
#include <kruxos/kit/text.hpp>
#include <kruxos/kit/time.hpp>

#include <algorithm>
#include <array>
#include <ctime>

#include "workspace/tree.hpp"

namespace process {
namespace {

constexpr std::size_t kMostNames = 1'000'000;
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

/// The ids of which there is such a file, the oldest first: they begin with the time.
std::vector<std::string> ids_with(const workspace::Home& home, std::string_view what) {
  std::vector<std::string> ids;
  for (const auto& name : workspace::names_in(home.processes.get(), kMostNames, [] {}).names) {
    if (name.ends_with(what)) ids.push_back(name.substr(0, name.size() - what.size()));
  }
  return ids;
}

/// The time of its beginning is that of its file.
bool was_begun_before(const workspace::Home& home, const std::string& id, std::int64_t ms) {
  struct stat found {};
  return fstatat(home.processes.get(), (id + kBegun).c_str(), &found, AT_SYMLINK_NOFOLLOW) == 0 &&
         found.st_mtim.tv_sec * 1000LL < ms;
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

void begin_record(const workspace::Home& home, const std::string& id, std::int64_t now_ms) {
  workspace::put_file(home.processes.get(), id + kBegun, "", 0600);
  const std::array<timespec, 2> times{timespec{now_ms / 1000, 0}, timespec{now_ms / 1000, 0}};
  (void)utimensat(home.processes.get(), (id + kBegun).c_str(), times.data(), AT_SYMLINK_NOFOLLOW);
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
  workspace::put_durably(directory, view.id + kEnded, meta);
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
  auto ids = ids_with(home, kEnded);
  for (; !ids.empty() && views.size() < most; ids.pop_back()) {
    if (auto view = read_meta(home, ids.back())) views.push_back(*std::move(view));
  }
  return views;
}

void forget_old(const workspace::Home& home, std::size_t keep, std::int64_t now_ms) {
  auto ids = ids_with(home, kEnded);
  ids.resize(ids.size() - std::min(keep, ids.size()));
  for (const auto& id : ids) {
    for (const char* what : {kEnded, kOut, kErrors}) workspace::remove_tree(home.processes.get(), id + what);
  }
  // That it was begun outlives the rest, or it could be begun again; of those that a killed host has cut off too.
  for (const auto& id : ids_with(home, kBegun)) {
    if (was_begun_before(home, id, now_ms - kKeepMs) && !read_meta(home, id)) drop_record(home, id);
  }
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
