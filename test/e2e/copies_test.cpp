// A data directory that is copied while its host goes on, backed up and restored: what its original has sent is never
// sent a second time.
#include <filesystem>
#include <fstream>

#include "kill_rig.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux::test;

namespace {

namespace fs = std::filesystem;

std::string finding(HostRig& rig, const std::string& id) {
  return text_at(rig.write(id), "/write/evidence/finding");
}

bool is_held(HostRig& rig, const std::string& id) {
  return bool_at(rig.write(id), "/write/held_as_copy");
}

std::int64_t held_writes(HostRig& rig) {
  return number_at(rig.operate({"status"}), "/writes/held_as_copy");
}

void copy_directory(const fs::path& from, const fs::path& to) {
  const auto done = run({.argv = {"cp", "-a", from.string(), to.string()}});
  INFO(done.err);
  REQUIRE(done.status.ok());
}

/// The data directory becomes the one of that name; what it was goes to `aside`. Both stay the files that they are.
void change_places(HostRig& rig, const std::string& name, const std::string& aside) {
  fs::rename(rig.data(), rig.path(aside));
  fs::rename(rig.path(name), rig.data());
}

std::string file_text(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string unhex(const std::string& hex) {
  std::string bytes;
  for (std::size_t at = 0; at + 2 <= hex.size(); at += 2)
    bytes += static_cast<char>(std::stoi(hex.substr(at, 2), nullptr, 16));
  return bytes;
}

/// How many files there are below `directory`, and how many of them have `bytes` in them.
std::pair<int, int> files_with(const fs::path& directory, const std::string& bytes) {
  int all = 0, with = 0;
  for (const auto& entry : fs::recursive_directory_iterator(directory)) {
    if (!entry.is_regular_file()) continue;
    ++all;
    with += file_text(entry.path()).find(bytes) != std::string::npos;
  }
  return {all, with};
}

}  // namespace

TEST_CASE("what the original has sent, a copy that is started later does not send again") {
  Rig rig;
  rig.begin();
  const auto id = rig.send(kPosted).write_id();
  REQUIRE_FALSE(id.empty());
  copy_directory(rig.data(), rig.path("copy"));
  REQUIRE(rig.pass_time([&] { return rig.state(id) == "completed"; }));
  REQUIRE(rig.posts_of(kPosted) == 1);
  REQUIRE(rig.stop().ok());

  change_places(rig, "copy", "original");
  rig.start();
  CHECK(is_held(rig, id));
  CHECK(rig.state(id) == "buffered");
  CHECK(held_writes(rig) == 1);
  CHECK(text_at(rig.operate({"status"}), "/status") == "degraded");
  CHECK(text_at(rig.operate({"alerts"}), "/alerts/0/kind") == "held_as_copy");
  CHECK(rig.invoke("proxy.cancel_write", R"({"write_id":")" + id + "\"}").error() == "CannotCancel");
  REQUIRE(rig.pass_time([&] { return finding(rig, id) == "found"; }));
  CHECK_FALSE(text_at(rig.write(id), "/write/evidence/result/ts").empty());
  CHECK_THAT(rig.kruxos({"held", "list"}).out, Catch::Contains("found: it was sent"));
  nothing_follows(rig, 1);
  // Released, it would be sent again: all that are released are those that were not found.
  CHECK(rig.kruxos({"held", "release", "--all", "--yes"}).status.ok());
  CHECK(is_held(rig, id));
  CHECK(rig.kruxos({"held", "complete", "--all", "--yes"}).status.ok());
  CHECK(rig.state(id) == "completed");
  CHECK(held_writes(rig) == 0);
  // The signed heads outside are those of the original, whose audit log went on.
  const auto alerts = rig.operate({"alerts"});
  CHECK(size_at(alerts, "/alerts") == 1);
  CHECK(text_at(alerts, "/alerts/0/kind") == "audit_broken");
  nothing_follows(rig, 1);
  rig.check_contract();
}

TEST_CASE("released at once after a restore, what the original has sent is found first, and only the rest goes out") {
  Rig rig;
  rig.begin();
  const auto sent = rig.send(kPosted).write_id();
  rig.advance(20'000);
  const auto waits = rig.send("never sent", "random").write_id();
  REQUIRE(rig.kruxos({"backup", rig.path("monday").string(), "--with-key", rig.path("key").string()}).status.ok());
  REQUIRE(rig.pass_time([&] { return rig.state(sent) == "completed"; }));
  REQUIRE(rig.posts_of(kPosted) == 1);
  REQUIRE(rig.posts_of("never sent") == 0);
  REQUIRE(rig.stop().ok());
  fs::rename(rig.data(), rig.path("original"));
  REQUIRE(rig.kruxos({"restore", rig.path("monday").string()}).status.ok());

  rig.start();
  CHECK(finding(rig, sent) == "not_looked_yet");
  const auto released = rig.kruxos({"held", "release", "--all", "--yes"});
  CHECK(released.status.ok());
  CHECK_THAT(released.out, Catch::Contains("Write " + sent + " goes out as soon as a look has not found it."));
  REQUIRE(rig.pass_time([&] { return finding(rig, sent) == "found" && rig.state(waits) == "completed"; }));
  CHECK(is_held(rig, sent));
  CHECK(held_writes(rig) == 1);
  CHECK(rig.posts_of("never sent") == 1);
  const auto again = rig.kruxos({"held", "release", "--all", "--yes"});
  CHECK(again.status.ok());
  CHECK_THAT(again.err, Catch::Contains("1 found (kruxos held complete)"));
  CHECK(rig.kruxos({"held", "complete", "--all", "--yes"}).status.ok());
  CHECK(rig.state(sent) == "completed");
  nothing_follows(rig, 1);
}

TEST_CASE("what the original has not sent goes out of the copy once it is released, and never out of both") {
  Rig rig;
  rig.begin();
  const auto id = rig.send(kPosted).write_id();
  REQUIRE(rig.stop().ok());
  copy_directory(rig.data(), rig.path("copy"));

  change_places(rig, "copy", "original");
  rig.start();
  REQUIRE(rig.pass_time([&] { return finding(rig, id) == "absent"; }));
  CHECK(rig.posts_of(kPosted) == 0);
  REQUIRE(rig.stop().ok());
  rig.start();
  CHECK(is_held(rig, id));
  const auto released = rig.operate({"held", "release", id, "--yes"});
  CHECK(text_at(released, "/results/0/state") == "buffered");
  REQUIRE(rig.pass_time([&] { return rig.state(id) == "completed"; }));
  CHECK(rig.posts_of(kPosted) == 1);
  REQUIRE(rig.stop().ok());

  // Now the original is the one that is behind.
  change_places(rig, "original", "copy");
  rig.start();
  CHECK(is_held(rig, id));
  REQUIRE(rig.pass_time([&] { return finding(rig, id) == "found"; }));
  CHECK(rig.kruxos({"held", "discard", id, "--yes"}).status.ok());
  CHECK(rig.state(id) == "discarded");
  nothing_follows(rig, 1);
}

TEST_CASE("a copy that nothing shows to be one looks before it sends what was due") {
  Rig rig;
  rig.begin();
  const auto id = rig.send(kPosted).write_id();
  // As a machine's snapshot has it: every file with its inode, and the counter outside.
  copy_directory(rig.data() / "kruxos.db", rig.path("ledger"));
  copy_directory(rig.data() / "kruxos.db-wal", rig.path("ledger-wal"));
  copy_directory(rig.path("home"), rig.path("home-then"));
  REQUIRE(rig.pass_time([&] { return rig.state(id) == "completed"; }));
  rig.host().signal(SIGKILL);
  rig.await_end();
  const auto put_back = [&](const fs::path& to, const std::string& from) {
    std::ofstream(to, std::ios::binary | std::ios::trunc) << std::ifstream(rig.path(from), std::ios::binary).rdbuf();
  };
  fs::remove(rig.data() / "kruxos.db-shm");
  put_back(rig.data() / "kruxos.db", "ledger");
  put_back(rig.data() / "kruxos.db-wal", "ledger-wal");
  fs::remove_all(rig.path("home"));
  fs::rename(rig.path("home-then"), rig.path("home"));
  rig.start();
  CHECK_FALSE(is_held(rig, id));
  REQUIRE(rig.pass_time([&] { return rig.state(id) == "completed"; }));
  CHECK(number_at(rig.write(id), "/write/attempts") == 0);
  nothing_follows(rig, 1);
}

TEST_CASE("started with --held, the host holds what waits in any data directory") {
  Rig rig;
  rig.begin();
  const auto id = rig.send(kPosted).write_id();
  REQUIRE(rig.stop().ok());
  rig.set_launcher({"sh", "-c", "exec \"$@\" --held", "sh"});
  rig.start();
  CHECK(is_held(rig, id));
  REQUIRE(rig.stop().ok());
  rig.set_launcher({});
  rig.start();
  CHECK(is_held(rig, id));
  nothing_follows(rig, 0);
}

TEST_CASE("a backup under load is whole, and what is restored from it starts held") {
  Rig rig;
  rig.begin();
  std::vector<std::string> ids;
  const auto load = [&](int i) {
    return rig.send("load " + std::to_string(i), i % 2 ? "general" : "random").write_id();
  };
  for (int i = 0; i < 8; ++i) ids.push_back(load(i));
  auto backup = rig.launch_kruxos({"backup", rig.path("monday").string(), "--with-key", rig.path("key").string()});
  for (int i = 8; i < 16; ++i) ids.push_back(load(i));
  const auto code = backup->wait(std::chrono::milliseconds(30000));
  INFO(backup->output(Stream::err));
  REQUIRE((code && code->ok()));
  CHECK_THAT(backup->output(Stream::out), Catch::Contains("Every database in it was checked"));
  const auto key = file_text(rig.path("keys/vault.key")).substr(0, 64);
  REQUIRE(unhex(key).size() == 32);
  CHECK(file_text(rig.path("key")).substr(0, 64) == key);
  for (const auto& bytes : {key, unhex(key)}) {
    const auto [files, with_key] = files_with(rig.path("monday"), bytes);
    CHECK(files >= 3);
    CHECK(with_key == 0);
  }
  CHECK(rig.kruxos({"backup", rig.path("monday").string()}).status.code == 5);
  fs::create_directory_symlink(rig.data(), rig.path("link"));
  const auto beside = rig.path("link/vault.key").string();
  CHECK_FALSE(rig.kruxos({"backup", rig.path("tuesday").string(), "--with-key", beside}).status.ok());
  CHECK_FALSE(fs::exists(beside));
  CHECK(rig.kruxos({"restore", rig.path("monday").string()}).status.code == 5);  // the host runs
  REQUIRE(rig.pass_time([&] { return rig.state(ids.back()) == "completed"; }));
  REQUIRE(rig.stop().ok());

  fs::rename(rig.data(), rig.path("original"));
  fs::remove(rig.path("keys/vault.key"));
  fs::rename(rig.path("key"), rig.path("keys/vault.key"));
  const auto restored = rig.kruxos({"restore", rig.path("monday").string()});
  INFO(restored.err);
  REQUIRE(restored.status.ok());
  rig.start();
  const auto held = held_writes(rig);
  CHECK(held >= 8);
  CHECK(held <= 16);
  REQUIRE(rig.pass_time([&] { return finding(rig, ids.front()) == "found"; }));
  for (int i = 0; i < 4; ++i) rig.advance(15 * 60'000);
  for (int i = 0; i < 16; ++i) CHECK(rig.posts_of("load " + std::to_string(i)) == 1);
}

}  // namespace KRUXOS_TEST_FILE
