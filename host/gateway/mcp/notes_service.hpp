// A service with a read and a write, for tests of tools.
#pragma once

#include <memory>
#include <vector>

#include "core/capability/catalogue.hpp"

namespace gateway_test {

using namespace krux;

inline std::shared_ptr<ServiceDefinition> notes() {
  auto definition = std::make_shared<ServiceDefinition>();
  definition->service = definition->prefix = "notes";
  definition->limits = {{{"notes.add"}, 10, 3'600'000, "list"}, {{"notes.add"}, 30, 86'400'000, ""}};
  CapabilityDefinition search;
  search.name = "notes.search";
  search.tier = Tier::kAutonomous;
  search.purpose = "Search the notes.";
  search.when_to_use = "To find notes by words.";
  InputDefinition query, limit, tags;
  query.name = "query";
  query.required = true;
  query.max_length = 200;
  query.description = "Words.";
  limit.name = "limit";
  limit.type = InputType::kInteger;
  limit.minimum = 1;
  limit.maximum = 100;
  limit.default_json = "20";
  tags.name = "tags";
  tags.type = InputType::kArray;
  tags.min_length = 1;
  tags.nullable = true;
  tags.items.emplace_back();
  tags.items[0].one_of = {"red", "blue"};
  search.inputs = {query, limit, tags};
  search.outputs = {{"notes", "Newest first.", InputType::kArray}, {"total", "How many.", InputType::kInteger}};
  CapabilityDefinition add;
  add.name = "notes.add";
  add.kind = CapabilityKind::kWrite;
  add.tier = Tier::kNotify;
  add.purpose = "Write a note.";
  add.when_to_use = "To keep something.";
  add.undoable = true;
  add.destructive = false;
  definition->capabilities = {search, add};
  return definition;
}

inline std::vector<Offered> offers_of(const std::shared_ptr<const ServiceDefinition>& definition) {
  std::vector<Offered> all;
  for (const auto& capability : definition->capabilities) all.push_back({{definition, &capability}, 300'000});
  return all;
}

}  // namespace gateway_test
