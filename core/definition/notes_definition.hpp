// A definition for tests, up to where its capabilities begin.
#pragma once

#include <string>

namespace krux::test {

inline const std::string kNotesHead = R"(
schema: 1
service: notes
display_name: Notes
description: Notes.
version: 1.0.0
adapter: {min_version: 1.0.0}
api_base_url: https://notes.example/
capabilities:
)";

}  // namespace krux::test
