// An adapter that takes another library for JSON, or none, on a machine that has no RapidJSON.
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <string>

#include "package/machine.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux::test;
using Catch::Contains;
namespace fs = std::filesystem;

namespace {

constexpr char kAdapter[] = R"cpp(
#include <kruxos/adapter.hpp>
#include <kruxos/kit/http.hpp>
#include <kruxos/kit/page.hpp>
#include <kruxos/kit/sync.hpp>
#include <kruxos/kit/text.hpp>
#include <kruxos/kit/time.hpp>
#include KRUXOS_TRIED

  class PlainAdapter final : public kruxos::SyncAdapter {
   public:
    PlainAdapter(kruxos::Host host, const kruxos::Account&) : host_(host) {}
    static kruxos::Description describe() { return {{{"items"}}, ""}; }
    kruxos::SyncStep full_sync(const kruxos::Call& call, kruxos::SyncStore& store) override {
      const auto response = host_.http().send(call, kruxos::kit::json_request("GET", "items")).or_throw();
      if (!kruxos::kit::is_success(response)) throw kruxos::kit::error_of(response, "The service");
      kruxos::Record record;
      record.collection = "items";
      record.id = "only";
      record.json = "{}";
      store.put(record);
      store.commit();
      return kruxos::SyncStep::done();
    }
    kruxos::SyncStep incremental_sync(const kruxos::Call& call, kruxos::SyncStore& store, std::int64_t) override {
      return full_sync(call, store);
    }

   private:
    kruxos::Host host_;
  };

#ifdef KRUXOS_TEST
#include <kruxos/testing.hpp>
  int main() {
    return kruxos::testing::run({{"syncs", [] {
                                    kruxos::testing::Workbench<PlainAdapter> bench;
                                    bench.host.expect("GET", "items").answers(200, "[]");
                                    bench.sync();
                                    KRUXOS_REQUIRE(bench.store.rows("items").size() == 1);
                                  }}});
  }
#else
  KRUXOS_PLUGIN(PlainAdapter, "plain", "plain", "1.0.0");
#endif
)cpp";

/// An author's project, where CMake does not find RapidJSON, and including it anyway does not compile.
struct Bare {
  Machine machine;
  fs::path source = machine.home / "plain";
  fs::path hidden = machine.home / "hidden";

  Bare() {
    fs::create_directories(hidden / "rapidjson");
    fs::create_directory(source);
    for (const auto& header : fs::directory_iterator(KRUXOS_RAPIDJSON_HEADERS)) {
      if (header.is_regular_file())
        std::ofstream(hidden / "rapidjson" / header.path().filename()) << "#error RapidJSON was asked for\n";
    }
    std::ofstream(source / "plain.cpp") << kAdapter;
  }
  Finished configure(const std::string& components, const std::string& tried) const {
    std::ofstream(source / "CMakeLists.txt") << "cmake_minimum_required(VERSION 3.25)\nproject(plain LANGUAGES CXX)\n"
                                             << "find_package(KruxosPluginApi 1 CONFIG REQUIRED " << components << ")\n"
                                             << "kruxos_add_plugin(plain SOURCES plain.cpp)\n"
                                             << "add_executable(plain_test plain.cpp)\n"
                                             << "target_compile_definitions(plain_test PRIVATE KRUXOS_TEST)\n"
                                             << "target_link_libraries(plain_test PRIVATE Kruxos::plugin_api)\n";
    fs::remove_all(machine.home / "b");
    return run(
        {{KRUXOS_CMAKE, "-S", source, "-B", machine.home / "b", "-G", "Ninja",
          "-DCMAKE_PREFIX_PATH=" + machine.prefix.string(), "-DCMAKE_IGNORE_PATH=/usr/include;/usr/local/include",
          std::string("-DCMAKE_CXX_COMPILER=") + KRUXOS_CXX,
          "-DCMAKE_CXX_FLAGS=-I" + hidden.string() + " -DKRUXOS_TRIED='<" + tried + ">'"},
         {}},
        milliseconds(60'000));
  }
  Finished build() const {
    return run({{KRUXOS_CMAKE, "--build", machine.home / "b", "-j", "2"}, {}}, milliseconds(120'000));
  }
};

}  // namespace

TEST_CASE("an adapter that does not read JSON with the kit needs no RapidJSON") {
  const Bare bare;
  const auto configured = bare.configure("", "string");
  INFO(configured.err);
  REQUIRE(configured.status.ok());
  const auto built = bare.build();
  INFO(built.out);
  REQUIRE(built.status.ok());
  must({bare.machine.home / "b/plain_test"});
  CHECK(fs::exists(bare.machine.home / "b/adapters/plain.so"));
}

TEST_CASE("without RapidJSON the kit's JSON is missed with a sentence") {
  const Bare bare;
  CHECK_THAT(bare.configure("COMPONENTS kit", "string").err, Contains("rapidjson-dev"));
  REQUIRE(bare.configure("", "kruxos/kit/json.hpp").status.ok());
  CHECK_THAT(bare.build().out, Contains("RapidJSON was asked for"));
}

}  // namespace KRUXOS_TEST_FILE
