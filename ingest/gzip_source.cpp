// Strings the members of a gzip file together, whatever library inflates them.
// Always holds: a cut anywhere is an error, and so is anything but zero bytes behind the last
// member.
#include "ingest/gzip_source.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "ingest/input_error.h"

namespace somatlas::ingest {
namespace {

constexpr const char* trailing_bytes =
    "has bytes behind its gzip data that are not gzip; fetch it again";

/// Deflate makes up to 1,032 bytes of one; of MEDLINE's text about ten. A file that makes more than
/// this is built to keep its reader busy.
constexpr std::uint64_t most_inflation = 100;
/// Up to here any file is inflated.
constexpr std::uint64_t always_inflated = std::uint64_t{64} << 20U;

class GzipSource final : public ByteSource {
 public:
  GzipSource(std::unique_ptr<RawFile> file, std::span<const std::byte> head,
             std::unique_ptr<Inflater> inflater, std::size_t input_bytes)
      : file_(std::move(file)),
        inflater_(std::move(inflater)),
        input_(std::max({input_bytes, head.size(), std::size_t{1}})) {
    std::copy(head.begin(), head.end(), input_.begin());
    take_input(head.size());
    inflater_->begin();
  }

  [[nodiscard]] std::size_t read(std::span<std::byte> out) override {
    std::span<std::uint8_t> room(reinterpret_cast<std::uint8_t*>(out.data()), out.size());
    while (!out.empty() && room.size() == out.size() && phase_ != Phase::done) {
      switch (phase_) {
        case Phase::member:
          inflate(room);
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
    const std::size_t made = out.size() - room.size();
    bytes_out_ += made;
    if (bytes_out_ > always_inflated && bytes_out_ / most_inflation > file_->bytes()) {
      refuse("inflates to more than " + std::to_string(most_inflation) +
             " times its size, which no MEDLINE file does; fetch it again");
    }
    return made;
  }
  [[nodiscard]] const std::string& path() const override { return file_->path(); }
  [[nodiscard]] std::uint64_t file_bytes() const override { return file_->bytes(); }
  [[nodiscard]] Md5Hex md5() const override { return file_->md5(); }

 private:
  enum class Phase { member, between, padding, done };

  [[noreturn]] void refuse(const std::string& problem) const {
    throw InputError(file_->path(), 0, problem);
  }

  void take_input(std::size_t bytes) {
    rest_ = {reinterpret_cast<const std::uint8_t*>(input_.data()), bytes};
  }

  /// Makes sure there is input; false at the file's end.
  [[nodiscard]] bool have_input() {
    if (rest_.empty() && !at_end_) {
      const std::size_t got = file_->read(input_);
      at_end_ = got < input_.size();
      take_input(got);
    }
    return !rest_.empty();
  }

  void inflate(std::span<std::uint8_t>& room) {
    const bool more = have_input();
    const bool in_data = inflater_->in_data();
    if (!more && !in_data) {
      refuse("is cut short inside a gzip header; fetch it again");
    }
    const std::size_t room_before = room.size();
    switch (inflater_->inflate(rest_, room)) {
      case Step::finished:
        ++members_;
        phase_ = Phase::between;
        break;
      case Step::going_on:
        if (!more && room.size() == room_before && in_data) {
          refuse("is cut short inside its gzip data; fetch it again");
        }
        break;
      case Step::bad_header:
        refuse(members_ == 0 ? "has a damaged gzip header; fetch it again" : trailing_bytes);
      case Step::bad_data:
        refuse("has damaged gzip data; fetch it again");
      case Step::bad_checksum:
        refuse("fails the checksum or length in its gzip data; fetch it again");
    }
  }

  void look_for_member() {
    if (!have_input()) {
      phase_ = Phase::done;
    } else if (rest_.front() == 0) {
      phase_ = Phase::padding;
    } else if (rest_.front() != 0x1f) {
      refuse(trailing_bytes);
    } else {
      inflater_->begin();
      phase_ = Phase::member;
    }
  }

  /// Some tools pad a gzip file with zeros to a block's size; anything else there is damage.
  void read_padding() {
    if (!have_input()) {
      phase_ = Phase::done;
      return;
    }
    if (std::any_of(rest_.begin(), rest_.end(), [](std::uint8_t byte) { return byte != 0; })) {
      refuse(trailing_bytes);
    }
    rest_ = {};
  }

  std::unique_ptr<RawFile> file_;
  std::unique_ptr<Inflater> inflater_;
  std::vector<std::byte> input_;
  std::span<const std::uint8_t> rest_;  // of the input
  Phase phase_ = Phase::member;
  std::uint64_t members_ = 0;
  std::uint64_t bytes_out_ = 0;
  bool at_end_ = false;
};

}  // namespace

std::unique_ptr<ByteSource> make_gzip_source(std::unique_ptr<RawFile> file,
                                             std::span<const std::byte> head,
                                             std::unique_ptr<Inflater> inflater,
                                             std::size_t input_bytes) {
  return std::make_unique<GzipSource>(std::move(file), head, std::move(inflater), input_bytes);
}

}  // namespace somatlas::ingest
