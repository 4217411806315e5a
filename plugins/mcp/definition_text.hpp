// The definition that wrapping an upstream server begins with, for the operator to read and tighten.
#pragma once
#include <string>
#include <vector>

#include "tools.hpp"
#include "wrapped.hpp"

namespace mcp {

struct Plan {
  std::string service;  ///< also the prefix
  std::string display_name;
  std::string url;                   ///< or
  std::vector<std::string> command;  ///<
  bool token = false;                ///< the server wants one, which `kruxos connect` asks for
};

struct Wrapping {
  Wrapped wrapped;
  std::string definition;             ///< definitions/SERVICE.yaml
  std::vector<std::string> left_out;  ///< tools beyond the 256th, or beyond what the host reads of one file
};

/// Reads are what the server marks as reading only; all else is a write that a person approves. Tools that `before` has
/// keep their names. Throws std::runtime_error where there is nothing to wrap.
Wrapping wrap(const Plan& plan, const std::vector<Tool>& tools, const Wrapped* before);

}  // namespace mcp
