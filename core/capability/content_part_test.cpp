#include "core/capability/content_part.hpp"

#include <catch2/catch.hpp>
#include <string>

namespace KRUXOS_TEST_FILE {

using namespace krux;

namespace {

bool is_part(const std::string& json, ContentKind kind) {
  return is_content_part(parse_json(json, "the value", {64 << 20, 64}), kind);
}

}  // namespace

TEST_CASE("An image and a sound are Base64 with its type") {
  for (const auto kind : {ContentKind::kImage, ContentKind::kAudio}) {
    for (const char* data : {"", "AA==", "AAA=", "AAAA", "+/9z"})
      CHECK(is_part(R"({"mime_type":"a/b","data":")" + std::string(data) + "\"}", kind));
    for (const char* data : {"A", "AA", "AAA", "A===", "====", "AA==AAAA", "AA=A", "AA A", "-_9z", "AA\\n=", "ää"}) {
      CAPTURE(data);
      CHECK_FALSE(is_part(R"({"mime_type":"a/b","data":")" + std::string(data) + "\"}", kind));
    }
    for (const char* none : {R"({"data":"AAAA"})", R"({"mime_type":"a/b"})", R"({"mime_type":1,"data":"AAAA"})", "[]",
                             "\"AAAA\"", "1", "null"})
      CHECK_FALSE(is_part(none, kind));
  }
}

TEST_CASE("A resource has either a text or bytes") {
  const auto resource = [](const std::string& more) {
    return is_part(R"({"uri":"a://b","mime_type":"a/b")" + more + "}", ContentKind::kResource);
  };
  CHECK(resource(R"(,"text":"")"));
  CHECK(resource(R"(,"data":"AA==")"));
  CHECK_FALSE(resource(""));
  CHECK_FALSE(resource(R"(,"text":"","data":"AA==")"));
  CHECK_FALSE(resource(R"(,"data":"no")"));
  CHECK_FALSE(is_part(R"({"uri":"a://b","text":""})", ContentKind::kResource));
  CHECK_FALSE(is_part(R"({"mime_type":"a/b","text":""})", ContentKind::kResource));
}

TEST_CASE("A text is a string, and only bytes are bytes") {
  CHECK(is_part("\"x\"", ContentKind::kText));
  CHECK_FALSE(is_part("{}", ContentKind::kText));
  const auto bytes = [](const char* json, ContentKind kind) {
    return is_bytes_part(parse_json(json, "the value"), kind);
  };
  CHECK(bytes(R"({"uri":"a://b","mime_type":"a/b","data":"AA=="})", ContentKind::kResource));
  CHECK_FALSE(bytes(R"({"uri":"a://b","mime_type":"a/b","text":"AA=="})", ContentKind::kResource));
  CHECK_FALSE(bytes("\"AA==\"", ContentKind::kText));
}

TEST_CASE("Beside bytes little text may stand") {
  const auto with = [](std::size_t more) {
    return is_part(R"({"mime_type":"a/b","data":"AAAA","more":")" + std::string(more, 'x') + "\"}",
                   ContentKind::kImage);
  };
  CHECK(with(4'000));
  CHECK_FALSE(with(4'200));
}

}  // namespace KRUXOS_TEST_FILE
