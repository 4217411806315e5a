#include "core/util/error_type.hpp"

#include <catch2/catch.hpp>
#include <fstream>
#include <set>
#include <sstream>

#include "core/util/error.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;

TEST_CASE("a type has one name, and a name one type") {
  std::set<std::string_view> names;
  for (const auto& row : error_table()) {
    CAPTURE(row.name);
    CHECK(names.insert(row.name).second);
    CHECK(ErrorType::is_name(row.name));
    CHECK(ErrorType::named(row.name) == row.code);
    CHECK(ErrorType(row.code).name() == row.name);
    CHECK(&ErrorType(row.code).facts() == &row);
    CHECK(row.http_status >= 400);
    CHECK(row.rpc_code < 0);
    for (const auto& step : row.recovery) CHECK(std::string_view(step.description).ends_with('.'));
  }
}

TEST_CASE("a service's own type keeps its name") {
  const auto type = ErrorType::named("NoteLocked");
  CHECK(type == ErrorType::named("NoteLocked"));
  CHECK(type.code() == ErrorCode::kService);
  CHECK(type.name() == "NoteLocked");
  CHECK_FALSE(type == ErrorType::named("NoteGone"));
  CHECK_FALSE(type.facts().retryable);
  CHECK(type.facts().status == KRUX_INTERNAL);
}

TEST_CASE("what is no name names nothing") {
  const std::string longest(64, 'A');
  CHECK(ErrorType::named(longest));
  for (const auto& odd : {std::string(), longest + "A", std::string("noteLocked"), std::string("Note Locked"),
                          std::string("<b>"), std::string("A\0B", 3), std::string("1A"), std::string("\xc3\x84")}) {
    CAPTURE(odd);
    CHECK_FALSE(ErrorType::named(odd));
    CHECK(ErrorType::named(odd).name().empty());
  }
}

TEST_CASE("a status that an adapter is told comes back as the same status") {
  for (const auto status :
       {KRUX_AUTH, KRUX_RATE_LIMITED, KRUX_INVALID, KRUX_STORAGE, KRUX_CANCELLED, KRUX_UNSUPPORTED, KRUX_TIMEOUT}) {
    CHECK(ErrorType(meaning_of(status).thrown).facts().status == status);
  }
  CHECK(ErrorType(meaning_of(12345).thrown).facts().status == KRUX_INTERNAL);
}

TEST_CASE("the document of the errors shows the table") {
  std::ifstream file(KRUXOS_SOURCE_DIR "/docs/errors.md");
  std::stringstream text;
  text << file.rdbuf();
  for (const auto& row : error_table()) {
    std::ostringstream line;
    line << "| `" << row.name << "` | " << (row.retryable ? "yes" : "no") << " | " << row.http_status << " | "
         << row.rpc_code << " |";
    CAPTURE(line.str());
    CHECK(text.str().find(line.str()) != std::string::npos);
  }
}

}  // namespace KRUXOS_TEST_FILE
