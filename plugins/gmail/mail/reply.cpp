#include "reply.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <ctime>

#include "gmime.hpp"
#include "input.hpp"
#include "read_parts.hpp"
#include "recipients.hpp"
#include "utf8.hpp"

namespace gmail {
namespace {

// As mail programs write them: English, German, Dutch, Scandinavian, Finnish, Italian, Spanish and Portuguese, Polish,
// Turkish, Indonesian, Welsh, Greek, Hungarian, Chinese.
constexpr std::array<std::string_view, 18> kReplies = {"re",   "aw",  "antw", "sv",   "vs",   "rif",
                                                       "r",    "res", "odp",  "ynt",  "bls",  "atb",
                                                       "σχετ", "απ",  "vá",   "回复", "回覆", "答复"};
constexpr std::array<std::string_view, 17> kForwards = {"fwd", "fw",  "wg",   "doorst", "vb",        "vl",
                                                        "i",   "tr",  "rv",   "enc",    "pd",        "ilt",
                                                        "trs", "πρθ", "转发", "轉寄",   "továbbítás"};

std::string folded(std::string_view text) {
  const HeldText lower(g_utf8_strdown(text.data(), static_cast<gssize>(text.size())));
  return lower.get();
}

/// "Re:", "RE[2]:", "回复：" and the like.
template <std::size_t N>
bool begins_with(std::string_view subject, const std::array<std::string_view, N>& prefixes) {
  constexpr std::string_view kWideColon = "：";
  auto colon = subject.find(':');
  if (const auto wide = subject.find(kWideColon); wide < colon) colon = wide;
  if (colon > 30) return false;  // nowhere, too
  auto word = subject.substr(0, colon);
  word = word.substr(0, word.find_first_of("[^( "));
  return std::find(prefixes.begin(), prefixes.end(), folded(word)) != prefixes.end();
}

std::string prefixed(std::string_view prefix, std::string_view subject) {
  std::string out = std::string(prefix) + std::string(subject);
  cut_text(out, kMostSubjectBytes);
  return out;
}

std::string bounded(std::string_view subject) {
  std::string out(subject);
  cut_text(out, kMostSubjectBytes);
  return out;
}

bool same_address(std::string_view a, std::string_view b) {
  return g_ascii_strcasecmp(std::string(a).c_str(), std::string(b).c_str()) == 0;
}

using Addresses = std::vector<MailAddress>;

bool is_one_of(const MailAddress& one, const std::vector<std::string>& own) {
  return std::any_of(own.begin(), own.end(),
                     [&](const std::string& address) { return same_address(one.address, address); });
}

/// Those that can be written to, without one's own.
Addresses others(const Addresses& list, const std::vector<std::string>& own) {
  Addresses out;
  for (const auto& one : list) {
    const auto parsed = is_one_of(one, own) ? Addresses() : [&] {
      try {
        auto found = parse_recipients("original", one.address);
        return found.size() == 1 ? found : Addresses();
      } catch (const kruxos::ProxyError&) {
        return Addresses();
      }
    }();
    if (parsed.empty()) continue;
    auto name = one.name;
    cut_text(name, 256);
    out.push_back({std::move(name), parsed.front().address});
  }
  return out;
}

/// A reply that left some out would say nothing of it.
void require_whole(const MailHead& original, std::string_view field) {
  if (!original.leaves_out(field)) return;
  throw bad_input("The mail names more people in \"" + std::string(field) +
                  "\" than are read of it, so that a reply would not reach them all; use email.send and name whom you "
                  "mean.");
}

std::string date_line(std::int64_t ms) {
  const auto seconds = static_cast<std::time_t>(ms / 1000);
  std::tm parts{};
  std::array<char, 64> text{};
  if (!gmtime_r(&seconds, &parts) || std::strftime(text.data(), text.size(), "%a, %d %b %Y %H:%M UTC", &parts) == 0)
    return {};
  return text.data();
}

std::string about(const MailContent& original) {
  std::string out = "---------- Forwarded message ---------\n";
  const auto line = [&](const char* name, const std::string& value) {
    if (!value.empty()) out += std::string(name) + ": " + value + "\n";
  };
  line("From", shown(original.from));
  line("Date", original.date_ms ? date_line(*original.date_ms) : "");
  line("Subject", original.subject);
  line("To", shown(original.to));
  line("Cc", shown(original.cc));
  return out + "\n";
}

DraftAttachment passed_on(const ParsedMail& original, const MailAttachment& one) {
  DraftAttachment out;
  out.filename = one.filename;
  // Other programs would decode what is decoded already.
  for (auto at = out.filename.find("=?"); at != std::string::npos; at = out.filename.find("=?")) {
    out.filename.replace(at, 2, "=_");
  }
  const auto fits = [](char c) {
    return g_ascii_isalnum(c) || std::string_view("!#$&^_.+-/").find(c) != std::string_view::npos;
  };
  const auto& type = one.mime_type;
  const bool usual = std::all_of(type.begin(), type.end(), fits) && std::count(type.begin(), type.end(), '/') == 1 &&
                     type.front() != '/' && type.back() != '/' && type.size() <= 100;
  if (usual) out.mime_type = type;
  const bool plain_id = std::all_of(one.content_id.begin(), one.content_id.end(),
                                    [](char c) { return c > ' ' && c < '\x7f' && c != '<' && c != '>'; });
  if (one.is_inline && plain_id) out.content_id = one.content_id;
  out.original = &original;
  out.part_id = one.part_id;
  return out;
}

}  // namespace

std::string reply_subject(std::string_view subject) {
  return begins_with(subject, kReplies) ? bounded(subject) : prefixed("Re: ", subject);
}

std::string forward_subject(std::string_view subject) {
  return begins_with(subject, kForwards) ? bounded(subject) : prefixed("Fwd: ", subject);
}

void reply_to(const MailContent& original, bool all, const std::vector<std::string>& own_addresses,
              MessageDraft& draft) {
  // A Reply-To that names nobody is as good as none.
  const bool redirected = !others(original.reply_to, {}).empty();
  const auto& asked = redirected ? original.reply_to : original.from;
  require_whole(original, redirected ? "reply_to" : "from");
  if (all) require_whole(original, "cc");
  draft.to = others(asked, own_addresses);
  const bool own_mail =
      std::any_of(asked.begin(), asked.end(), [&](const MailAddress& one) { return is_one_of(one, own_addresses); }) &&
      draft.to.empty();
  if (draft.to.empty() && !own_mail) {
    throw bad_input("The mail names no sender that a reply could go to; use email.send.");
  }
  if (all || own_mail) require_whole(original, "to");
  if (own_mail) draft.to = others(original.to, own_addresses);
  draft.cc.clear();
  if (all) {
    if (!own_mail) draft.cc = others(original.to, own_addresses);
    for (auto& one : others(original.cc, own_addresses)) draft.cc.push_back(std::move(one));
  }
  if (draft.to.empty() && draft.cc.empty()) {
    throw bad_input("The mail names nobody but this account that a reply could go to; use email.send.");
  }
  settle_recipients(draft.to, draft.cc, draft.bcc);
  draft.subject = reply_subject(original.subject);
  draft.in_reply_to.clear();
  if (!original.message_id.empty()) draft.in_reply_to.push_back(original.message_id);
  draft.references = original.references.empty() ? original.in_reply_to : original.references;
  if (!original.message_id.empty()) draft.references.push_back(original.message_id);
}

void forward(const ParsedMail& original, std::string_view note, MessageDraft& draft) {
  const auto& content = original.content();
  draft.subject = forward_subject(content.subject);
  draft.text = note;
  draft.html.clear();
  draft.attachments.clear();
  if (content.is_cut) {
    DraftAttachment whole;
    whole.filename = "original.eml";
    whole.mime_type = "message/rfc822";
    whole.original = &original;
    draft.attachments.push_back(std::move(whole));
    return;
  }
  const auto block = about(content);
  const auto before = note.empty() ? std::string() : std::string(note) + "\n\n";
  draft.text = before + block + with_nuls_shown(content.text_plain);
  if (!content.quoted_html.empty())
    draft.html = "<div>" + as_html(before + block) + "</div>\n" + with_nuls_shown(content.quoted_html);
  for (const auto& one : content.attachments) draft.attachments.push_back(passed_on(original, one));
}

}  // namespace gmail
