// The gzip half of ByteSource. Internal to ingest/.
// Always holds: what it hands out was inflated from members whose CRC and length are checked when
// they end; nothing follows the last member but zero bytes; what inflates without end is refused.
#pragma once

#include <memory>
#include <span>

#include "ingest/byte_source.h"
#include "ingest/inflater.h"
#include "ingest/raw_file.h"

namespace somatlas::ingest {

/// file's next bytes follow head, which the caller has read. input_bytes sizes the buffer of
/// compressed bytes; any size from 1 gives the same output.
[[nodiscard]] std::unique_ptr<ByteSource> make_gzip_source(
    std::unique_ptr<RawFile> file, std::span<const std::byte> head,
    std::unique_ptr<Inflater> inflater = make_inflater(), std::size_t input_bytes = 1U << 18U);

}  // namespace somatlas::ingest
