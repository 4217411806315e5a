// The file that says what an operator has agreed to, beside the adapter's shared library.
#pragma once
#include <memory>
#include <string>

#include "wrapped.hpp"

namespace mcp {

/// Of "/adapters/linear.so" the file "/adapters/linear.mcp.json". It may name a program to start, so that it must be
/// root's or the user's own, and nobody else's to write. Throws std::runtime_error with a sentence.
std::shared_ptr<const Wrapped> read_agreed_file(const std::string& library);

}  // namespace mcp
