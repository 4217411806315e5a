// The entry's name, but a function behind it.
extern "C" __attribute__((visibility("default"))) int krux_plugin_v1() {
  return 1;
}
