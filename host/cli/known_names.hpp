// Names that a command was given, against those that there are: one mistake has one sentence and one exit code.
#pragma once

#include <string>

#include "host/cli/session.hpp"

namespace krux::cli {

/// Throws CliError(kNotFound) with what was probably meant, where the host has no service of that name.
void must_be_service(const Session& session, const std::string& service);
/// The same for what a list was narrowed down by; an empty name is none. For a list that came out empty: of services
/// and agents that are gone there may still be writes.
void must_narrow_to_something(const Session& session, const std::string& service, const std::string& agent = {});

/// Throws CliError(kNotFound) likewise, where there is no agent of that name or id.
void must_be_agent(const Session& session, const std::string& agent);
/// What `ask` returns; where the host has no such agent, that is said with what was probably meant.
template <class Ask>
auto about_agent(const Session& session, const std::string& agent, const Ask& ask) {
  try {
    return ask();
  } catch (const CliError& error) {
    if (error.code() == kNotFound) must_be_agent(session, agent);
    throw;
  }
}

/// What `ask` returns; where the host refuses it and has no such service, that is what is said.
template <class Ask>
auto about_service(const Session& session, const std::string& service, const Ask& ask) {
  try {
    return ask();
  } catch (const CliError& error) {
    if (error.code() == kNotFound || error.code() == kConflict) must_be_service(session, service);
    throw;
  }
}

}  // namespace krux::cli
