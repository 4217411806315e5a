// kruxos/testing.hpp - an adapter's unit tests, without a host. Header-only C++20; depends on the standard library
// alone, and on no test framework. Never part of the adapter itself.
//
// clang-format off
//   Workbench<NotesAdapter> bench;                                            // adapter, replica, scripted HTTP, clock
//   bench.host.expect("POST", "notes").answers(FakeAnswer::dropped());
//   FakeWrite write{"notes.create", R"({"text":"hello"})"};
//   KRUXOS_REQUIRE(bench.execute(write).outcome == Outcome::kUnknown);        // as the host would judge it
// clang-format on
//
// See testing/workbench.hpp first. What an adapter must not do (other hosts, an Authorization header, sending after its
// call has ended, sending in a read, sending a write twice) fails the test with a sentence.
#pragma once
#include <kruxos/adapter.hpp>
#include <kruxos/testing/call.hpp>
#include <kruxos/testing/cases.hpp>
#include <kruxos/testing/host.hpp>
#include <kruxos/testing/http.hpp>
#include <kruxos/testing/misuse.hpp>
#include <kruxos/testing/store.hpp>
#include <kruxos/testing/workbench.hpp>
