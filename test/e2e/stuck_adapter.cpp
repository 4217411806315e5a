// An adapter that does not come back from a read, nor from the end of its process, while the file that it is configured
// with exists, and does not care that it was cancelled.
#include <unistd.h>

#include <chrono>
#include <kruxos/adapter.hpp>
#include <string>
#include <thread>

namespace {

void wait_while_exists(const std::string& file) {
  while (!file.empty() && access(file.c_str(), F_OK) == 0) std::this_thread::sleep_for(std::chrono::milliseconds(5));
}

struct AtTheEnd {
  ~AtTheEnd() { wait_while_exists(file); }
  std::string file;
};
AtTheEnd at_the_end;

class StuckAdapter final : public kruxos::ReadAdapter, public kruxos::AccountAdapter {
 public:
  StuckAdapter(kruxos::Host, const kruxos::Account& account) {
    // {"file":"/path"}: a path without anything to unescape.
    const auto& config = account.config_json;
    const auto end = config.rfind('"'), begin = config.rfind('"', end - 1) + 1;
    file_ = at_the_end.file = config.substr(begin, end - begin);
  }
  static kruxos::Description describe() {
    return {{}, R"({"type":"object","properties":{"file":{"type":"string"}},"required":["file"]})"};
  }
  std::string read(const kruxos::Call&, const kruxos::Reader&, std::string_view, std::string_view) override {
    wait_while_exists(file_);
    return "{}";
  }
  kruxos::Identity verify(const kruxos::Call&) override { return {"S1", "Stuck", std::nullopt, "me"}; }
  void revoke(const kruxos::Call&) override {}

 private:
  std::string file_;
};

}  // namespace

KRUXOS_PLUGIN(StuckAdapter, "stuck", "stuck", "1.0.0");
