#include "core/replica/text_plan.hpp"

#include <catch2/catch.hpp>

namespace KRUXOS_TEST_FILE {

using namespace krux;
using Catch::Contains;

namespace {

Predicate text(const std::string& term) {
  Predicate p;
  p.kind = Condition::Kind::kText;
  p.text = term;
  return p;
}

Predicate group(Condition::Kind kind, std::vector<Predicate> children) {
  Predicate p;
  p.kind = kind;
  p.children = std::move(children);
  return p;
}

Predicate all(std::vector<Predicate> children) {
  return group(Condition::Kind::kAllOf, std::move(children));
}

/// 512 rows: all have "the", every second "meeting", every fourth "LABEL" as a token of its own, every hundredth
/// "rare".
TextSample rows() {
  TextSample sample;
  for (int i = 0; i < 512; ++i) {
    std::string row = "the row ";
    if (i % 2 == 0) row += "meeting ";
    if (i % 4 == 0) row += "labl ";
    if (i % 100 == 0) row += "rare ";
    sample.add(std::move(row));
  }
  return sample;
}

constexpr Goal kMany{1e6, 20};

std::vector<Prefixes> gathered(const TextPlan& plan) {
  std::vector<Prefixes> all;
  for (const auto& gather : plan.gathers) all.push_back(gather.prefixes);
  return all;
}

std::string expression(const std::vector<TokenNeed>& needs) {
  std::string text;
  for (const auto& need : needs) {
    std::string one = need.token;
    for (const auto& all : need.any) one += (one.empty() ? "" : " or ") + expression(all);
    text += (text.empty() ? "" : " and ") + one;
  }
  return "(" + text + ")";
}

TextPlan plan(const Predicate& predicate, const Goal& goal = kMany) {
  const auto made = text_plan(predicate, rows(), goal);
  REQUIRE(made);
  return *made;
}

}  // namespace

TEST_CASE("a sample tells the shares of what is common, and bounds those of what is not") {
  const auto sample = rows();
  CHECK(sample.share("the") == 1);
  CHECK(sample.share("meeting") == Approx(0.5).margin(0.01));
  CHECK(sample.share("rare") == Approx(0.01).margin(0.005));
  CHECK(sample.share("nothing") == sample.least());
  CHECK(sample.least() < 0.001);
  CHECK(TextSample().share("the") == 1);
}

TEST_CASE("what is rare is asked for however few rows are wanted") {
  for (const double missing : {-1.0, 0.0, 1.0, 20.0, 1000.0}) {
    CAPTURE(missing);
    CHECK_THAT(expression(plan(all({text("meeting"), text("rare")}), {1e6, missing}).needs),
               Catch::StartsWith("(rare"));
  }
}

TEST_CASE("a common prefix is not gathered where something rarer finds the rows") {
  const auto rare = plan(all({text("the"), text("rare")}));
  CHECK(expression(rare.needs) == "(rare)");
  CHECK_FALSE(rare.exact);
  CHECK(rare.gathers.empty());
  CHECK(rare.gather_ns == 0);
}

TEST_CASE("a rare prefix is gathered where the rest is common") {
  const auto made = plan(all({text("labl"), text("zq")}));
  CHECK(gathered(made) == std::vector<Prefixes>{{"zq"}});
  CHECK(made.gather_ns > 0);
  CHECK(plan(all({text("labl"), text("the")})).gathers.empty());
}

TEST_CASE("of two prefixes the rarer one is gathered, and both where that spares more looks at rows than it costs") {
  CHECK(gathered(plan(all({text("the"), text("zq")}))) == std::vector<Prefixes>{{"zq"}});
  const auto made = plan(all({text("zq"), text("jx")}));
  CHECK(made.gathers.size() == 2);
  CHECK(made.needs.empty());
  CHECK(made.exact);
  CHECK(gathered(plan(all({text("lab"), text("rar")}))) == std::vector<Prefixes>{{"rar"}});  // a fourth of the rows
  CHECK(plan(all({text("lab"), text("rar")}), {1e6, 1e6}).gathers.size() == 2);              // all are wanted
}

TEST_CASE("a token beside a prefix is gone through as far as its rows are needed") {
  const auto made = plan(all({text("rare"), text("zq")}), {1e6, 1e6});
  CHECK(gathered(made) == std::vector<Prefixes>{{"zq"}});
  CHECK(expression(made.needs) == "(rare)");
  CHECK(made.exact);
  CHECK(plan(all({text("quite unheard of"), text("lab")})).gathers.empty());  // the phrase may have no row at all
}

TEST_CASE("of alternatives one of which is a prefix something of each is gathered") {
  const auto any = [](std::vector<Predicate> children) { return group(Condition::Kind::kAnyOf, std::move(children)); };
  const auto made = plan(any({text("zq"), text("rare")}));
  CHECK(gathered(made) == std::vector<Prefixes>{{"zq", "rare"}});
  CHECK(made.needs.empty());
  CHECK(made.exact);
  const auto phrase = plan(any({text("zq"), text("labl rare")}));
  CHECK(gathered(phrase) == std::vector<Prefixes>{{"zq", "bl r"}});
  CHECK_FALSE(phrase.exact);
  const auto nested = plan(any({all({text("the"), text("zq")}), text("jx")}));
  CHECK(gathered(nested) == std::vector<Prefixes>{{"zq", "jx"}});
  CHECK_FALSE(nested.exact);
  const auto half = plan(any({all({text("zq"), group(Condition::Kind::kNoneOf, {text("the")})}), text("jx")}));
  CHECK(gathered(half) == std::vector<Prefixes>{{"zq", "jx"}});
  CHECK_FALSE(half.exact);
}

TEST_CASE("tokens that exclude more than they cost are all asked for, and the answer stays exact") {
  const auto made = plan(all({text("rare"), text("labl")}));
  CHECK_THAT(expression(made.needs), Contains("rare") && Contains("labl"));
  CHECK(made.exact);
  CHECK(made.share == Approx(0.0025).margin(0.001));
}

TEST_CASE("of a phrase the rarest tokens are asked for, and rows are compared") {
  const auto made = plan(text("labl rare"));
  CHECK_THAT(expression(made.needs), Contains("bl r") && !Contains("labl"));
  CHECK_FALSE(made.exact);
  const auto unseen = plan(text("quite unheard of"));
  CHECK_THAT(expression(unseen.needs), Contains("quit") && Contains("d of"));
}

TEST_CASE("alternatives are asked for when the index knows them all") {
  const auto any = [](std::vector<Predicate> children) { return group(Condition::Kind::kAnyOf, std::move(children)); };
  const auto made = plan(any({text("rare"), text("labl")}));
  CHECK(expression(made.needs) == "((rare) or (labl))");
  CHECK(made.exact);
  const auto none = group(Condition::Kind::kNoneOf, {text("rare")});
  CHECK_FALSE(is_indexed(any({text("rare"), none})));
  CHECK_FALSE(is_indexed(any({})));
  CHECK_FALSE(text_plan(none, rows(), kMany));
  const auto part = plan(all({text("rare"), none}));
  CHECK(expression(part.needs) == "(rare)");
  CHECK_FALSE(part.exact);
}

TEST_CASE("rows that the newest ones are not of may be many: the index is asked for a rare word in an old channel") {
  TextPlan rare;
  rare.share = 0.001;
  rare.walk_ns = 0.05;
  // No row of the channel is among the newest 256, and 1,024 of its rows showed none that fits.
  LookedAt so_far{1e6, 0.3 / 256.3, 1024, 0, 20, 1500, true, std::nullopt};
  CHECK(index_is_sooner(so_far, rare));
  TextPlan common;
  common.share = 0.5;
  common.walk_ns = 20;
  CHECK_FALSE(index_is_sooner(so_far, common));  // most of what it finds is not of the channel
  so_far.found = 19;
  so_far.missing = 1;
  CHECK_FALSE(index_is_sooner(so_far, rare));
}

TEST_CASE("once the page is full the index is asked only where it counts in time") {
  TextPlan plan;
  plan.share = 0.001;
  plan.walk_ns = 1;
  LookedAt so_far{1e6, 1, 1024, 2, 981, 600, true, 2e6};
  CHECK(index_is_sooner(so_far, plan));
  so_far.left_ns = 1e6;
  CHECK_FALSE(index_is_sooner(so_far, plan));  // its time would not be enough
  so_far.left_ns = 1e9;
  CHECK_FALSE(index_is_sooner(so_far, plan));  // it is not needed
  so_far.left_ns = 2e6;
  so_far.in_order = false;
  CHECK_FALSE(index_is_sooner(so_far, plan));  // the page that is there would be given up
  so_far.left_ns.reset();
  CHECK(index_is_sooner(so_far, plan));
}

TEST_CASE("a plan whose rows seldom fit takes the token that most of them lack") {
  const auto sample = rows();
  const auto term = text("labl meeting rare");
  const auto now = plan(term);
  TextSample given;  // each of the words is there, what stands between them is not
  for (int i = 0; i < 32; ++i) given.add("rare labl meeting");
  const GivenSoFar many{1e6, 0.01, 32, 0, 20};
  const auto stricter = stricter_plan(now, term, sample, given, many);
  REQUIRE(stricter);
  CHECK(stricter->needs.size() > now.needs.size());
  for (std::size_t i = 0; i < now.needs.size(); ++i) CHECK(stricter->needs[i].token == now.needs[i].token);
  CHECK_THAT(expression(stricter->needs), !Contains("and meet"));
  CHECK_FALSE(stricter->exact);

  SECTION("not for a few rows") {
    CHECK_FALSE(stricter_plan(now, term, sample, given, {1e6, 0.9, 32, 0, 20}));
    CHECK_FALSE(stricter_plan(now, term, sample, given, {1e6, 0.01, 32, 30, 1}));
    CHECK_FALSE(stricter_plan(now, term, sample, given, {1e6, 1, 32, 0, 20}));
  }
  SECTION("not where they lack nothing") {
    TextSample others;
    for (int i = 0; i < 32; ++i) others.add("labl meeting rare");
    CHECK_FALSE(stricter_plan(now, term, sample, others, many));
  }
  SECTION("not by a token that nearly all rows have") {
    const auto both = all({text("rare"), text("row ")});
    TextSample without;
    for (int i = 0; i < 32; ++i) without.add("rare");
    CHECK_FALSE(stricter_plan(plan(both), both, sample, without, {1e6, 0.5, 32, 0, 20}));
  }
}

TEST_CASE("without rows to sample a plan is made all the same") {
  CHECK(text_plan(all({text("the"), text("meeting")}), TextSample(), kMany));
}

}  // namespace KRUXOS_TEST_FILE
