// What mails of 25 MB cost: never more than twice their size. The service is a table of its
// own that keeps nothing, so that what is counted is the adapter's alone.
#include <catch2/catch.hpp>

#include <cstdio>
#include <kruxos/testing.hpp>

#include "body.hpp"
#include "mail/encoded_words.hpp"
#include "test_support/peak_memory.hpp"
#include "write.hpp"

namespace KRUXOS_TEST_FILE {

using namespace gmail;

namespace {

constexpr std::uint64_t kMailBytes = kMostMessageBytes;
// What is reserved for a mail that comes in, of which only its own bytes are touched.
constexpr std::uint64_t kReserved = PeakMemory::kCountsReserved ? (64 << 20) - kMailBytes : 0;

/// A mail that is made line by line: `lines` of an attachment, or of a text.
struct LargeMail {
  bool is_text = false;
  std::uint64_t lines = 0;

  std::string head() const {
    std::string head =
        "From: ann@example.com\r\nTo: agent@example.com\r\nSubject: large\r\nMIME-Version: 1.0\r\n"
        "Content-Type: multipart/mixed; boundary=bb\r\n\r\n--bb\r\nContent-Type: text/plain\r\n\r\nHere.\r\n--bb\r\n";
    head += is_text ? "Content-Type: text/plain\r\n\r\n"
                    : "Content-Type: application/pdf; name=a.pdf\r\nContent-Transfer-Encoding: base64\r\n\r\n";
    return head.insert(0, "X-Fill: " + std::string((3 - (head.size() + 10) % 3) % 3, 'x') + "\r\n");
  }
  static std::string line() { return std::string(76, 'Q') + "\r\n"; }
  static std::string tail() { return "\r\n--bb--\r\n"; }
};

/// Gmail, as far as it takes and gives large mails.
class Service {
 public:
  LargeMail mail;
  std::uint64_t taken = 0;  ///< bytes of the latest body

  kruxos::HttpClient client() const { return kruxos::HttpClient(&table_); }

 private:
  static krux_status send(void* self, const krux_call*, const krux_http_request* request,
                          const krux_http_answer* answer) noexcept {
    auto& me = *static_cast<Service*>(self);
    const auto url = kruxos::from_abi(request->url);
    if (request->body_source && !me.take(*request->body_source)) return KRUX_INTERNAL;
    answer->head(answer->self, 200, nullptr, 0);
    const auto say = [&](const std::string& text) { answer->body(answer->self, kruxos::to_abi(text)); };
    if (url.find("format=raw") != std::string_view::npos) {
      say("{\"raw\":\"" + base64url(me.mail.head()));
      const auto line = base64url(LargeMail::line());
      for (std::uint64_t i = 0; i < me.mail.lines; ++i) say(line);
      say(base64url(LargeMail::tail()) + "\"}");
    } else if (url.find("drafts/send") != std::string_view::npos) {
      say(R"({"id":"s1","threadId":"t1"})");
    } else {
      say(R"({"id":"r1","message":{"id":"m1"}})");
    }
    return KRUX_OK;
  }
  bool take(const krux_source& source) {
    char buffer[16 * 1024];
    taken = 0;
    std::int64_t got = 0;
    while ((got = source.read(source.self, buffer, sizeof buffer)) > 0) taken += static_cast<std::uint64_t>(got);
    return got == 0 && static_cast<std::int64_t>(taken) == source.total;
  }
  static std::string base64url(const std::string& bytes) {
    auto text = base64(bytes);
    for (char& c : text) c = c == '+' ? '-' : c == '/' ? '_' : c;
    return text;
  }

  krux_http_client table_{sizeof(krux_http_client), 0, this, &send, nullptr};
};

constexpr std::uint64_t kUploadBytes = kMailBytes / 78 * 57 - 1024;

krux_status read_upload(void*, const krux_call*, krux_str, std::uint64_t offset, char* buffer, std::size_t capacity,
                        std::size_t* got) noexcept {
  *got = static_cast<std::size_t>(
      std::min<std::uint64_t>(capacity, kUploadBytes - std::min<std::uint64_t>(offset, kUploadBytes)));
  std::fill_n(buffer, *got, 'a');
  return KRUX_OK;
}

/// Runs `work` and says what it took.
template <class Work>
void expect_at_most(std::uint64_t bytes, const char* what, Work&& work) {
  const PeakMemory peak;
  work();
  const auto took = peak.bytes();
  std::printf("%s took %.1f MB at most%s\n", what, static_cast<double>(took) / (1 << 20),
              PeakMemory::kCountsReserved ? ", with what is reserved and not used" : "");
  CHECK(took <= static_cast<std::int64_t>(bytes));
}

struct Desk {
  kruxos::testing::FakeClock clock;
  Service service;
  ApiClient api{service.client()};
  krux_uploads uploads{sizeof(krux_uploads), 0, nullptr, &read_upload};

  std::string execute(const char* operation, const std::string& params) {
    kruxos::testing::FakeCall call(clock, kruxos::testing::CallKind::kWrite, "w_1", 1);
    const Writer writer(api, kruxos::Uploads(&uploads), "agent@example.com");
    return writer.execute(call.call(), {"w_1", operation, params, "", "", 1, 1, 1});
  }
};

}  // namespace

TEST_CASE("sending a mail of 25 MB holds none of it") {
  Desk desk;
  const auto params = R"({"to":"bob@example.com","subject":"s","attachments":[{"upload_id":"up_1","filename":"a.bin",)"
                      R"("mime_type":"","size":)" +
                      std::to_string(kUploadBytes) + "}]}";
  std::string result;
  expect_at_most(2 << 20, "Sending a mail of 25 MB", [&] { result = desk.execute("email.send", params); });
  CHECK(text_of(parse(result), "message_id") == "s1");
}

TEST_CASE("reading a body of 25 MB takes its size, and what its texts take") {
  Desk desk;
  desk.service.mail.is_text = GENERATE(false, true);
  desk.service.mail.lines = (kMailBytes - 1024) / 78;
  kruxos::testing::FakeCall call(desk.clock, kruxos::testing::CallKind::kFetch);
  Body body;
  expect_at_most(kReserved + kMailBytes + (15 << 20),
                 desk.service.mail.is_text ? "Reading a text of 25 MB" : "Reading a mail of 25 MB",
                 [&] { body = fetch_body(call.call(), desk.api, "m1"); });
  CHECK(body.json.find(desk.service.mail.is_text ? "longer than what is read" : "a.pdf") != std::string::npos);
}

TEST_CASE("forwarding a mail of nearly 25 MB holds it once, and twice where it goes along as it is") {
  Desk desk;
  const bool twice = GENERATE(false, true);
  desk.service.mail.is_text = twice;
  desk.service.mail.lines = (kMailBytes - 8192) / 78;
  std::string result;
  expect_at_most(kReserved + (twice ? 2 : 1) * kMailBytes + (3 << 20),
                 twice ? "Forwarding a text of 25 MB" : "Forwarding a mail of 25 MB", [&] {
                   result = desk.execute("email.forward", R"({"message_id":"m1","to":"bob@example.com","body":"see"})");
                 });
  CHECK(text_of(parse(result), "message_id") == "s1");
}

}  // namespace KRUXOS_TEST_FILE
