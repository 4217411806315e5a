// A parsed mail's parts as GMime has them, for reading and for passing on.
#pragma once

#include <string>
#include <string_view>

#include "gmime.hpp"
#include "read_mail.hpp"

namespace gmail {

struct ParsedMail::Parts {
  std::string copy{};  ///< of a mail that could not be parsed where it lay
  GByteArray* bytes = nullptr;
  Held<GMimeStream> stream{};
  Held<GMimeMessage> message{};  ///< may be null
  MailContent content{};

  Parts() = default;
  Parts(const Parts&) = delete;
  Parts& operator=(const Parts&) = delete;
  ~Parts();
};

/// The part of that id, or null.
GMimeObject* find_part(const ParsedMail::Parts& parts, std::string_view part_id);

/// Gives the part's content without its transfer encoding. Null where it has none.
Held<GMimeStream> decoded_stream(GMimePart* part);

/// A view of bytes that GMime only reads; they must outlive it and all that is made of it. `owner` keeps GLib's shell
/// of them and is given back by release().
Held<GMimeStream> stream_over(std::string_view bytes, GByteArray*& owner);
void release(GByteArray* owner);

/// Reads a stream to its end in pieces. False where the sink said stop.
bool copy_stream(GMimeStream* from, const ByteSink& sink);

std::string mime_type_of(GMimeObject* part);
std::string filename_of(GMimeObject* part);

}  // namespace gmail
