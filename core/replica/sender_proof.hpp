// Whether a service has proven who has sent a message, as the account's copy has it.
#pragma once

#include <string>

#include "core/definition/definition.hpp"
#include "core/replica/replica_reader.hpp"

namespace krux {

enum class SenderProof {
  kProven,  ///< or the account itself has sent it, which nobody need prove
  kUnproven,
  kUnsaid,     ///< the service does not say
  kNoMessage,  ///< the copy has none of that id
};

/// Of the message of that id, as `where` says that it stands there. Throws as the reader does.
SenderProof sender_proof(ReplicaReader& rows, const CorrespondenceDefinition& where, const std::string& id);

}  // namespace krux
