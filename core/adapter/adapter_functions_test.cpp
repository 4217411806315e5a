// The list of an adapter's functions, and that what is made from it knows each of them by itself.
#include "core/adapter/adapter_functions.hpp"

#include <catch2/catch.hpp>
#include <set>
#include <string>
#include <type_traits>

#include "core/adapter/adapter_meters.hpp"
#include "core/adapter/adapter_test_support.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;

namespace {

struct Named final : AnswersAlike<Named> {
  std::string asked;
  AdapterRoles roles() const override { return {}; }
  template <class Function, class... Arguments>
  CallResult<typename Function::Result> answer_alike(Function, const CallContextPtr&, const Arguments&...) {
    asked = Function::kName;
    return CallFailure{};
  }
};

}  // namespace

TEST_CASE("every function of an adapter has a name, a number and a meter of its own") {
  DrivenClock clock;
  MetricRegistry registry;
  AdapterMeters meters(registry);
  const CallContext call({"notes", "N1", 1, {}, 0, Sends::kNothing}, clock, clock.boot_ms() + 1000);
  std::set<std::string> names;
  std::set<std::size_t> numbers;
  AdapterFunctions::for_each([&]<class Function>(Function) {
    CHECK(std::string(Function::kName).size() > 2);
    names.insert(Function::kName);
    numbers.insert(Function::kNumber);
    CHECK(std::is_same_v<FnAt<Function::kNumber>, Function>);
    meters.of("notes").returned(Function::kName, call, nullptr, 1);
    const auto counted = R"(kruxos_adapter_calls_total{function=")" + std::string(Function::kName) +
                         R"(",outcome="ok",service="notes"} 1)";
    CHECK_THAT(registry.text({}), Catch::Contains(counted));
  });
  CHECK(names.size() == AdapterFunctions::kCount);
  CHECK(numbers.size() == AdapterFunctions::kCount);
  CHECK(*numbers.rbegin() == AdapterFunctions::kCount - 1);
}

TEST_CASE("what is asked by its name or by its number reaches that function") {
  Named adapter;
  adapter.ask<"read">(nullptr, nullptr, "notes.read", "{}");
  CHECK(adapter.asked == "read");
  adapter.ask<"find_rollback">(nullptr, RollbackRequest{});
  CHECK(adapter.asked == "find_rollback");
  std::string found;
  AdapterFunctions::at(Fn<"verify">::kNumber, [&]<class Function>(Function) { found += Function::kName; });
  CHECK(found == "verify");
  AdapterFunctions::at(AdapterFunctions::kCount, [&]<class Function>(Function) { found += Function::kName; });
  CHECK(found == "verify");
}

TEST_CASE("a function is there with its role, or where its table may lack it, by itself") {
  CHECK(Fn<"read">::has() == &AdapterRoles::read);
  CHECK(Fn<"resolve">::has() == &AdapterRoles::resolve);
  CHECK(Fn<"clean_up">::has() == &AdapterRoles::cleanup);
}

}  // namespace KRUXOS_TEST_FILE
