// Gmail's operators on a replica.
#include "search.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <kruxos/testing.hpp>

namespace KRUXOS_TEST_FILE {

using namespace gmail;

namespace {

struct Mailbox {
  kruxos::testing::FakeClock clock;
  kruxos::testing::FakeStore store{clock, collections()};

  Mailbox() {
    auto to = store.store();
    for (const auto& [id, name] : {std::pair{"INBOX", "INBOX"},
                                   {"TRASH", "TRASH"},
                                   {"SPAM", "SPAM"},
                                   {"SENT", "SENT"},
                                   {"UNREAD", "UNREAD"},
                                   {"STARRED", "STARRED"},
                                   {"Label_1", "Clients/Acme Corp"},
                                   {"Label_2", "invoices"}}) {
      to.put(label_record({id, name, true}));
    }
    put("1", "Ada <ada@example.com>", "me@example.com", "Plans for 2024", {"INBOX", "UNREAD", "Label_1"}, 1);
    put("2", "bob@example.com", "me@example.com", "Invoice 42", {"INBOX", "Label_2"}, 2);
    put("3", "me@example.com", "ada@example.com", "Re: Plans", {"SENT"}, 3);
    put("4", "spam@example.net", "me@example.com", "You won", {"SPAM", "UNREAD"}, 4);
    put("5", "bob@example.com", "me@example.com", "Old plans", {"TRASH"}, 5);
    put("6", "carol@example.com", "me@example.com", "Photos", {"INBOX", "STARRED"}, 6);
    to.commit();
  }

  void put(const std::string& id, const std::string& from, const std::string& to, const std::string& subject,
           std::vector<std::string> labels, int day) {
    Message m;
    m.id = id;
    m.from = parse_addresses(from);
    m.to = parse_addresses(to);
    m.subject = subject;
    m.snippet = "snippet of " + subject;
    for (const auto& label : labels) m.add(label);
    m.date_ms = 1'704'067'200'000 + day * 86'400'000LL;  // January 2024
    m.message_id = id + "@mail.example.com";
    m.size = 1000 * day;
    if (id == "6") {
      m.cc = {{"Dave", "dave@example.com"}};
      m.bcc = {{"", "eve@example.com"}};
      m.attachments.push_back({"1", "Beach.JPG", "image/jpeg", 5});
    }
    store.store().put(message_record(m));
  }

  std::string found(const std::string& params_json) {
    const auto params = parse(params_json);
    const LabelNames labels(store.reader());
    const auto query = search_query(params, labels, "me@example.com", 1'704'067'200'000 + 7 * 86'400'000LL);
    std::string ids;
    store.reader().query(query, [&](const kruxos::Row& row) {
      ids += row.id;
      return true;
    });
    return ids;
  }
  std::string query(const std::string& text) { return found(ObjectWriter().text("query", text).done()); }
};

}  // namespace

TEST_CASE("without a query, all but spam and trash, newest first") {
  Mailbox box;
  CHECK(box.found("{}") == "6321");
  CHECK(box.found(R"({"query":"","limit":2,"offset":1})") == "32");
}

TEST_CASE("operators") {
  Mailbox box;
  const std::pair<const char*, const char*> rows[] = {
      {"plans", "31"},
      {"PLANS in:anywhere", "531"},
      {"in:trash", "5"},
      {"in:spam", "4"},
      {"in:inbox", "621"},
      {"-in:inbox", "3"},
      {"in:sent", "3"},
      {"is:unread", "1"},
      {"is:read", "632"},
      {"is:starred", "6"},
      {"-is:starred", "321"},
      {"from:ada", "1"},
      {"from:me", "3"},
      {"to:ada", "3"},
      {"to:me from:bob", "2"},
      {"to:dave", "6"},
      {"cc:dave", "6"},
      {"cc:eve", ""},
      {"bcc:eve", "6"},
      {"dave", ""},
      {"subject:invoice", "2"},
      {"subject:snippet", ""},
      {"snippet", "6321"},
      {"label:invoices", "2"},
      {"label:clients-acme-corp", "1"},
      {"-label:invoices", "631"},
      {"has:attachment", "6"},
      {"-has:attachment", "321"},
      {"filename:jpg", "6"},
      {"filename:beach", "6"},
      {"filename:pdf", ""},
      {"beach", ""},
      {"has:userlabels", "21"},
      {"rfc822msgid:2@mail.example.com", "2"},
      {"after:2024/01/04", "63"},
      {"before:2024/01/04", "21"},
      {"newer_than:2d", "6"},
      {"older_than:4d", "21"},
      {"before:2024/01/04 OR is:starred", "621"},
      {"-(from:ada OR from:bob)", "63"},
      {"\"re: plans\"", "3"},
      {"larger:2500", "63"},
      {"smaller:2500", "21"},
      {"from:bob in:anywhere", "52"},
  };
  for (const auto& [text, ids] : rows) {
    INFO(text);
    CHECK(box.query(text) == ids);
  }
}

TEST_CASE("an address is looked for among addresses, a name among names as well") {
  Mailbox box;
  box.put("a", "=?utf-8?Q?Boss_<boss=40example.com>,?= <evil@attacker.test>", "me@example.com", "x", {}, 4);
  box.put("b", "\"boss@example.com\" <evil@attacker.test>", "=?utf-8?Q?boss=40example.com=2C?= <me@example.com>", "x",
          {}, 4);
  box.put("c", "=?utf-8?Q?boss=EF=BC=A0example.com?= <evil@attacker.test>", "me@example.com", "x", {}, 4);
  box.put("d", "\"J. R. Müller, boss\" <real@example.com.attacker.test>", "me@example.com", "x", {}, 4);
  box.put("e", "Boss <Boss@Example.com>", "a@xn--mnchen-3ya.de", "x", {}, 4);
  box.store.store().commit();
  const std::pair<const char*, std::string> rows[] = {
      {"from:boss@example.com", "e"},
      {"from:BOSS@EXAMPLE.COM", "e"},
      {"from:boss@", "e"},
      {"from:@example.com", "1236e"},
      {"from:ss@example.com", ""},
      {"from:boss@example", "e"},
      {"from:example.com", "1236de"},
      {"from:\"Boss <boss@example.com>\"", "e"},
      {"from:\"Evil <boss@example.com>\"", ""},
      {"from:boss", "abcde"},
      {"from:müller", "d"},
      {"from:\"j. r.\"", "d"},
      {"from:evil@attacker.test", "abc"},
      {"from:attacker.test", "abcd"},
      {"from:real@example.com", ""},
      {"to:boss@example.com", ""},
      {"to:boss", "b"},
      {"to:a@münchen.de", "e"},
      {"to:münchen.de", "e"},
  };
  for (const auto& [text, ids] : rows) {
    INFO(text);
    auto found = box.query(text);
    std::sort(found.begin(), found.end());
    CHECK(found == ids);
  }
}

TEST_CASE("the inputs label and is_read narrow the query") {
  Mailbox box;
  CHECK(box.found(R"({"label":"inbox"})") == "621");
  CHECK(box.found(R"({"label":"Label_1"})") == "1");
  CHECK(box.found(R"({"label":"Clients/Acme Corp"})") == "1");
  CHECK(box.found(R"({"label":"trash"})") == "5");
  CHECK(box.found(R"({"label":"inbox","is_read":true})") == "62");
  CHECK(box.found(R"({"is_read":false})") == "1");
}

TEST_CASE("a label that is not there is refused with those that are") {
  Mailbox box;
  for (const char* params : {R"({"label":"nonsense"})", R"({"query":"label:nonsense"})"}) {
    try {
      box.found(params);
      FAIL("it was taken");
    } catch (const kruxos::ProxyError& error) {
      CHECK(error.kind() == kruxos::ErrorKind::kInvalid);
      CHECK(std::string(error.what()).find("invoices") != std::string::npos);
    }
  }
}

TEST_CASE("words of characters that no text is kept with find nothing") {
  Mailbox box;
  CHECK(box.query("\uE000\uF8FF").empty());
  CHECK(box.query("subject:\uE000").empty());
  CHECK(box.query("from:\uE000").empty());
  CHECK(box.query("pl\uE000ans") == "31");
}

TEST_CASE("more terms than a query takes are refused") {
  Mailbox box;
  std::string many;
  for (int i = 0; i < 150; ++i) many += "in:archive ";
  CHECK_THROWS_AS(box.query(many), kruxos::ProxyError);
}

}  // namespace KRUXOS_TEST_FILE
