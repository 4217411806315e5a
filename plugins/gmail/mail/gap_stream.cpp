#include "gap_stream.hpp"

#include <cstdio>

namespace gmail {
namespace {

struct GGap {
  GMimeStream parent;
  GapStream* owner;
  gboolean read;
};
struct GGapClass {
  GMimeStreamClass parent;
};

GGap& of(GMimeStream* stream) {
  return *reinterpret_cast<GGap*>(stream);  // NOLINT(cppcoreguidelines-pro-type-reinterpret-cast)
}

ssize_t read_nothing(GMimeStream* stream, char*, size_t) noexcept {
  auto& gap = of(stream);
  if (!gap.read) gap.owner->reached();
  gap.read = TRUE;
  return 0;
}

void fill_class(gpointer klass, gpointer) {
  auto& stream = *static_cast<GMimeStreamClass*>(klass);
  stream.read = read_nothing;
  stream.write = [](GMimeStream*, const char*, size_t) -> ssize_t { return -1; };
  stream.flush = [](GMimeStream*) { return 0; };
  stream.close = [](GMimeStream*) { return 0; };
  stream.eos = [](GMimeStream* self) -> gboolean { return of(self).read; };
  stream.reset = [](GMimeStream*) { return 0; };
  stream.seek = [](GMimeStream*, gint64, GMimeSeekWhence) -> gint64 { return 0; };
  stream.tell = [](GMimeStream*) -> gint64 { return 0; };
  stream.length = [](GMimeStream*) -> gint64 { return 0; };
  stream.substream = [](GMimeStream*, gint64, gint64) -> GMimeStream* { return nullptr; };
}

GType gap_type() {
  static const GType type = [] {
    static const char here = 0;
    // GLib's names are the process's, and a process may hold a second copy of this code.
    char name[64];
    std::snprintf(name, sizeof(name), "KruxosGapStream%p", static_cast<const void*>(&here));
    const GTypeInfo info{sizeof(GGapClass), nullptr,      nullptr, fill_class, nullptr,
                         nullptr,           sizeof(GGap), 0,       nullptr,    nullptr};
    return g_type_register_static(GMIME_TYPE_STREAM, name, &info, static_cast<GTypeFlags>(0));
  }();
  return type;
}

}  // namespace

GapStream::GapStream(std::function<void()> when_reached) : reached(std::move(when_reached)) {
  start_gmime();
  auto* const made = static_cast<GGap*>(g_object_new(gap_type(), nullptr));
  made->owner = this;
  made->read = FALSE;
  stream_.reset(&made->parent);
  g_mime_stream_construct(stream_.get(), 0, -1);
}

}  // namespace gmail
