#include "support/fake_host.hpp"

#include <cstring>

namespace support {
namespace {

std::string text_of(krux_str text) {
  return std::string(kruxos::from_abi(text));
}

template <class T>
T& of(void* self) {
  return *static_cast<T*>(self);
}

}  // namespace

FakeCall::FakeCall(const FakeClock& clock) : clock_(clock) {
  abi_.size = sizeof(abi_);
  abi_.self = this;
  abi_.deadline_ms = clock.now_ms + 300'000;
  abi_.cancelled = [](void* self) noexcept -> std::int32_t { return of<FakeCall>(self).cancelled ? 1 : 0; };
  abi_.now_ms = [](void* self) noexcept { return of<FakeCall>(self).clock_.now_ms; };
  abi_.fail = [](void* self, const krux_failure* f) noexcept {
    auto& first = of<FakeCall>(self).failure;
    if (!first) first = Failure{f->status, f->effect, text_of(f->type), text_of(f->message), f->retry_after_ms};
  };
  abi_.remember = [](void* self, krux_str note) noexcept -> krux_status {
    if (of<FakeCall>(self).abi_.attempt == 0) return KRUX_UNSUPPORTED;
    of<FakeCall>(self).notes.push_back(text_of(note));
    return KRUX_OK;
  };
}

void FakeCall::belongs_to(std::string write_id, std::uint32_t attempt) {
  write_id_ = std::move(write_id);
  abi_.write_id = kruxos::to_abi(write_id_);
  abi_.attempt = attempt;
}

FakeHost::FakeHost() {
  http_.size = sizeof(http_);
  http_.self = this;
  http_.send = [](void* self, const krux_call*, const krux_http_request* request,
                  const krux_http_answer* out) noexcept { return of<FakeHost>(self).answer(request, out); };
  http_.send_many = [](void* self, const krux_call*, const krux_http_request* const* asked,
                       const krux_http_answer* const* answers, krux_status* statuses,
                       std::size_t count) noexcept -> krux_status {
    for (std::size_t i = 0; i < count; ++i) statuses[i] = of<FakeHost>(self).answer(asked[i], answers[i]);
    return KRUX_OK;
  };
  log_table_.size = sizeof(log_table_);
  log_table_.self = this;
  log_table_.write = [](void* self, std::int32_t, krux_str line) noexcept {
    of<FakeHost>(self).log.push_back(text_of(line));
  };
  abi_.size = sizeof(abi_);
  abi_.abi_minor = KRUX_ABI_MINOR;
  abi_.self = this;
  abi_.query = [](void* self, const char* iid) noexcept -> const void* {
    if (std::strcmp(iid, KRUX_IID_HTTP_CLIENT) == 0) return &of<FakeHost>(self).http_;
    if (std::strcmp(iid, KRUX_IID_LOG) == 0) return &of<FakeHost>(self).log_table_;
    return nullptr;
  };
}

krux_status FakeHost::answer(const krux_http_request* request, const krux_http_answer* out) {
  FakeRequest seen{text_of(request->method), text_of(request->url), text_of(request->body), {}};
  for (std::size_t i = 0; i < request->header_count; ++i) {
    seen.headers.emplace_back(text_of(request->headers[i].name), text_of(request->headers[i].value));
  }
  requests.push_back(seen);
  const auto answer =
      on_request ? on_request(seen) : FakeAnswer::failed(kruxos::ErrorKind::kNetwork, "There is no service.");
  if (answer.error) {
    out->failed(out->self, kruxos::to_abi(answer.message), answer.retry_after_ms);
    return static_cast<krux_status>(*answer.error);
  }
  std::vector<krux_header> headers;
  for (const auto& [name, value] : answer.headers) headers.push_back({kruxos::to_abi(name), kruxos::to_abi(value)});
  if (out->head(out->self, answer.status, headers.data(), headers.size()) != 0) return KRUX_CANCELLED;
  // In two parts, as it may come.
  const std::string_view body = answer.body;
  for (const auto part : {body.substr(0, body.size() / 2), body.substr(body.size() / 2)}) {
    if (!part.empty() && out->body(out->self, kruxos::to_abi(part)) != 0) return KRUX_CANCELLED;
  }
  return KRUX_OK;
}

}  // namespace support
