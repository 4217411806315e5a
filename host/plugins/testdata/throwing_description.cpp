// Throws while it describes itself.
#include <kruxos/adapter.hpp>
#include <stdexcept>

namespace {

class Throwing final : public kruxos::AccountAdapter {
 public:
  Throwing(kruxos::Host, const kruxos::Account&) {}
  static kruxos::Description describe() { throw std::runtime_error("The file \x1b[1m of names is missing."); }
  kruxos::Identity verify(const kruxos::Call&) override { return {"T1"}; }
  void revoke(const kruxos::Call&) override {}
};

}  // namespace

KRUXOS_PLUGIN(Throwing, "broken", "broken", "1.0.0");
