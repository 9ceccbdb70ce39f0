// zlib's inflate, one gzip member at a time.
#include <zlib.h>

#include <algorithm>
#include <limits>
#include <new>
#include <string_view>

#include "ingest/inflater.h"

namespace somatlas::ingest {
namespace {

class ZlibInflater final : public Inflater {
 public:
  ZlibInflater() {
    constexpr int largest_window = 15;
    constexpr int gzip_alone = 16;
    if (inflateInit2(&stream_, largest_window + gzip_alone) != Z_OK) {
      throw std::bad_alloc();
    }
  }
  ~ZlibInflater() override { inflateEnd(&stream_); }
  ZlibInflater(const ZlibInflater&) = delete;
  ZlibInflater& operator=(const ZlibInflater&) = delete;

  void begin() override {
    inflateReset(&stream_);
    header_ = {};
    inflateGetHeader(&stream_, &header_);
  }

  [[nodiscard]] bool in_data() const override { return header_.done == 1; }

  [[nodiscard]] Step inflate(std::span<const std::uint8_t>& in,
                             std::span<std::uint8_t>& out) override {
    constexpr std::size_t most = std::numeric_limits<uInt>::max();
    const std::size_t in_bytes = std::min(in.size(), most);
    const std::size_t out_bytes = std::min(out.size(), most);
    stream_.next_in = const_cast<std::uint8_t*>(in.data());  // it only reads them
    stream_.avail_in = static_cast<uInt>(in_bytes);
    stream_.next_out = out.data();
    stream_.avail_out = static_cast<uInt>(out_bytes);
    const int result = ::inflate(&stream_, Z_NO_FLUSH);
    in = in.subspan(in_bytes - stream_.avail_in);
    out = out.subspan(out_bytes - stream_.avail_out);
    switch (result) {
      case Z_STREAM_END:
        return Step::finished;
      case Z_OK:
      case Z_BUF_ERROR:  // nothing to do without input or room
        return Step::going_on;
      case Z_MEM_ERROR:
        throw std::bad_alloc();
      default:
        break;
    }
    const std::string_view message = stream_.msg == nullptr ? "" : stream_.msg;
    if (message == "incorrect data check" || message == "incorrect length check") {
      return Step::bad_checksum;
    }
    return in_data() ? Step::bad_data : Step::bad_header;
  }

 private:
  z_stream stream_{};
  gz_header header_{};
};

}  // namespace

std::unique_ptr<Inflater> make_zlib_inflater() {
  return std::make_unique<ZlibInflater>();
}

}  // namespace somatlas::ingest
