// For tests that call an emulator without sockets: what became of one request.
#pragma once

#include "emulators/common/http_types.hpp"

namespace krux::test::emulator {

struct Outcome : Responder {
  std::string how = "waiting";
  HttpAnswer given;
  std::string bytes;

  void answer(const HttpAnswer& a) override { how = "answered", given = a; }
  void raw_then_close(std::string b) override { how = "raw", bytes = std::move(b); }
  void drip(const HttpAnswer& a, std::size_t, std::int64_t) override { how = "dripped", given = a; }
  void close() override { how = "closed"; }
  void reset() override { how = "reset"; }
  bool is_open() const override { return how == "waiting"; }
};

}  // namespace krux::test::emulator
