// What a mock adapter does, by the file beside it; and the journal of what it was asked. docs/testing.md has the
// format.
#pragma once

#include <rapidjson/document.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mock {

using Json = rapidjson::Value;

/// What a call is about, as rules look at it.
struct Asked {
  std::string call;       ///< the interface's function: "execute_write"
  std::string operation;  ///< or the capability of a read; empty for others
  std::string id;         ///< write_id or rollback_id; empty for others
  std::string params_json;
  // Of a read.
  std::string answers_json{}, state{};  ///< what it was given to what it had asked
  std::vector<std::string> can_ask{};   ///< "form", "url", "model", "roots"
};

/// What a read says to whoever waits, in order.
struct Saying {
  std::int64_t delay_ms = 0;           ///< before it
  std::optional<std::string> message;  ///< of an `level`; nothing: it is how far the read has come
  std::string level;                   ///< "debug", "info", "warn", "error"
  double done = 0, total = 0;
};

struct Failure {
  std::string status, type, message;
  bool no_effect = false;
  std::int64_t retry_after_ms = -1;
};

/// The rule that fits, or the default.
struct Act {
  std::int64_t delay_ms = 0;
  bool hang = false;                  ///< until the call is cancelled
  bool deaf = false;                  ///< hangs on when it is cancelled
  std::string crash;                  ///< "segv", "abort", "exit", "throw"; empty: none
  std::optional<std::string> answer;  ///< one JSON value as text, or whatever `raw` says
  std::optional<Failure> error;
  std::vector<Saying> says;
  std::string questions_json;  ///< a read ends with these; empty: it does not
  std::string state;           ///< with them
  std::optional<bool> effect;  ///< whether the journal has it as done; nothing: if it succeeded
};

/// Read again whenever the file has changed; the rules' counts begin anew then. Any thread.
class Script {
 public:
  /// Throws std::runtime_error with a sentence that names the file and the place.
  explicit Script(std::filesystem::path file);

  std::string service() const { return service_; }
  std::string prefix() const { return prefix_; }
  std::string version() const { return version_; }

  Act act_on(const Asked& asked);
  /// Members of the script: "account", "collections", "records", "undoable"; a null value where there is none.
  rapidjson::Document part(const char* name);

  /// Notes what was asked and what becomes of it. Durable when it returns nothing; where no file may be written (a
  /// process of its own) the line, for whoever may.
  std::optional<std::string> note(const Asked& asked, const Act& act, bool effect, const std::string& answer_json);
  /// The answer of the latest entry of that id with an effect, also of those that were in the journal at the start.
  std::optional<std::string> effect_of(const std::string& id) const;
  /// Why a changed script is not in use; empty: it is, or that was told before.
  std::string take_problem();

  const std::filesystem::path& file() const { return file_; }

 private:
  void refresh();
  void load();
  void read_journal();

  const std::filesystem::path file_, journal_;
  std::string service_, prefix_, version_;
  mutable std::mutex mutex_;
  std::filesystem::file_time_type read_{};
  rapidjson::Document document_;
  std::vector<std::int64_t> met_;               ///< how often each rule has fitted
  std::map<std::string, std::string> effects_;  ///< answers by id
  std::string problem_;
};

}  // namespace mock
