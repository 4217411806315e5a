// An adapter that does not come back from a read while the file "stuck" stands in the directory that it is configured
// with, and does not care that it was cancelled.
#include <unistd.h>

#include <chrono>
#include <kruxos/adapter.hpp>
#include <thread>

namespace {

class StuckAdapter final : public kruxos::ReadAdapter, public kruxos::AccountAdapter {
 public:
  StuckAdapter(kruxos::Host, const kruxos::Account& account) {
    // {"file":"/path"}: a path without anything to unescape.
    const auto& config = account.config_json;
    const auto end = config.rfind('"'), begin = config.rfind('"', end - 1) + 1;
    file_ = config.substr(begin, end - begin);
  }
  static kruxos::Description describe() {
    return {{}, R"({"type":"object","properties":{"file":{"type":"string"}},"required":["file"]})"};
  }
  std::string read(const kruxos::Call&, const kruxos::Reader&, std::string_view, std::string_view) override {
    while (access(file_.c_str(), F_OK) == 0) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    return "{}";
  }
  kruxos::Identity verify(const kruxos::Call&) override { return {"S1", "Stuck", std::nullopt, "me"}; }
  void revoke(const kruxos::Call&) override {}

 private:
  std::string file_;
};

}  // namespace

KRUXOS_PLUGIN(StuckAdapter, "stuck", "stuck", "1.0.0");
