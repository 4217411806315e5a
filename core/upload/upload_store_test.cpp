#include "core/upload/upload_store.hpp"

#include <catch2/catch.hpp>
#include <fstream>

#include "core/adapter/call.hpp"
#include "core/util/error.hpp"
#include "core/util/ids.hpp"
#include "core/util/text.hpp"
#include "core/write/ledger_fixture.hpp"

namespace KRUXOS_TEST_FILE {

using namespace write_test;
namespace fs = std::filesystem;

namespace {

struct Desk : LedgerFixture {
  fs::path directory = scratch.path() / "uploads";
  UploadLimits limits{1000, 2500, 3'600'000};
  std::unique_ptr<UploadStore> uploads;

  Desk() {
    fs::create_directory(directory);
    open();
  }
  void open() { uploads = std::make_unique<UploadStore>(store, clock, directory, limits); }
  fs::path arrive(const std::string& bytes) const {
    auto file = uploads->arriving_file();
    std::ofstream(file) << bytes;
    return file;
  }
  Upload add(const std::string& bytes, const std::string& name = "a.txt", const std::string& agent = "agent_1") {
    return uploads->add(agent, name, "text/plain", arrive(bytes));
  }
  std::string refused(const std::string& bytes, const std::string& name = "a.txt",
                      const std::string& type = "text/plain") {
    try {
      uploads->add("agent_1", name, type, arrive(bytes));
    } catch (const Error& e) {
      CHECK(e.type() == ErrorCode::kInvalidInput);
      return e.what();
    }
    return {};
  }
  std::string missing(const std::string& agent, const std::string& id) {
    try {
      uploads->get(agent, id);
    } catch (const Error& e) {
      return e.what();
    }
    return {};
  }
  std::size_t files() const { return static_cast<std::size_t>(std::distance(fs::directory_iterator(directory), {})); }
  /// A write that names the upload, and a call of it.
  Submitted write_with(const Upload& upload) {
    auto write = new_write("carries");
    write.params_json = R"({"files":[{"upload_id":")" + upload.upload_id + "\"}]}";
    return submit(write);
  }
  CallContext call_of(const std::string& write_id) {
    return {CallOwner{"notes", "N1", 1, write_id, 1}, clock, clock.boot_ms() + 60'000};
  }
  std::string read(const CallContext& call, const std::string& id, std::uint64_t offset, std::size_t size) {
    std::string out(size, '?');
    out.resize(uploads->read(call, id, offset, out.data(), size));
    return out;
  }
};

}  // namespace

TEST_CASE("an upload is described, belongs to its agent, and outlives the host") {
  Desk d;
  const auto upload = d.add("hello");
  CHECK(is_id("up_", upload.upload_id));
  CHECK(upload.size == 5);
  CHECK(upload.sha256 == sha256_hex("hello"));
  CHECK(upload.expires_at_ms == d.clock.wall_ms() + 3'600'000);
  CHECK(d.missing("agent_1", upload.upload_id).empty());
  CHECK_THAT(d.missing("agent_2", upload.upload_id), Catch::Contains("no upload"));
  CHECK_THAT(d.missing("agent_1", "up_nonsense'"), Catch::Contains("no upload"));
  d.open();
  CHECK(d.uploads->get("agent_1", upload.upload_id).filename == "a.txt");
  CHECK(d.uploads->add("agent_1", "b", "", d.arrive("x")).mime_type == "application/octet-stream");
}

TEST_CASE("the same bytes under the same name are one upload with a new time") {
  Desk d;
  const auto first = d.add("hello");
  d.clock.advance(1'000'000);
  const auto again = d.add("hello");
  CHECK(again.upload_id == first.upload_id);
  CHECK(again.expires_at_ms == first.expires_at_ms + 1'000'000);
  CHECK(d.add("hello", "b.txt").upload_id != first.upload_id);
  CHECK(d.add("hello", "a.txt", "agent_2").upload_id != first.upload_id);
  CHECK(d.add("hullo").upload_id != first.upload_id);
  CHECK(d.files() == 4);
  fs::remove(d.directory / first.upload_id);  // somebody's doing; the bytes are the same
  d.add("hello");
  CHECK(fs::exists(d.directory / first.upload_id));
}

TEST_CASE("names, types and sizes that cannot be are refused, and nothing is left") {
  Desk d;
  for (const auto* name : {"", ".", "..", "a/b", "a\\b", "a\nb", "\xff"}) {
    INFO(printable(name));
    CHECK_THAT(d.refused("x", name), Catch::Contains("no name for an upload"));
  }
  CHECK_FALSE(d.refused("x", std::string(256, 'n')).empty());
  CHECK(d.refused("x", std::string(255, 'n')).empty());
  for (const auto* type : {"text", "text/", "/plain", "text/plain; charset=utf-8", "a b/c", "text/pl\nain"})
    CHECK_THAT(d.refused("x", "a", type), Catch::Contains("Content-Type"));
  CHECK_THAT(d.refused(std::string(1001, 'x')), Catch::Contains("at most 1000 bytes"));
  CHECK(d.files() == 1);
  d.add(std::string(1000, 'x'));
  d.add(std::string(1000, 'y'));
  CHECK_THAT(d.refused(std::string(500, 'z')), Catch::Contains("2500 bytes"));
  CHECK(d.add(std::string(1000, 'z'), "a", "agent_2").size == 1000);  // another agent's room
  CHECK(d.add(std::string(1000, 'x')).size == 1000);                  // is there already
}

TEST_CASE("an agent keeps so many uploads, however small") {
  Desk d;
  d.limits.agent_count = 3;
  d.open();
  for (const auto* name : {"1", "2", "3"}) d.add("", name);
  CHECK_THAT(d.refused("", "4"), Catch::Contains("more than 3. They go 1 hours after"));
  CHECK(d.files() == 3);
  CHECK(d.add("", "2").size == 0);  // is there already
  CHECK(d.add("", "4", "agent_2").size == 0);
  d.clock.advance(2 * 3'600'001);
  CHECK(d.add("", "4").size == 0);
}

TEST_CASE("what an agent may still send is what its uploads leave") {
  Desk d;
  CHECK(d.uploads->room_of("agent_1") == 2500);
  d.add(std::string(700, 'x'));
  CHECK(d.uploads->room_of("agent_1") == 1800);
  CHECK(d.uploads->room_of("agent_2") == 2500);
  d.limits.agent_bytes = 600;
  d.open();
  CHECK(d.uploads->room_of("agent_1") == 0);
}

TEST_CASE("an upload goes when its time is over, unless a write that waits names it") {
  Desk d;
  const auto named = d.add("named"), unused = d.add("unused");
  const auto write = d.write_with(named).write;
  d.clock.advance(3'600'001);
  CHECK_THAT(d.missing("agent_1", unused.upload_id), Catch::Contains("expired"));
  CHECK(fs::exists(d.directory / unused.upload_id));  // a write that was just being submitted may still need it
  d.clock.advance(3'600'000);
  d.add("another");
  CHECK_FALSE(fs::exists(d.directory / unused.upload_id));
  CHECK(fs::exists(d.directory / named.upload_id));
  CHECK(d.read(d.call_of(write.write_id), named.upload_id, 0, 100) == "named");
  d.cancel(write.write_id, "agent_1");
  d.clock.advance(600'000);
  d.add("one more");
  CHECK_FALSE(fs::exists(d.directory / named.upload_id));
}

TEST_CASE("only the write whose parameters name an upload reads it") {
  Desk d;
  const auto mine = d.add("0123456789"), other = d.add("other", "b");
  const auto write = d.write_with(mine).write.write_id;
  const auto call = d.call_of(write);
  CHECK(d.read(call, mine.upload_id, 0, 4) == "0123");
  CHECK(d.read(call, mine.upload_id, 8, 4) == "89");
  CHECK(d.read(call, mine.upload_id, 10, 4).empty());
  CHECK(d.read(call, mine.upload_id, 1u << 30, 4).empty());
  CHECK_THROWS_WITH(d.read(call, other.upload_id, 0, 4), Catch::Contains("by the write whose parameters name them"));
  CHECK_THROWS_AS(d.read(call, "../kruxos.db", 0, 4), Error);
  CHECK_THROWS_AS(d.read(d.call_of(""), mine.upload_id, 0, 4), Error);
  CHECK_THROWS_AS(d.read(d.call_of(make_id("w_", 1)), mine.upload_id, 0, 4), Error);
  fs::remove(d.directory / mine.upload_id);
  CHECK_THROWS_WITH(d.read(call, mine.upload_id, 0, 4), Catch::Contains("No such file"));
}

TEST_CASE("what a kill leaves half done goes at the next start") {
  Desk d;
  const auto kept = d.add("kept");
  d.arrive("half");
  std::ofstream(d.directory / make_id("up_", d.clock.wall_ms())) << "renamed, but not in the ledger";
  CHECK(d.files() == 3);
  d.open();
  CHECK(d.files() == 1);
  CHECK(d.missing("agent_1", kept.upload_id).empty());
}

}  // namespace KRUXOS_TEST_FILE
