#include "sink_stream.hpp"

#include <cstdio>
#include <mutex>

namespace gmail {
namespace {

struct GSink {
  GMimeStream parent;
  SinkStream* owner;
};
struct GSinkClass {
  GMimeStreamClass parent;
};

ssize_t write_bytes(GMimeStream* stream, const char* bytes, size_t count) noexcept {
  auto& owner = *reinterpret_cast<GSink*>(stream)->owner;  // NOLINT(cppcoreguidelines-pro-type-reinterpret-cast)
  if (owner.ended) return -1;
  try {
    owner.ended = !owner.sink({bytes, count});
  } catch (...) {
    owner.error = std::current_exception();
    owner.ended = true;
  }
  if (owner.ended) return -1;
  stream->position += static_cast<gint64>(count);
  return static_cast<ssize_t>(count);
}

void fill_class(gpointer klass, gpointer) {
  auto& stream = *static_cast<GMimeStreamClass*>(klass);
  stream.write = write_bytes;
  stream.read = [](GMimeStream*, char*, size_t) -> ssize_t { return -1; };
  stream.flush = [](GMimeStream*) { return 0; };
  stream.close = [](GMimeStream*) { return 0; };
  stream.eos = [](GMimeStream*) -> gboolean { return TRUE; };
  stream.reset = [](GMimeStream*) { return -1; };
  stream.seek = [](GMimeStream*, gint64, GMimeSeekWhence) -> gint64 { return -1; };
  stream.tell = [](GMimeStream* self) -> gint64 { return self->position; };
  stream.length = [](GMimeStream*) -> gint64 { return -1; };
  stream.substream = [](GMimeStream*, gint64, gint64) -> GMimeStream* { return nullptr; };
}

GType sink_type() {
  static const GType type = [] {
    static const char here = 0;
    // GLib's names are the process's, and a process may hold a second copy of this code.
    char name[64];
    std::snprintf(name, sizeof(name), "KruxosSinkStream%p", static_cast<const void*>(&here));
    const GTypeInfo info{sizeof(GSinkClass), nullptr, nullptr, fill_class, nullptr, nullptr,
                         sizeof(GSink),      0,       nullptr, nullptr};
    return g_type_register_static(GMIME_TYPE_STREAM, name, &info, static_cast<GTypeFlags>(0));
  }();
  return type;
}

}  // namespace

SinkStream::SinkStream(const ByteSink& to) : sink(to) {
  start_gmime();
  auto* const made = static_cast<GSink*>(g_object_new(sink_type(), nullptr));
  made->owner = this;
  stream_.reset(&made->parent);
  g_mime_stream_construct(stream_.get(), 0, -1);
}

bool SinkStream::finish() const {
  if (error) std::rethrow_exception(error);
  return !ended;
}

}  // namespace gmail
