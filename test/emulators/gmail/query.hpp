// The search language of `q`: operators, phrases, -, OR, {} and (). It never fails; what is no operator is a word.
#pragma once

#include <memory>

#include "emulators/gmail/mailbox.hpp"

namespace krux::test::gmail {

class Query {
 public:
  // `now_ms` is what older_than and newer_than count from.
  Query(const std::string& text, std::int64_t now_ms);
  ~Query();
  Query(Query&&) noexcept;
  Query& operator=(Query&&) = delete;

  bool matches(const Mailbox& mailbox, const Message& message) const;
  // Whether it asks for spam or trash itself: "in:anywhere", "in:trash", "label:spam".
  bool names_spam_or_trash() const { return names_spam_or_trash_; }

  struct Node;

 private:
  std::unique_ptr<Node> root_;  // null: everything
  bool names_spam_or_trash_ = false;
};

}  // namespace krux::test::gmail
