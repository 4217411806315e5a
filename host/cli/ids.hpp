// Ids as people type them: the beginning is enough where it is the beginning of one only.
#pragma once

#include <string>
#include <vector>

#include "host/cli/session.hpp"

namespace krux::cli {

/// The whole id that begins with `given`; `given` itself where it is whole, or no id begins so: the host then says that
/// there is none. Throws CliError, with the ids, where several begin so.
std::string whole_write_id(const Session& session, const std::string& given);
std::vector<std::string> whole_write_ids(const Session& session, const std::vector<std::string>& given);
/// Also a name, which is taken as it is.
std::string whole_agent_id(const Session& session, const std::string& given);
/// Of an account of the service; also a name.
std::string whole_account_id(const Session& session, const std::string& service, const std::string& given);
/// A grant or request of sign-in; also a code, which is taken as it is.
std::string whole_sign_in_id(const Session& session, const std::string& given);
std::string whole_standing_id(const Session& session, const std::string& given);
/// Of a disconnection.
std::string whole_receipt_id(const Session& session, const std::string& given);

/// The one of `all` that `given` is, or is the beginning of; `given` where there is none. `what`: "writes".
std::string whole_id(const std::string& given, const std::vector<std::string>& all, const std::string& what);

}  // namespace krux::cli
