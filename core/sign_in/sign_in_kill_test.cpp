// The host is killed around an exchange and a refresh: nothing works twice, and nobody is shut out.
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "core/sign_in/sign_in_fixture.hpp"
#include "support/fault.hpp"

using namespace sign_in_test;

namespace {

/// Does that in a process that is killed at `fault`.
template <class Act>
void killed_at(const std::string& fault, SignInFixture& f, Act act) {
  f.store.reset();
  f.commits.reset();
  const pid_t child = ::fork();
  if (child == 0) {
    support::arm_fault(fault);
    f.open();
    act();
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  REQUIRE(WIFSIGNALED(status));
  CHECK(WTERMSIG(status) == SIGKILL);
  f.open();
}

}  // namespace

TEST_CASE("killed around an exchange, a code has worked once or not at all", "[sign_in]") {
  SignInFixture f;
  const auto code = f.accepted();
  SECTION("before: it works still") {
    killed_at("sign_in.exchange.before_commit", f, [&] { f.store->exchange(f.order(code)); });
    CHECK(f.is_good(f.store->exchange(f.order(code))));
  }
  SECTION("after: it does not, and a second use ends what nobody has") {
    killed_at("sign_in.exchange.after_commit", f, [&] { f.store->exchange(f.order(code)); });
    REQUIRE(f.store->grants().size() == 1);
    CHECK(f.store->grants().front().ended_at_ms == 0);
    CHECK_FALSE(f.refusal([&] { f.store->exchange(f.order(code)); }).empty());
    CHECK(f.store->grants().front().ended_at_ms != 0);
  }
}

TEST_CASE("killed around a refresh, its client repeats it and goes on", "[sign_in]") {
  const std::string point = GENERATE("sign_in.refresh.before_commit", "sign_in.refresh.after_commit");
  INFO(point);
  SignInFixture f;
  const auto tokens = f.signed_in();
  killed_at(point, f, [&] { f.refresh(tokens.refresh_token); });
  const auto next = f.refresh(tokens.refresh_token);
  CHECK(f.is_good(next));
  CHECK(f.is_good(f.refresh(next.refresh_token)));
}
