// The values of an atlas to bytes and back, as the header lays them out.
// Always holds: what breaks an invariant is neither written nor returned.
#include "store/atlas_codec.h"

#include <limits>

#include "store/column_codec.h"
#include "store/frame.h"

namespace somatlas::store {
namespace {

constexpr std::size_t mebibyte = std::size_t{1} << 20;
constexpr FrameKind assignment_kind{"SOMA", atlas_format, 2 * mebibyte};
constexpr FrameKind places_kind{"SOMP", atlas_format, 2 * mebibyte};
constexpr FrameKind plane_kind{"SOMW", atlas_format, 1024 * mebibyte};
constexpr FrameKind cells_kind{"SOMC", atlas_format, 4096 * mebibyte};
constexpr FrameKind level_kind{"SOMR", atlas_format, 1024 * mebibyte};
constexpr FrameKind index_kind{"SOMI", atlas_format, 4096 * mebibyte};
constexpr std::uint64_t max_u32 = std::numeric_limits<std::uint32_t>::max();

void require(bool holds, const char* breach) {
  if (!holds)
    throw StoreError(breach);
}

void require_ascending(std::span<const std::uint16_t> low) {
  for (std::size_t r = 1; r < low.size(); ++r)
    require(low[r - 1] < low[r], "its PMIDs are not in order");
}

OpenedFrame open_of(const FrameKind& kind, std::string_view bytes, std::uint32_t number) {
  OpenedFrame frame = open_frame(kind, bytes);
  require(frame.range == number, "it belongs under another key");
  return frame;
}

/// later[r] less earlier[r], modulo 2^32: seconds lie near firsts.
std::vector<std::uint32_t> difference(std::span<const std::uint32_t> later,
                                      std::span<const std::uint32_t> earlier) {
  std::vector<std::uint32_t> out(later.size());
  for (std::size_t r = 0; r < out.size(); ++r)
    out[r] = later[r] - earlier[r];
  return out;
}

template <typename T>
std::span<const T> view(const std::vector<T>& column) {
  return column;
}

template <typename T>
std::string encode_cell_column(std::uint32_t number, const std::vector<T>& column) {
  std::string content;
  put_varint(content, column.size());
  put_column(content, view(column));
  return seal_frame(cells_kind, number, content);
}

template <typename T>
std::vector<T> decode_cell_column(std::uint32_t number, std::string_view bytes) {
  const OpenedFrame frame = open_of(cells_kind, bytes, number);
  ByteReader in(frame.content);
  const std::uint64_t rows = in.varint(in.left());
  std::vector<T> column = get_column<T>(in, static_cast<std::size_t>(rows));
  in.expect_end();
  return column;
}

void check_cells(const AtlasCells& cells) {
  const std::size_t neurons = cells.norm.size();
  require(cells.square_sum.size() == neurons && cells.vacant.size() == neurons &&
              cells.hits.size() == neurons && cells.year_count.size() == neurons &&
              cells.year_sum.size() == neurons && cells.height.size() == neurons &&
              cells.leading.size() == neurons * leading_per_cell &&
              cells.recent_count.size() == neurons &&
              cells.leading_weight.size() == neurons * leading_per_cell &&
              cells.region.size() == neurons,
          "the columns of its cells are not of one length");
  for (const std::uint32_t region : cells.region)
    require(region < cells.levels[0].size(), "a cell lies in no region");
  for (std::size_t level = 0; level < region_levels; ++level)
    for (const AtlasRegion& region : cells.levels[level]) {
      require(level + 1 == region_levels ? region.parent == 0
                                         : region.parent < cells.levels[level + 1].size(),
              "a region lies in none of the next level");
      require(region.centre < neurons, "the centre of a region is not on the map");
      require(region.leading.size() <= leading_per_region, "a region has too many descriptors");
    }
}

std::string encode_level(std::uint32_t number, const AtlasCells& cells) {
  const std::vector<AtlasRegion>& regions = cells.levels[number - 1];
  std::string content;
  put_varint(content, cells.recent_from);
  put_varint(content, regions.size());
  for (const AtlasRegion& region : regions) {
    put_varint(content, region.name.size());
    content += region.name;
    for (const std::uint64_t value :
         {std::uint64_t{region.parent}, std::uint64_t{region.cells}, std::uint64_t{region.centre},
          region.hits, region.year_count, region.year_sum, region.recent_count,
          std::uint64_t{region.leading.size()}})
      put_varint(content, value);
    for (const AtlasRegion::Leading& leading : region.leading) {
      put_varint(content, leading.code);
      put_varint(content, leading.articles);
    }
  }
  return seal_frame(level_kind, number, content);
}

void decode_level(std::uint32_t number, std::string_view bytes, AtlasCells& cells) {
  constexpr std::uint64_t any = std::numeric_limits<std::uint64_t>::max();
  const OpenedFrame frame = open_of(level_kind, bytes, number);
  ByteReader in(frame.content);
  const auto number_below = [&in](std::uint64_t limit) {
    return static_cast<std::uint32_t>(in.varint(limit));
  };
  const std::uint32_t recent_from = number_below(max_u32);
  require(number == 1 || recent_from == cells.recent_from, "its levels are of different years");
  cells.recent_from = recent_from;
  for (std::uint64_t left = in.varint(in.left()); left > 0; --left) {
    AtlasRegion& region = cells.levels[number - 1].emplace_back();
    region.name = in.text(static_cast<std::size_t>(in.varint(in.left())));
    region.parent = number_below(max_u32);
    region.cells = number_below(max_u32);
    region.centre = number_below(max_u32);
    region.hits = in.varint(any);
    region.year_count = in.varint(any);
    region.year_sum = in.varint(any);
    region.recent_count = in.varint(any);
    region.leading.resize(static_cast<std::size_t>(in.varint(leading_per_region)));
    for (AtlasRegion::Leading& leading : region.leading) {
      leading.code = number_below(max_u32);
      leading.articles = in.varint(any);
    }
  }
  in.expect_end();
}

}  // namespace

void put_ascending(std::string& out, std::span<const std::uint16_t> column) {
  std::uint32_t next = 0;
  for (const std::uint16_t value : column) {
    put_varint(out, value - next);
    next = value + 1U;
  }
}

std::vector<std::uint16_t> get_ascending(ByteReader& in, std::size_t rows) {
  constexpr std::uint64_t limit = std::numeric_limits<std::uint16_t>::max();
  require(rows <= in.left(), "it is cut short");
  std::vector<std::uint16_t> column(rows);
  std::uint64_t next = 0;
  for (std::uint16_t& value : column) {
    next += in.varint(limit);
    require(next <= limit, "a PMID lies outside its range");
    value = static_cast<std::uint16_t>(next++);
  }
  return column;
}

std::string encode_assignment(const AssignmentShard& shard) {
  const std::size_t rows = shard.neuron.size();
  const bool named = !shard.low.empty();
  require(shard.low.size() == (named ? rows : 0) && shard.fingerprint.size() == shard.low.size(),
          "the columns of an assignment are not of one length");
  require_ascending(shard.low);
  std::string content;
  put_varint(content, rows);
  put_varint(content, named ? 1 : 0);
  put_ascending(content, shard.low);
  put_column(content, view(shard.neuron));
  put_column(content, view(shard.fingerprint));
  return seal_frame(assignment_kind, shard.range, content);
}

AssignmentShard decode_assignment(std::string_view bytes, std::uint32_t range) {
  const OpenedFrame frame = open_of(assignment_kind, bytes, range);
  ByteReader in(frame.content);
  const auto rows = static_cast<std::size_t>(in.varint(pmids_per_shard));
  const std::size_t named_rows = in.varint(1) == 1 ? rows : 0;
  AssignmentShard shard;
  shard.range = range;
  shard.low = get_ascending(in, named_rows);
  shard.neuron = get_column<std::uint32_t>(in, rows);
  shard.fingerprint = get_column<std::uint64_t>(in, named_rows);
  in.expect_end();
  return shard;
}

std::string encode_places(const PlaceShard& shard) {
  const std::size_t rows = shard.low.size();
  require(
      shard.neuron.size() == rows && shard.second.size() == rows && shard.distance.size() == rows,
      "the columns of places are not of one length");
  require_ascending(shard.low);
  std::string content;
  put_varint(content, rows);
  put_ascending(content, shard.low);
  put_column(content, view(shard.neuron));
  put_column(content, view(difference(shard.second, shard.neuron)));
  put_column(content, view(shard.distance));
  return seal_frame(places_kind, shard.range, content);
}

PlaceShard decode_places(std::string_view bytes, std::uint32_t range) {
  const OpenedFrame frame = open_of(places_kind, bytes, range);
  ByteReader in(frame.content);
  const auto rows = static_cast<std::size_t>(in.varint(pmids_per_shard));
  PlaceShard shard;
  shard.range = range;
  shard.low = get_ascending(in, rows);
  shard.neuron = get_column<std::uint32_t>(in, rows);
  shard.second = get_column<std::uint32_t>(in, rows);
  for (std::size_t r = 0; r < rows; ++r)
    shard.second[r] += shard.neuron[r];
  shard.distance = get_column<std::uint32_t>(in, rows);
  in.expect_end();
  return shard;
}

std::string encode_plane(DescriptorCode code, std::span<const std::uint16_t> plane) {
  std::vector<std::uint16_t> steps(plane.size());
  std::uint16_t last = 0;
  for (std::size_t i = 0; i < plane.size(); ++i) {
    const auto step = static_cast<std::int16_t>(plane[i] - last);
    steps[i] = static_cast<std::uint16_t>(zigzag(step));
    last = plane[i];
  }
  std::string content;
  content.reserve(plane.size() * 2 + 10);
  put_varint(content, plane.size());
  put_column(content, view(steps));
  return seal_frame(plane_kind, code, content);
}

std::vector<std::uint16_t> decode_plane(std::string_view bytes, DescriptorCode code) {
  const OpenedFrame frame = open_of(plane_kind, bytes, code);
  ByteReader in(frame.content);
  const auto rows = static_cast<std::size_t>(in.varint(in.left()));
  std::vector<std::uint16_t> plane = get_column<std::uint16_t>(in, rows);
  in.expect_end();
  std::uint16_t last = 0;
  for (std::uint16_t& weight : plane) {
    weight = static_cast<std::uint16_t>(last + unzigzag(weight));
    last = weight;
  }
  return plane;
}

std::vector<std::string> encode_cells(const AtlasCells& cells) {
  check_cells(cells);
  return {encode_cell_column(0, cells.norm),
          encode_cell_column(1, cells.square_sum),
          encode_cell_column(2, cells.vacant),
          encode_cell_column(3, cells.hits),
          encode_cell_column(4, cells.year_count),
          encode_cell_column(5, cells.year_sum),
          encode_cell_column(6, cells.height),
          encode_cell_column(7, cells.leading),
          encode_cell_column(8, cells.recent_count),
          encode_cell_column(9, cells.leading_weight),
          encode_cell_column(10, cells.region),
          encode_level(1, cells),
          encode_level(2, cells),
          encode_level(3, cells)};
}

AtlasCells decode_cells(std::span<const std::string> values) {
  require(values.size() == cell_keys.size(), "a column of its cells is missing");
  AtlasCells cells;
  cells.norm = decode_cell_column<std::int32_t>(0, values[0]);
  cells.square_sum = decode_cell_column<std::uint64_t>(1, values[1]);
  cells.vacant = decode_cell_column<std::uint8_t>(2, values[2]);
  cells.hits = decode_cell_column<std::uint32_t>(3, values[3]);
  cells.year_count = decode_cell_column<std::uint32_t>(4, values[4]);
  cells.year_sum = decode_cell_column<std::uint64_t>(5, values[5]);
  cells.height = decode_cell_column<std::uint32_t>(6, values[6]);
  cells.leading = decode_cell_column<std::uint32_t>(7, values[7]);
  cells.recent_count = decode_cell_column<std::uint32_t>(8, values[8]);
  cells.leading_weight = decode_cell_column<std::uint16_t>(9, values[9]);
  cells.region = decode_cell_column<std::uint32_t>(10, values[10]);
  for (std::uint32_t level = 1; level <= region_levels; ++level)
    decode_level(level, values[10 + level], cells);
  check_cells(cells);
  return cells;
}

std::string encode_articles(std::string_view key, std::span<const std::uint32_t> pmids) {
  std::string payload;
  put_varint(payload, pmids.size());
  std::uint64_t next = 0;
  for (const std::uint32_t pmid : pmids) {
    require(pmid >= next, "the articles of a cell are not in order");
    put_varint(payload, pmid - next);
    next = std::uint64_t{pmid} + 1;
  }
  return seal_value(key, payload);
}

EncodedArticles encoded(std::uint32_t neuron, std::span<const std::uint32_t> pmids) {
  std::string key;
  put_big_endian(key, neuron, 4);
  return {neuron, encode_articles(key, pmids)};
}

std::vector<std::uint32_t> decode_articles(std::string_view key, std::string_view bytes) {
  ByteReader in(open_value(key, bytes));
  std::vector<std::uint32_t> pmids(static_cast<std::size_t>(in.varint(in.left())));
  std::uint64_t next = 0;
  for (std::uint32_t& pmid : pmids) {
    next += in.varint(max_u32);
    require(next <= max_u32, "a PMID is past the last one");
    pmid = static_cast<std::uint32_t>(next++);
  }
  in.expect_end();
  return pmids;
}

std::string encode_index(const FamilyIndex& index) {
  std::string content;
  put_varint(content, index.keys.size());
  for (const std::string& key : index.keys) {
    put_varint(content, key.size());
    content += key;
  }
  return seal_frame(index_kind, index.generation, content);
}

FamilyIndex decode_index(std::string_view bytes) {
  const OpenedFrame frame = open_frame(index_kind, bytes);
  ByteReader in(frame.content);
  FamilyIndex index;
  index.generation = frame.range;
  const std::uint64_t count = in.varint(in.left());
  for (std::uint64_t i = 0; i < count; ++i) {
    index.keys.emplace_back(in.text(static_cast<std::size_t>(in.varint(in.left()))));
    require(i == 0 || index.keys[i - 1] < index.keys[i], "its keys are not in order");
  }
  in.expect_end();
  return index;
}

}  // namespace somatlas::store
