// Inflates a gzip file member by member with ISA-L.
// Always holds: the end of a member is believed only in state ISAL_BLOCK_FINISH, because
// isal_inflate reports success on input that stops short; a cut anywhere is an error.
#include "ingest/gzip_source.h"

#include <isa-l/igzip_lib.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "ingest/input_error.h"

namespace somatlas::ingest {
namespace {

constexpr const char* trailing_bytes =
    "has bytes behind its gzip data that are not gzip; fetch it again";

class GzipSource final : public ByteSource {
 public:
  GzipSource(std::unique_ptr<RawFile> file, std::span<const std::byte> head,
             std::size_t input_bytes)
      : file_(std::move(file)), input_(std::max(input_bytes, head.size())) {
    std::copy(head.begin(), head.end(), input_.begin());
    state_.next_in = reinterpret_cast<std::uint8_t*>(input_.data());
    state_.avail_in = static_cast<std::uint32_t>(head.size());
    begin_member();
  }

  [[nodiscard]] std::size_t read(std::span<std::byte> out) override {
    constexpr std::size_t most = std::size_t{1} << 30U;  // ISA-L counts in 32 bits
    const auto wanted = static_cast<std::uint32_t>(std::min(out.size(), most));
    state_.next_out = reinterpret_cast<std::uint8_t*>(out.data());
    state_.avail_out = wanted;
    while (wanted != 0 && state_.avail_out == wanted && phase_ != Phase::done) {
      switch (phase_) {
        case Phase::header:
          read_header();
          break;
        case Phase::data:
          inflate();
          break;
        case Phase::between:
          look_for_member();
          break;
        case Phase::padding:
          read_padding();
          break;
        case Phase::done:
          break;
      }
    }
    return wanted - state_.avail_out;
  }
  [[nodiscard]] const std::string& path() const override { return file_->path(); }
  [[nodiscard]] std::uint64_t file_bytes() const override { return file_->bytes(); }
  [[nodiscard]] Md5Hex md5() const override { return file_->md5(); }

 private:
  enum class Phase { header, data, between, padding, done };

  [[noreturn]] void refuse(const std::string& problem) const {
    throw InputError(file_->path(), 0, problem);
  }

  /// Keeps the output position, which belongs to the caller of read().
  void begin_member() {
    isal_inflate_reset(&state_);
    state_.crc_flag = ISAL_GZIP_NO_HDR_VER;
    isal_gzip_header_init(&header_);
    phase_ = Phase::header;
  }

  /// Makes sure there is input; false at the file's end.
  [[nodiscard]] bool have_input() {
    if (state_.avail_in == 0 && !at_end_) {
      const std::size_t got = file_->read(input_);
      at_end_ = got < input_.size();
      state_.next_in = reinterpret_cast<std::uint8_t*>(input_.data());
      state_.avail_in = static_cast<std::uint32_t>(got);
    }
    return state_.avail_in != 0;
  }

  void read_header() {
    if (!have_input()) {
      refuse("is cut short inside a gzip header; fetch it again");
    }
    // The header is read apart from the data: isal_inflate forgets its flags between two calls.
    const int result = isal_read_gzip_header(&state_, &header_);
    if (result == ISAL_DECOMP_OK) {
      phase_ = Phase::data;
    } else if (result != ISAL_END_INPUT) {
      refuse(members_ == 0 ? "has a damaged gzip header; fetch it again" : trailing_bytes);
    }
  }

  void inflate() {
    const bool more = have_input();
    const std::uint32_t before = state_.avail_out;
    const int result = isal_inflate(&state_);
    if (result == ISAL_INCORRECT_CHECKSUM) {
      refuse("fails the checksum or length in its gzip data; fetch it again");
    }
    if (result < 0) {
      refuse("has damaged gzip data; fetch it again");
    }
    if (state_.block_state == ISAL_BLOCK_FINISH) {
      ++members_;
      phase_ = Phase::between;
    } else if (!more && state_.avail_out == before) {
      refuse("is cut short inside its gzip data; fetch it again");
    }
  }

  void look_for_member() {
    if (!have_input()) {
      phase_ = Phase::done;
    } else if (*state_.next_in == 0) {
      phase_ = Phase::padding;
    } else if (*state_.next_in != 0x1f) {
      refuse(trailing_bytes);
    } else {
      begin_member();
    }
  }

  /// Some tools pad a gzip file with zeros to a block's size; anything else there is damage.
  void read_padding() {
    if (!have_input()) {
      phase_ = Phase::done;
      return;
    }
    const std::span<const std::uint8_t> rest(state_.next_in, state_.avail_in);
    if (std::any_of(rest.begin(), rest.end(), [](std::uint8_t byte) { return byte != 0; })) {
      refuse(trailing_bytes);
    }
    state_.avail_in = 0;
  }

  std::unique_ptr<RawFile> file_;
  std::vector<std::byte> input_;
  inflate_state state_{};
  isal_gzip_header header_{};
  Phase phase_ = Phase::header;
  std::uint64_t members_ = 0;
  bool at_end_ = false;
};

}  // namespace

std::unique_ptr<ByteSource> make_gzip_source(std::unique_ptr<RawFile> file,
                                             std::span<const std::byte> head,
                                             std::size_t input_bytes) {
  return std::make_unique<GzipSource>(std::move(file), head, std::max<std::size_t>(input_bytes, 1));
}

}  // namespace somatlas::ingest
