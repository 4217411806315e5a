// A library, but no adapter.
extern "C" __attribute__((visibility("default"))) int add(int a, int b) {
  return a + b;
}
