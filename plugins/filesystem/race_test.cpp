// Somebody changes the workspace while the adapter works in it, as a program of the agent could.
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "files_fixture.hpp"

namespace KRUXOS_TEST_FILE {

using namespace filesystem::test;

namespace {

/// Runs `body` over and over beside the test.
class Beside {
 public:
  explicit Beside(std::function<void()> body)
      : thread_([this, body = std::move(body)] {
          while (!over_) body();
        }) {}
  ~Beside() {
    over_ = true;
    thread_.join();
  }

 private:
  std::atomic<bool> over_ = false;
  std::thread thread_;
};

}  // namespace

TEST_CASE("a directory that becomes a link while it is used leads nowhere") {
  Files files;
  const auto outside = files.scratch.path() / "outside";
  fs::create_directory(outside);
  std::ofstream(outside / "secret") << "SECRET";
  files.put("d/secret", "mine");
  const auto d = files.files / "d", aside = files.files / "aside";
  int read = 0, written = 0;
  {
    const Beside swapping([&] {
      ::rename(d.c_str(), aside.c_str());
      ::symlink(outside.c_str(), d.c_str());
      ::unlink(d.c_str());
      if (::rename(aside.c_str(), d.c_str()) == 0) return;
      std::error_code ignored;  // a write has made the directory while it was away
      fs::remove_all(d, ignored);
      ::rename(aside.c_str(), d.c_str());
    });
    for (int i = 0; i < 2000; ++i) {
      try {
        const auto page = files.read("read", quoted_path("d/secret"));
        CHECK(page.find("SECRET") == std::string::npos);
        ++read;
      } catch (const kruxos::ProxyError&) {  // it is a link at this moment, or not there
      }
      if (i % 20 != 0) continue;
      auto write = files.change("write", R"({"path":"d/new","content":"x"})");
      if (files.run(write).outcome == Outcome::kDone) ++written;
    }
  }
  CHECK(read > 0);
  CHECK(written > 0);
  CHECK_FALSE(fs::exists(outside / "new"));
  std::ifstream in(outside / "secret");
  CHECK(std::string(std::istreambuf_iterator<char>(in), {}) == "SECRET");
}

TEST_CASE("a file that becomes a FIFO while it is read holds nobody up") {
  Files files;
  const auto a = files.files / "a";
  files.put("a", "text");
  const Beside swapping([&] {
    ::unlink(a.c_str());
    ::mkfifo(a.c_str(), 0600);
    ::unlink(a.c_str());
    std::ofstream(a) << "text";
  });
  int read = 0;
  for (int i = 0; i < 2000; ++i) {
    try {
      files.read("read", quoted_path("a"));
      ++read;
    } catch (const kruxos::ProxyError&) {
    }
    files.read("search", R"({"text":"text"})");
  }
  CHECK(read > 0);
}

TEST_CASE("of a file that somebody replaces meanwhile every content is kept or there") {
  Files files;
  files.put("a", "0");
  const auto a = files.files / "a";
  int undone = 0;
  for (int i = 0; i < 50; ++i) {
    auto write = files.change("write", R"({"path":"a","content":"written"})");
    {
      const Beside replacing([&] {
        std::ofstream(files.root / "next") << "theirs";
        ::rename((files.root / "next").c_str(), a.c_str());
        ::unlink(a.c_str());
      });
      if (files.run(write).outcome != Outcome::kDone) continue;
    }
    const auto kept = files.root / "agent_1" / "undo" / write.write_id / "kept";
    const bool replaced = fs::exists(kept);
    std::ifstream in(kept);
    const std::string before(std::istreambuf_iterator<char>(in), {});
    CHECK((!replaced || before == "theirs" || before == "0"));
    REQUIRE(files.bench.rollback(write, "{}", true).outcome == Outcome::kDone);
    CHECK(files.has("a") == replaced);
    CHECK(files.content("a") == before);
    ++undone;
  }
  CHECK(undone > 0);
}

}  // namespace KRUXOS_TEST_FILE
