#include "query.hpp"

#include <kruxos/adapter/error.hpp>

#include <catch2/catch.hpp>

#include <random>
#include <utility>

namespace KRUXOS_TEST_FILE {

namespace {

using gmail::parse_query;
using gmail::Term;
using gmail::TermKind;

constexpr std::int64_t kNow = 1'709'210'096'789;  // 2024-02-29T12:34:56.789Z
constexpr std::int64_t kDay = 86'400'000;

std::string_view name_of(TermKind kind) {
  constexpr std::string_view kNames[] = {"all",       "any",      "none",     "text",  "from",   "to",     "cc",
                                         "bcc",       "subject",  "file",     "sys",   "label",  "id",     "has",
                                         "userlabel", "anywhere", "archived", "since", "before", "larger", "smaller"};
  return kNames[static_cast<std::size_t>(kind)];
}

/// (all text:a (none from:b))
std::string shown(const Term& term) {
  std::string out(name_of(term.kind));
  if (!term.text.empty()) out += ":" + term.text;
  if (term.number != 0) out += "=" + std::to_string(term.number);
  if (term.kind > TermKind::kNoneOf) return out;
  for (const auto& child : term.children) out += " " + shown(child);
  return "(" + out + ")";
}

std::string tree(std::string_view query) {
  return shown(parse_query(query, kNow));
}

std::string refusal(std::string_view query) {
  try {
    parse_query(query, kNow);
    return "taken";
  } catch (const kruxos::ProxyError& error) {
    CHECK(error.kind() == kruxos::ErrorKind::kInvalid);
    CHECK(error.type() == "InvalidInput");
    CHECK(error.has_no_effect());
    return error.what();
  }
}

}  // namespace

TEST_CASE("words side by side must all stand there") {
  CHECK(tree("") == "(all)");
  CHECK(tree("  \t\n ") == "(all)");
  CHECK(tree("dinner") == "text:dinner");
  CHECK(tree("dinner movie") == "(all text:dinner text:movie)");
  CHECK(tree("dinner AND movie") == "(all text:dinner text:movie)");
  CHECK(tree("\"dinner and movie\" tonight") == "(all text:dinner and movie text:tonight)");
  CHECK(tree("Grüße Zürich") == "(all text:Grüße text:Zürich)");
  CHECK(tree("and or not") == "(all text:and text:or text:not)");
}

TEST_CASE("OR binds tighter than standing side by side") {
  CHECK(tree("a OR b") == "(any text:a text:b)");
  CHECK(tree("a b OR c d") == "(all text:a (any text:b text:c) text:d)");
  CHECK(tree("a OR b OR c") == "(any text:a text:b text:c)");
  CHECK(tree("(a b) OR c") == "(any (all text:a text:b) text:c)");
  CHECK(tree("{a b c} d") == "(all (any text:a text:b text:c) text:d)");
  CHECK(tree("{a OR b}") == "(any text:a text:b)");
  CHECK(tree("{from:amy from:david}") == "(any from:amy from:david)");
  CHECK(tree("(((a)))") == "text:a");
  CHECK(tree("ORDER ANDROID") == "(all text:ORDER text:ANDROID)");
}

TEST_CASE("a minus negates what follows it") {
  CHECK(tree("dinner -movie") == "(all text:dinner (none text:movie))");
  CHECK(tree("-from:amy") == "(none from:amy)");
  CHECK(tree("-(a b)") == "(none (all text:a text:b))");
  CHECK(tree("-{a b}") == "(none (any text:a text:b))");
  CHECK(tree("-\"a b\"") == "(none text:a b)");
  CHECK(tree("subject:(a -b)") == "(all subject:a (none subject:b))");
  CHECK(tree("well-known - --verbose") == "(all text:well-known text:- text:--verbose)");
}

TEST_CASE("operators take a word, a quotation or a group") {
  CHECK(tree("from:amy@example.com") == "from:amy@example.com");
  CHECK(tree("FROM:Amy") == "from:Amy");
  CHECK(tree("from:\"Amy Lee\"") == "from:Amy Lee");
  CHECK(tree("to:me cc:david bcc:eve") == "(all to:me cc:david bcc:eve)");
  CHECK(tree("subject:(dinner movie)") == "(all subject:dinner subject:movie)");
  CHECK(tree("subject:{dinner movie}") == "(any subject:dinner subject:movie)");
  CHECK(tree("from:(amy OR \"David B\")") == "(any from:amy from:David B)");
  CHECK(tree("filename:pdf filename:homework.txt") == "(all file:pdf file:homework.txt)");
  CHECK(tree("rfc822msgid:<200503292@example.com>") == "id:200503292@example.com");
  CHECK(tree("rfc822msgid:a@b") == "id:a@b");
}

TEST_CASE("labels and states are told by the ids of the system's labels") {
  CHECK(tree("in:inbox") == "sys:INBOX");
  CHECK(tree("label:INBOX") == "sys:INBOX");
  CHECK(tree("label:CATEGORY_SOCIAL category:social") == "(all sys:CATEGORY_SOCIAL sys:CATEGORY_SOCIAL)");
  CHECK(tree("category:primary") == "sys:CATEGORY_PERSONAL");
  CHECK(tree("label:my-family in:Work/Bills") == "(all label:my-family label:Work/Bills)");
  CHECK(tree("label:\"My Family\"") == "label:My Family");
  CHECK(tree("is:unread") == "sys:UNREAD");
  CHECK(tree("is:read -is:read") == "(all (none sys:UNREAD) (none (none sys:UNREAD)))");
  CHECK(tree("is:starred is:important") == "(all sys:STARRED sys:IMPORTANT)");
  CHECK(tree("in:drafts in:draft in:sent") == "(all sys:DRAFT sys:DRAFT sys:SENT)");
  CHECK(tree("has:attachment") == "has");
  CHECK(tree("has:nouserlabels") == "(none userlabel)");
  CHECK(tree("in:archive") == "archived");
}

TEST_CASE("spam and trash are looked at when they are named") {
  CHECK(asks_for_spam_or_trash(parse_query("a {in:spam b}", kNow)));
  CHECK(asks_for_spam_or_trash(parse_query("in:anywhere a", kNow)));
  CHECK(asks_for_spam_or_trash(parse_query("-in:trash", kNow)));
  CHECK_FALSE(asks_for_spam_or_trash(parse_query("in:inbox spam trash", kNow)));
}

TEST_CASE("days are midnight UTC, ages count from now") {
  CHECK(tree("after:2014/01/01") == "since=1388534400000");
  CHECK(tree("after:2014-1-1") == "since=1388534400000");
  CHECK(tree("before:01/02/2014") == "before=1388620800000");
  CHECK(tree("after:1388552400 before:1391230800") == "(all since=1388552400000 before=1391230800000)");
  CHECK(tree("newer:2024/02/29 older:2024.02.29") == "(all since=1709164800000 before=1709164800000)");
  CHECK(tree("older_than:7d") == "before=" + std::to_string(kNow - 7 * kDay));
  CHECK(tree("newer_than:2D") == "since=" + std::to_string(kNow - 2 * kDay));
  CHECK(tree("older_than:1m") == "before=" + std::to_string(kNow - 31 * kDay));
  // A year before a leap day is the 28th.
  CHECK(tree("older_than:1y") == "before=" + std::to_string(kNow - 366 * kDay));
}

TEST_CASE("sizes are bytes, K or M") {
  CHECK(tree("size:1000000") == "larger=1000000");
  CHECK(tree("larger:10M smaller:2k") == "(all larger=10485760 smaller=2048)");
  CHECK(tree("larger:10MB") == "larger=10485760");
}

TEST_CASE("what only looks like an operator is text") {
  CHECK(tree("https://example.com/a?b=c") == "text:https://example.com/a?b=c");
  CHECK(tree("at 10:30") == "(all text:at text:10:30)");
  CHECK(tree("Re: hello") == "(all text:Re: text:hello)");
  CHECK(tree("C:\\temp") == "text:C:\\temp");
  CHECK(tree("\"foo:bar\"") == "text:foo:bar");
}

TEST_CASE("errors say where and what to do instead") {
  CHECK(
      refusal("cats and dogs older_than:week") ==
      "The query cannot be read at character 15: 'older_than:' needs a number with d, m or y, such as older_than:7d.");
  CHECK(refusal("Grüße form:amy") ==
        "The query cannot be read at character 7: there is no operator 'form:'; did you mean 'from:'? Put it in quotes "
        "to look for it as text.");
  CHECK(refusal("zzzzzz:amy").find("there is no operator 'zzzzzz:'; put it in quotes") != std::string::npos);
  CHECK(refusal("larger_than:2M").find("did you mean 'larger:'?") != std::string::npos);
  CHECK(refusal("smaller_than:2M").find("did you mean 'smaller:'?") != std::string::npos);
  CHECK(refusal("holiday AROUND 10 vacation").find("at character 9: 'AROUND' cannot be answered") != std::string::npos);
  CHECK(tree("a AROUND") == "(all text:a text:AROUND)");
  CHECK(tree("AROUND here") == "(all text:AROUND text:here)");
  CHECK(tree("\"AROUND\" 10") == "(all text:AROUND text:10)");
  CHECK(refusal("a +unicorn").find("at character 3: '+' for exact words") != std::string::npos);
  CHECK(refusal("+\"a b\"").find("'+' for exact words") != std::string::npos);
  CHECK(tree("+49171 a+b c+") == "(all text:+49171 text:a+b text:c+)");
  CHECK(refusal("is:unraed").find("'is:' takes unread, read, starred or important here") != std::string::npos);
  CHECK(refusal("list:a@b").find("cannot be answered from the local copy") != std::string::npos);
  CHECK(refusal("in:snoozed").find("does not tell programs") != std::string::npos);
  CHECK(refusal("from: amy").find("'from:' needs a value right after the colon") != std::string::npos);
  CHECK(refusal("a OR").find("at character 3: 'OR' needs a term on each side") != std::string::npos);
  CHECK(refusal("OR a").find("'OR' needs") != std::string::npos);
  CHECK(refusal("a OR OR b").find("'OR' needs") != std::string::npos);
  CHECK(refusal("AND a").find("'AND' needs") != std::string::npos);
  CHECK(refusal("(a OR) b").find("'OR' needs") != std::string::npos);
  CHECK(refusal("a (b c").find("at character 3: ')' is missing") != std::string::npos);
  CHECK(refusal("a) b").find("at character 2: ')' closes what was not opened") != std::string::npos);
  CHECK(refusal("(a}").find("'}' closes what") != std::string::npos);
  CHECK(refusal("a \"b c").find("at character 3: the quotation is not closed") != std::string::npos);
  CHECK(refusal("\" \"").find("the quotation is empty") != std::string::npos);
  CHECK(refusal("subject:()").find("the brackets are empty") != std::string::npos);
  CHECK(refusal("from:(to:a)").find("'to:' cannot stand in the brackets of 'from:'") != std::string::npos);
}

TEST_CASE("dates and sizes that are none are refused") {
  for (const auto* query : {"after:2014",
                            "after:20140101",
                            "after:2014/13/01",
                            "after:2023/02/29",
                            "after:1/2",
                            "after:2014/01",
                            "after:yesterday",
                            "after:2014/01/01/01",
                            "before:99999999999999999999",
                            "older_than:d",
                            "older_than:7",
                            "older_than:-7d",
                            "older_than:7w",
                            "older_than:999999d",
                            "larger:big",
                            "larger:-1",
                            "larger:99999999999999M",
                            "size:",
                            "rfc822msgid:<>",
                            "category:spam"}) {
    CAPTURE(query);
    CHECK(refusal(query).find("needs ") + refusal(query).find("takes ") != 2 * std::string::npos);
    CHECK(refusal(query) != "taken");
  }
}

TEST_CASE("a query is bounded in length, terms and depth") {
  CHECK(refusal(std::string(2049, 'a')).find("longer than 2048 bytes") != std::string::npos);
  std::string many;
  for (int i = 0; i < 300; ++i) many += "a ";
  CHECK(refusal(many).find("more than 200 terms") != std::string::npos);
  CHECK(refusal(std::string(1000, '(') + "a" + std::string(1000, ')')).find("too many brackets") != std::string::npos);
  CHECK(refusal(std::string(1000, '{')).find("too many brackets") != std::string::npos);
  CHECK(tree("-(-(-(-(-(-(-a))))))").size() > 10);
  CHECK(refusal("-(-(-(-(-(-(-(-(-a))))))))").find("too many brackets") != std::string::npos);
  CHECK(refusal("a\xff").find("not valid UTF-8") != std::string::npos);
  CHECK(refusal(std::string_view("\"a\0b\"", 5)).find("without NUL") != std::string::npos);
  CHECK(tree("a\x01 b\x7f") == "(all text:a text:b)");
}

TEST_CASE("no bytes break the grammar") {
  constexpr std::string_view kPieces[] = {"from:",  "(",          ")",   "{",      "}", "\"",          "-",
                                          " OR ",   " AND ",      "+",   "a",      ":", "older_than:", "7d",
                                          "after:", "2014/01/01", "is:", "unread", "ü", "\xf0"};
  std::mt19937 random(7);
  int taken = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::string query;
    for (auto n = random() % 12; n > 0; --n) query += kPieces[random() % std::size(kPieces)];
    taken += refusal(query) == "taken" ? 1 : 0;
  }
  CHECK(taken > 500);
}

}  // namespace KRUXOS_TEST_FILE
