#include "host/process/host_options.hpp"

namespace krux {

void add_host_options(CLI::App& app, HostCommandLine& line) {
  app.name("kruxosd");
  app.description("The KruxOS Service Proxy's host.");
  app.set_help_flag("-h,--help", "print help and end");
  app.add_option("--config", line.config_file, "configuration file")->type_name("FILE");
  app.add_flag("--check-config", line.check_only, "check configuration and definitions, and end");
  app.add_flag("--held", line.held, "take the data directory for a copy: hold every write that has not ended");
  app.add_option("--set", line.settings, "a value of the configuration, such as server.port=7701; may be repeated")
      ->type_name("KEY=VALUE");
  const auto shorthand = [&](const char* flag, const char* key, const char* type, const char* help) {
    app.add_option_function<std::string>(
           flag, [&line, key](const std::string& value) { line.settings.push_back(std::string(key) + "=" + value); },
           help)
        ->type_name(type);
  };
  shorthand("--data-dir", "data_dir", "DIR", "where everything is kept");
  shorthand("--plugins-dir", "plugins_dir", "DIR", "where adapters are looked for");
  shorthand("--definitions-dir", "definitions_dir", "DIR", "where the services' definitions are");
  shorthand("--host", "server.host", "ADDRESS", "address the gateway listens on");
  shorthand("--port", "server.port", "PORT", "port the gateway listens on; 0: a free one");
  shorthand("--log-level", "log.level", "LEVEL", "debug, info, warn, error or off");
  app.set_version_flag("--version", "kruxosd " KRUXOS_VERSION, "print the version and end");
}

}  // namespace krux
