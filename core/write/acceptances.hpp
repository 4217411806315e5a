// Who has accepted the content that a write has, by name: a write that several people must accept goes out when so many
// of them have. In kruxos.db, within a transaction of the ledger's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/storage/statement.hpp"
#include "core/write/write.hpp"

namespace krux {

/// Notes it, once an operator. Nothing is noted of one who is known by the socket alone. Throws krux::Error
/// NotAuthenticated where he has been removed meanwhile.
void add_acceptance(StatementCache& sql, const WriteRecord& write, const DecidingOperator& by, std::int64_t now_ms);
/// Those that count: of its present content, by operators who are still there. The earliest first.
std::vector<Acceptance> acceptances_of(StatementCache& sql, const WriteRecord& write);
/// Those of a content that is replaced count no more; tells the history and the audit log whose they were.
void void_acceptances(StatementCache& sql, const WriteRecord& before, const std::string& who, std::int64_t now_ms);
/// For the history and the audit log: one of several has accepted it, and it waits for others.
void tell_of_acceptance(StatementCache& sql, const WriteRecord& write, const DecidingOperator& by, std::size_t given,
                        std::int64_t now_ms);

/// "Accepted by ann; one more person is needed." Empty of a write that one person accepts. `given`: who has, as
/// Acceptance::who.
std::string acceptances_in_words(std::int64_t needed, const std::vector<std::string>& given);
/// "1 of 2"; empty of a write that one person accepts.
std::string acceptances_in_short(std::int64_t needed, std::size_t given);

/// People at one socket are told apart by their passphrases alone. Throws krux::Error NotAuthenticated.
void must_be_known(const WriteRecord& write, const DecidingOperator& by);
/// Throws krux::Error ConflictError where he has accepted this content already, and says how it stands.
void must_be_another(const WriteRecord& write, const DecidingOperator& by, const std::vector<Acceptance>& given);

}  // namespace krux
