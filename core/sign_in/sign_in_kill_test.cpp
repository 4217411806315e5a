// The host is killed around an acceptance, an exchange and a refresh: nothing is half done or works twice, and nobody
// is shut out.
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "core/sign_in/sign_in_fixture.hpp"
#include "core/state/agents.hpp"
#include "support/fault.hpp"

namespace KRUXOS_TEST_FILE {

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

SignInRequest accept_as(const std::string& name, const std::string& code, SignInFixture& f) {
  SignInRequest request;
  AgentStore agents(*f.commits, f.clock);
  agents.find_or_create(name, [&](const Agent& agent, const auto& make) {
    request = f.store->accept(code, agent.agent_id, "operator:me", make);
  });
  return request;
}

}  // namespace

TEST_CASE("killed around an acceptance, there is the agent with what was accepted for it, or neither", "[sign_in]") {
  const bool done = GENERATE(false, true);
  SignInFixture f;
  const auto begun = f.store->begin(ask());
  killed_at(done ? "sign_in.accept.after_commit" : "sign_in.accept.before_commit", f,
            [&] { accept_as("desktop", begun.request.code, f); });
  AgentStore agents(*f.commits, f.clock);
  const auto agent = agents.find("desktop");
  CHECK(agent.has_value() == done);
  const auto page = f.store->load_page(begun.handle);
  REQUIRE(page);
  CHECK(page->decision == (done ? SignInDecision::kAccepted : SignInDecision::kWaiting));
  if (agent) CHECK(page->agent_id == agent->agent_id);
}

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

}  // namespace KRUXOS_TEST_FILE
