#include "core/capability/upload_inputs.hpp"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "core/capability/handler_test_support.hpp"
#include "core/upload/upload_store.hpp"
#include "core/util/text.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;

namespace {

CapabilityDefinition sending() {
  CapabilityDefinition capability;
  capability.name = "mail.send";
  capability.kind = CapabilityKind::kWrite;
  InputDefinition files, tags;
  files.name = "files";
  files.type = InputType::kArray;
  files.uploads = true;
  tags.name = "tags";
  tags.type = InputType::kArray;
  capability.inputs = {files, tags};
  return capability;
}

struct Fixture {
  support::Scratch scratch;
  DrivenClock clock;
  GroupCommit store{scratch.path() / "kruxos.db", kLedgerKind};
  std::filesystem::path directory = scratch.path() / "uploads";
  std::unique_ptr<UploadStore> uploads;
  std::string id;
  CapabilityDefinition capability = sending();

  Fixture() {
    std::filesystem::create_directory(directory);
    uploads = std::make_unique<UploadStore>(store, clock, directory);
    const auto file = uploads->arriving_file();
    std::ofstream(file) << "hello";
    id = uploads->add("agent_1", "a.txt", "text/plain", file).upload_id;
  }
  std::string bound(const std::string& arguments, const std::string& agent = "agent_1",
                    const std::string& before = {}) {
    auto checked = check_arguments(capability, arguments);
    const auto old = parse_json(before.empty() ? "{}" : before, "before");
    try {
      bind_uploads(uploads.get(), capability, agent, checked, before.empty() ? nullptr : &old);
    } catch (const Error& e) {
      CHECK(e.type() == ErrorCode::kInvalidInput);
      return e.what();
    }
    return checked.params_json;
  }
  std::string described(const std::string& name = "a.txt") const {
    return R"({"files":[{"filename":")" + name + R"(","mime_type":"text/plain","sha256":")" + sha256_hex("hello") +
           R"(","size":5,"upload_id":")" + id + R"("}]})";
  }
};

}  // namespace

TEST_CASE("what names an upload becomes what it is") {
  Fixture f;
  CHECK(f.bound(R"({"files":[")" + f.id + R"("]})") == f.described());
  CHECK(f.bound(R"({"files":[{"upload_id":")" + f.id + R"("}]})") == f.described());
  CHECK(f.bound(R"({"files":[{"upload_id":")" + f.id + R"(","filename":"b.txt"}]})") == f.described("b.txt"));
  CHECK(f.bound(R"({"files":[],"tags":["up_x"]})") == R"({"files":[],"tags":["up_x"]})");
  CHECK(f.bound("{}") == "{}");
}

TEST_CASE("entries that name no upload of the agent's are refused in a sentence") {
  Fixture f;
  CHECK_THAT(f.bound(R"({"files":[")" + f.id + R"("]})", "agent_2"), Catch::Contains("no upload"));
  CHECK_THAT(f.bound(R"({"files":["report.pdf"]})"), Catch::Contains("POST /uploads"));
  for (const auto* entry : {"7", "null", "[]", "{}", R"({"upload_id":7})", R"({"filename":"a"})"})
    CHECK_THAT(f.bound(std::string(R"({"files":[)") + entry + "]}"), Catch::Contains("names uploads"));
  CHECK_THAT(f.bound(R"({"files":[{"upload_id":")" + f.id + R"(","filename":"a/b"}]})"), Catch::Contains("no slashes"));
  CHECK_THAT(f.bound(R"({"files":[{"upload_id":")" + f.id + R"(","size":1}]})"), Catch::Contains("\"size\""));
  f.clock.advance(25 * 3'600'000);
  CHECK_THAT(f.bound(R"({"files":[")" + f.id + R"("]})"), Catch::Contains("expired"));
}

TEST_CASE("an edit leaves what the write carries already, and nobody forges it") {
  Fixture f;
  f.clock.advance(25 * 3'600'000);  // expired, and kept for the write
  CHECK(f.bound(f.described(), "agent_1", f.described()) == f.described());
  CHECK_THAT(f.bound(f.described("other.txt"), "agent_1", f.described()), Catch::Contains("it takes upload_id"));
  f.uploads = nullptr;
  CHECK_THAT(f.bound(R"({"files":["up_x"]})"), Catch::Contains("takes no uploads"));
}

}  // namespace KRUXOS_TEST_FILE
