// ISA-L's inflate, one member at a time.
// Always holds: the end of a member is believed only in state ISAL_BLOCK_FINISH, because
// isal_inflate reports success on input that stops short.
#include <isa-l/igzip_lib.h>

#include <algorithm>

#include "ingest/inflater.h"

namespace somatlas::ingest {
namespace {

class IsalInflater final : public Inflater {
 public:
  void begin() override {
    isal_inflate_reset(&state_);
    state_.crc_flag = ISAL_GZIP_NO_HDR_VER;
    isal_gzip_header_init(&header_);
    in_data_ = false;
  }

  [[nodiscard]] bool in_data() const override { return in_data_; }

  [[nodiscard]] Step inflate(std::span<const std::uint8_t>& in,
                             std::span<std::uint8_t>& out) override {
    constexpr std::size_t most = std::size_t{1} << 30U;  // ISA-L counts in 32 bits
    const std::size_t in_bytes = std::min(in.size(), most);
    const std::size_t out_bytes = std::min(out.size(), most);
    state_.next_in = const_cast<std::uint8_t*>(in.data());  // it only reads them
    state_.avail_in = static_cast<std::uint32_t>(in_bytes);
    state_.next_out = out.data();
    state_.avail_out = static_cast<std::uint32_t>(out_bytes);
    const Step step = in_data_ ? data() : header();
    if (step != Step::going_on && step != Step::finished) {
      // Of a fault ISA-L can give back bytes of an earlier call: where it stopped means nothing.
      return step;
    }
    in = in.subspan(in_bytes - state_.avail_in);
    out = out.subspan(out_bytes - state_.avail_out);
    return step;
  }

 private:
  // The header is read apart from the data: isal_inflate forgets its flags between two calls.
  Step header() {
    const int result = isal_read_gzip_header(&state_, &header_);
    constexpr std::uint32_t reserved_flags = 0xE0;  // RFC 1952 wants them zero; ISA-L does not look
    in_data_ = result == ISAL_DECOMP_OK;
    return (in_data_ && (header_.flags & reserved_flags) == 0) || result == ISAL_END_INPUT
               ? Step::going_on
               : Step::bad_header;
  }

  Step data() {
    const int result = isal_inflate(&state_);
    if (result < 0) {
      return result == ISAL_INCORRECT_CHECKSUM ? Step::bad_checksum : Step::bad_data;
    }
    return state_.block_state == ISAL_BLOCK_FINISH ? Step::finished : Step::going_on;
  }

  inflate_state state_{};
  isal_gzip_header header_{};
  bool in_data_ = false;
};

}  // namespace

std::unique_ptr<Inflater> make_isal_inflater() {
  return std::make_unique<IsalInflater>();
}

std::unique_ptr<Inflater> make_inflater() {
  return make_isal_inflater();
}

}  // namespace somatlas::ingest
