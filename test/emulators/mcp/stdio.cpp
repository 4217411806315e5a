#include "emulators/mcp/stdio.hpp"

#include <unistd.h>

#include <cstdio>
#include <iostream>
#include <string>

namespace krux::test::mcp_server {
namespace {

// False: nobody reads it any more.
bool put(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto written = write(STDOUT_FILENO, bytes.data(), bytes.size());
    if (written < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

// Until the file is there; for ever without one.
void wait_for(const std::string& file) {
  while (file.empty() || access(file.c_str(), F_OK) != 0) usleep(5'000);
}

void put_endless_line() {
  const std::string piece(65'536, 'x');
  while (put(piece)) continue;
}

// What only a program of its own can do wrong.
void misbehave(const Fault& fault) {
  const auto& kind = fault.kind;
  if (kind == "say" || kind.starts_with("exit")) std::cerr << fault.text << std::flush;
  if (kind.starts_with("exit")) _exit(static_cast<int>(fault.number));
  if (kind == "endless_line") put_endless_line();
}

void send(const Outcome& outcome) {
  for (const auto& one : outcome.before) put(one + "\n");
  if (outcome.fault) misbehave(*outcome.fault);
  if (outcome.answer) put(*outcome.answer + "\n");
  if (outcome.fault && outcome.fault->kind == "deaf") wait_for(outcome.fault->text);
}

}  // namespace

int run_stdio(Settings settings) {
  Server server(std::move(settings));
  bool initialized = false;
  for (std::string line; std::getline(std::cin, line);) server.take(line, initialized, send);
  return 0;
}

}  // namespace krux::test::mcp_server
