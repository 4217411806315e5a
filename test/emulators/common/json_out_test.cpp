#include "json_out.hpp"

#include <catch2/catch.hpp>

#include "support/control_texts.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux::test;

TEST_CASE("the emulators write each control character as JSON wants it, wherever it stands") {
  const auto value = [](std::string_view text) {
    return rapidjson::Value(text.data(), static_cast<rapidjson::SizeType>(text.size()));
  };
  const auto indented = [&](std::string_view text) { return emulator::to_pretty_json(value(text)); };
  CHECK(control_problem([](std::string_view text) { return emulator::JsonOut().value(text).str(); }) == "");
  CHECK(control_problem([&](std::string_view text) { return krux::to_json(value(text)); }) == "");
  CHECK(control_problem(indented) == "");
}

}  // namespace KRUXOS_TEST_FILE
