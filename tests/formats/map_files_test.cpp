// Maps of other programs: files made by hand after the formats' descriptions are read, what
// somatlas writes comes back to the last bit, what is no map of somatlas is refused with the first
// place that shows it, and damaged files never do worse than that.
#include "tools/import/map_files.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <numeric>
#include <random>

#include "ingest/input_error.h"
#include "tests/formats/damage.h"
#include "tests/formats/scratch_folder.h"
#include "tests/formats/small_atlas.h"
#include "tests/seed.h"
#include "tools/export/atlas_export.h"
#include "tools/export/npy.h"

namespace somatlas::imports {
namespace {

using exports::BestMatchOrder;
using Planes = std::vector<std::vector<std::uint16_t>>;
using Reader = std::function<CodebookFile(const std::string&)>;

template <typename Value>
std::string bytes_of(const std::vector<Value>& values) {
  std::string bytes(values.size() * sizeof(Value), '\0');
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

std::string somw(std::uint32_t rows, std::uint32_t columns, const std::vector<float>& weights,
                 const std::string& magic = std::string("SSOMW1\0\0", 8)) {
  const auto planes = static_cast<std::uint32_t>(weights.size() / (rows * columns));
  return magic + bytes_of<std::uint32_t>({rows, columns, planes, 0}) + bytes_of(weights);
}

std::string npy(const std::string& dictionary, const std::string& data) {
  return std::string("\x93NUMPY\1\0", 8) + static_cast<char>(dictionary.size()) + '\0' +
         dictionary + data;
}

class MapFiles : public ::testing::Test {
 protected:
  [[nodiscard]] std::string put(const std::string& bytes) const {
    exports::write_text(folder_ / "map", bytes);
    return folder_ / "map";
  }
  /// What a refusal says behind the file's name; empty where there is none.
  template <typename Read>
  [[nodiscard]] std::string refusal(Read&& read, const std::string& bytes) const {
    try {
      static_cast<void>(read(put(bytes)));
    } catch (const ingest::InputError& error) {
      return std::string(error.what()).substr((folder_ / "map").size());
    }
    return "";
  }
  const exports::ScratchFolder folder_;
};

TEST_F(MapFiles, WeightsOfEachProgramAreReadAsTheyAreMeant) {
  const Planes planes{{0, 16383, 8192, 1638}, {16383, 4096, 0, 1}};
  const std::vector<std::string> names{"D000818", "D009369"};
  const auto expect = [&](const CodebookFile& file, const std::vector<std::string>& named) {
    EXPECT_EQ(file.side, 2U);
    EXPECT_EQ(file.names, named);
    EXPECT_EQ(file.planes, planes);
  };
  // ESOM Tools: a comment, tabs; then with what R's writers add: a topology, types, names.
  expect(read_wts(put("# by hand\n% 2 2\n% 2\n0\t1\n1\t0.25\n0.5\t0\n0.1\t0.00006\n")), {});
  expect(read_wts(put("#\n% 2 2 0\n% 2\n% 1 1\n% D000818 D009369\n0 1\n\n1 .25\n.5 0\n1e-1 "
                      "6e-05\n")),
         names);
  // somoclu: no blank behind the %, one before each row.
  expect(read_wts(put("%2 2\n%2\n 0 1\n 1 0.25\n 0.5 0\n 0.1 0.00006\n")), {});
  expect(read_wts(put("#n D000818 D009369\r\n% 2 2\r\n% 2\r\n0 1\r\n1 0.25\r\n0.5 0\r\n0.1 "
                      "0.00006")),
         names);
  // SOM_PAK: labels behind the weights, x fastest.
  expect(read_cod(put("2 rect 2 2 bubble\n0 1 a b\n1 0.25\n# between\n0.5 0 c\n0.1 0.00006\n")),
         {});
  expect(read_cod(put("2 rect 2 2 gaussian\n#n D000818 D009369\n\n0 1\n1 0.25\n0.5 0\n0.1 "
                      "0.00006\n")),
         names);
  const std::vector<float> floats{0, 1, 0.5F, 0.1F, 1, 0.25F, 0, 0.00006F};
  expect(read_somw(put(somw(2, 2, floats))), {});
  expect(read_somw(put(somw(2, 2, floats, std::string("SBSOMW1\0", 8)))), {});
  expect(read_npy(put(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2, 2), }\n",
                          bytes_of(floats)))),
         {});
  expect(read_npy(put(npy("{'shape':(2,2,2),'fortran_order':False,'descr':'<f8'}",
                          bytes_of<double>({0, 1, 0.5, 0.1, 1, 0.25, 0, 0.00006})))),
         {});
  expect(read_npy(put(exports::npy_header(std::vector<std::uint64_t>{2, 2, 2}) +
                      bytes_of<std::uint16_t>({0, 16383, 8192, 1638, 16383, 4096, 0, 1}))),
         {});
}

TEST_F(MapFiles, WeightsMayBeTinyOrHaveASign) {
  const std::string tiny = "0." + std::string(5000, '0') + "1";
  EXPECT_EQ(read_wts(put("% 2 2\n% 1\n1e-400\n+0.5\n" + tiny + "\n+1\n")).planes,
            (std::vector<std::vector<std::uint16_t>>{{0, 8192, 0, 16383}}));
  EXPECT_NE(refusal(read_wts, "% 1 1\n% 1\n1e400\n"), "");
  EXPECT_NE(refusal(read_wts, "% 1 1\n% 1\n+\n"), "");
}

TEST_F(MapFiles, HeightsAndBestMatchesOfEachProgramAreReadAsTheyAreMeant) {
  const std::vector<std::uint32_t> heights{0, 1U << 20, 1U << 19, 1};
  EXPECT_EQ(read_umx(put("% 2 2\n0\t1\n0.5\t0.0000010\n")).heights, heights);
  EXPECT_EQ(read_umx(put("%2 2\n 0 1\n 0.5 0.0000010\n")).heights, heights);
  const auto places = [](const BestMatchFile& file) {
    EXPECT_EQ(file.side, 2U);
    std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;
    for (const auto& match : file.matches) {
      pairs.emplace_back(match.key, match.neuron);
    }
    return pairs;
  };
  const std::vector<std::pair<std::uint32_t, std::uint32_t>> expected{{0, 1}, {7, 2}, {9, 3}};
  EXPECT_EQ(places(read_bm(put("% 2 2\n% 3\n9\t1\t1\n0\t0\t1\n7\t1\t0\n"), BestMatchOrder::esom)),
            expected);
  EXPECT_EQ(places(read_bm(put("%2 2\n%3\n0 1 0\n7 0 1\n9 1 1\n"), BestMatchOrder::somoclu)),
            expected);
  EXPECT_EQ(places(read_bm(put("% 2 2 0\n% 0\n"), BestMatchOrder::esom)).size(), 0U);
  for (const BestMatchOrder order : {BestMatchOrder::esom, BestMatchOrder::somoclu}) {
    for (const std::string header : {"% 2 2", "%\t2 2", " % 2 2"}) {
      EXPECT_FALSE(read_bm(put(header + "\n%1\n0 1 0\n"), order).of_somoclu) << header;
    }
    EXPECT_TRUE(read_bm(put("%2 2\n% 1\n0 1 0\n"), order).of_somoclu);
  }
}

TEST_F(MapFiles, ThatAreNoMapsOfThisKindAreRefusedWithThePlace) {
  const auto starts = [](const std::string& text, const std::string& with) {
    EXPECT_TRUE(text.starts_with(with)) << text;
  };
  const std::string wts = "% 2 2\n% 2\n0 1\n1 0\n0 0\n";
  starts(refusal(read_wts, wts + "0 1.5\n"),
         ":6: weight 2 of the neuron is \"1.5\"; weights lie from 0 to 1");
  starts(refusal(read_wts, wts + "-0.1 0\n"), ":6: weight 1 of the neuron is \"-0.1\"");
  starts(refusal(read_wts, wts + "nan 0\n"), ":6: weight 1 of the neuron is \"nan\"");
  starts(refusal(read_wts, wts + "x 0\n"), ":6: weight 1 of the neuron is \"x\"");
  starts(refusal(read_wts, wts + "0\n"), ":6: the line ends before weight 2");
  starts(refusal(read_wts, wts + "0 0 0\n"), ":6: the neuron has more than 2 weights");
  starts(refusal(read_wts, wts), ":5: the file ends before its 4 neurons");
  starts(refusal(read_wts, wts + "0 0\n0 0\n"), ":7: there are more neurons than the 4");
  starts(refusal(read_wts, "% 2 3\n"), ":1: the map has 2 rows of 3 cells; maps here are square");
  starts(refusal(read_wts, "% 2 2 1\n% 2\n"), ":1: the map is a torus");
  starts(refusal(read_wts, "% 0 0\n"), ":1: a side of 0 makes no map");
  starts(refusal(read_wts, "% 40000 40000\n"), ":1: a side of 40000 makes no map");
  starts(refusal(read_wts, "0 1\n"), ":1: this is not `% rows columns`");
  starts(refusal(read_wts, "% 2 2\n0 1\n"), ":2: this is not `% number of weights`");
  starts(refusal(read_wts, "% 2 2\n% 0\n"), ":2: a neuron has from 1 to 1000000 weights");
  starts(refusal(read_wts, "% 2 2\n% 4000000000\n"), ":2: a neuron has from 1 to");
  starts(refusal(read_wts, ""), ": the file ends in its header");
  starts(refusal(read_cod, "2 hexa 2 2 bubble\n"), ":1: the cells of the map are hexagons");
  starts(refusal(read_cod, "2 rect 3 2 bubble\n"), ":1: the map has 2 rows of 3 cells");
  starts(refusal(read_cod, "2 rect 2 2\n"), ":1: this is not `weights rect|hexa");
  starts(refusal(read_cod, "1 rect 1 1 bubble\nx\n"), ":2: weight 1 of the neuron is \"x\"");
  starts(refusal(read_cod, "1 rect 1 1 bubble\n"), ":1: the file ends before its 1 neurons");
  starts(refusal(read_cod, "# nothing\n"), ":1: there is no codebook");
  starts(refusal(read_somw, somw(2, 2, {0, 0, 0, 1, 0, 0, 2, 0})),
         ": plane 1, row 1, column 0 (from 0): the weight is 2.0");
  starts(refusal(read_somw, somw(1, 2, {0, 0})), ": the map has 1 rows of 2 cells");
  starts(refusal(read_somw, somw(1, 1, {0}) + "x"), ": has 5 bytes of weights where its header");
  starts(refusal(read_somw, somw(1, 1, {0}, "SSOMW2\0\0")), ": does not begin with SSOMW1");
  starts(refusal(read_somw, "SSOMW1"), ": ends in its header");
  starts(refusal(read_npy, exports::npy_header(std::vector<std::uint64_t>{1, 1, 1}) + "\377\377"),
         ": plane 0, row 0, column 0 (from 0): the weight is 65535; whole weights");
  for (const std::string header :
       {"{'descr': '<f4', 'descr': '<f8', 'fortran_order': False, 'shape': (1, 1, 1), }",
        "{\"descr\": '<f4', 'fortran_order': False, 'shape': (1, 1, 1), }", "", "{}"}) {
    starts(refusal(read_npy, npy(header, "0000")), ": does not say 'descr' once in its header");
  }
  starts(refusal(read_npy, npy("{'descr': '<f4', 'fortran_order': False, 'shape': (4, 2), }", "")),
         ": is no array of the axes plane, row, column");
  starts(refusal(read_npy,
                 npy("{'descr': '<f4', 'fortran_order': True, 'shape': (1, 1, 1), }", "0000")),
         ": is not in C order");
  starts(refusal(read_npy,
                 npy("{'descr': '>f4', 'fortran_order': False, 'shape': (1, 1, 1), }", "0000")),
         ": holds values of type \"'>f4'\"");
  starts(
      refusal(read_npy, exports::npy_header(std::vector<std::uint64_t>{999'999, 32'768, 32'768})),
      ": has 0 bytes of weights where its header means");
  starts(
      refusal(read_npy, exports::npy_header(std::vector<std::uint64_t>{1, 1ULL << 40, 1ULL << 40})),
      ": a side of 1099511627776 makes no map");
  starts(refusal(read_umx, "% 1 1\n-1\n"), ":2: \"-1\" is no height");
  starts(refusal(read_umx, "% 1 1\n1 1\n"), ":2: the row has more heights");
  starts(refusal(read_umx, "% 2 2\n1\n"), ":2: the row has 1 of 2 heights");
  starts(refusal(read_umx, "% 2 2\n1 1\n"), ":2: the file ends before its 2 rows");
  const auto esom = [](const std::string& path) { return read_bm(path, BestMatchOrder::esom); };
  starts(refusal(esom, "% 2 2\n% 1\n5 2 0\n"), ":3: row 2, column 0 is outside the map");
  starts(refusal(esom, "% 2 2\n% 1\n5 0\n"), ":3: this is no best match");
  starts(refusal(esom, "% 2 2\n% 1\n5 0 0\n6 0 0\n"), ":4: there are more best matches");
  starts(refusal(esom, "% 2 2\n% 3\n5 0 0\n"), ":3: the file ends 2 best matches early");
  starts(refusal(esom, "% 2 2\n% 2\n5 0 0\n5 0 1\n"), ":4: the key 5 stands in it twice");
}

/// An atlas with every weight there is, in planes of 128 x 128 cells.
class EveryWeight : public MapFiles {
 protected:
  static constexpr std::uint32_t side = 128;
  void SetUp() override {
    std::mt19937_64 random(test_seed());
    std::vector<store::AtlasDescriptor> descriptors;
    for (const std::uint32_t number : {3U, 818U, 9369U}) {
      std::vector<std::uint16_t>& plane = planes_.emplace_back(side * side);
      std::iota(plane.begin(), plane.end(), std::uint16_t{0});
      std::shuffle(plane.begin(), plane.end(), random);
      descriptors.push_back({store::descriptor_code(number, 6), "name", {}, 1});
      names_.push_back(store::descriptor_ui(descriptors.back().code));
    }
    atlas_ = store::Atlas::open(folder_ / "atlas", store::Atlas::Access::create);
    std::size_t next = 0;
    atlas_->put_planes([&](store::AtlasDescriptor& descriptor, std::string& plane) {
      if (next == planes_.size()) {
        return false;
      }
      descriptor = descriptors[next];
      plane = store::encode_plane(descriptor.code, planes_[next++]);
      return true;
    });
    store::AtlasCells cells;
    const std::size_t neurons = side * side;
    cells.norm.resize(neurons);
    cells.square_sum.resize(neurons);
    cells.vacant.resize(neurons);
    cells.hits.resize(neurons);
    cells.year_count.resize(neurons);
    cells.year_sum.resize(neurons);
    for (std::size_t i = 0; i < neurons; ++i) {
      cells.height.push_back(static_cast<std::uint32_t>(random() % (std::uint64_t{4000} << 20)));
    }
    cells.leading.assign(neurons * store::leading_per_cell, store::no_descriptor);
    cells.leading_weight.resize(neurons * store::leading_per_cell);
    cells.recent_count.resize(neurons);
    cells.region.resize(neurons);
    for (auto& level : cells.levels) {
      level = {{"a region", 0, static_cast<std::uint32_t>(neurons), 0, 0, 0, 0, 0, {}}};
    }
    heights_ = cells.height;
    atlas_->put_cells(cells);
    pipeline::AtlasMeta meta;
    meta.settings.side = side;
    atlas_->put_meta(pipeline::meta_atlas, pipeline::to_json(meta));
  }

  Planes planes_;
  std::vector<std::string> names_;
  std::vector<std::uint32_t> heights_;
  std::unique_ptr<store::Atlas> atlas_;
};

TEST_F(EveryWeight, ComesBackToTheLastBit) {
  const auto to = [&](const std::string& name) {
    return exports::Target{folder_ / name, exports::Existing::refuse, {}};
  };
  ASSERT_TRUE(exports::export_wts(*atlas_, "", to("wts")));
  ASSERT_TRUE(exports::export_cod(*atlas_, "", to("cod")));
  ASSERT_TRUE(exports::export_somw(*atlas_, "", to("somw")));
  ASSERT_TRUE(exports::export_npy(*atlas_, folder_ / "npy", exports::Existing::refuse, {}));
  ASSERT_TRUE(exports::export_umx(*atlas_, to("umx")));
  const auto expect = [&](const CodebookFile& file, const std::vector<std::string>& names) {
    EXPECT_EQ(file.side, side);
    EXPECT_EQ(file.names, names);
    EXPECT_TRUE(file.planes == planes_);
  };
  expect(read_wts(folder_ / "wts"), names_);
  expect(read_cod(folder_ / "cod"), names_);
  expect(read_somw(folder_ / "somw/codebook.somw"), {});
  expect(read_npy(folder_ / "npy/planes.npy"), {});
  EXPECT_TRUE(read_umx(folder_ / "umx").heights == heights_);
}

TEST_F(MapFiles, BestMatchesThatWereExportedComeBack) {
  const exports::SmallAtlas small;
  small.make_atlas(folder_ / "atlas", "id", "state");
  const auto atlas = store::Atlas::open(folder_ / "atlas", store::Atlas::Access::read);
  for (const BestMatchOrder order : {BestMatchOrder::esom, BestMatchOrder::somoclu}) {
    ASSERT_TRUE(
        exports::export_bm(*atlas, order, {folder_ / "bm", exports::Existing::replace, {}}));
    const BestMatchFile file = read_bm(folder_ / "bm", order);
    EXPECT_EQ(file.side, exports::SmallAtlas::side);
    auto match = file.matches.begin();
    for (const auto& [pmid, codes] : small.articles()) {
      if (const auto place = small.place(codes)) {
        ASSERT_NE(match, file.matches.end());
        EXPECT_EQ(match->key, pmid);
        EXPECT_EQ((match++)->neuron, place->neuron);
      }
    }
    EXPECT_EQ(match, file.matches.end());
  }
}

TEST_F(MapFiles, DamagedAnywhereAreReadOrRefused) {
  std::mt19937_64 random(test_seed());
  std::string wts = "#n D000001 D000002 D000003\n% 6 6\n% 3\n";
  std::string cod = "3 rect 6 6 bubble\n";
  std::string umx = "%6 6\n";
  std::string bm = "%6 6\n%36\n";
  std::vector<float> floats;
  for (int i = 0; i < 36; ++i) {
    wts += "0.25 0 1\n";
    cod += "0.25 0 1 label\n";
    umx += i % 6 == 5 ? " 0.5\n" : " 0.5";
    bm += std::to_string(i) + " 1 2\n";
    floats.insert(floats.end(), {0.25F, 0, 1});
  }
  const auto check = [](const CodebookFile& file) {
    for (const auto& plane : file.planes) {
      EXPECT_EQ(plane.size(), std::size_t{file.side} * file.side);
      EXPECT_LE(*std::max_element(plane.begin(), plane.end()), 16383);
    }
    EXPECT_FALSE(file.planes.empty());
  };
  const std::vector<std::pair<std::string, std::function<void(const std::string&)>>> files{
      {wts, [&](const std::string& path) { check(read_wts(path)); }},
      {cod, [&](const std::string& path) { check(read_cod(path)); }},
      {somw(6, 6, floats), [&](const std::string& path) { check(read_somw(path)); }},
      {npy("{'descr': '<f4', 'fortran_order': False, 'shape': (3, 6, 6), }", bytes_of(floats)),
       [&](const std::string& path) { check(read_npy(path)); }},
      {umx,
       [](const std::string& path) {
         const HeightsFile file = read_umx(path);
         EXPECT_EQ(file.heights.size(), std::size_t{file.side} * file.side);
       }},
      {bm, [](const std::string& path) {
         const BestMatchFile file = read_bm(path, BestMatchOrder::esom);
         for (const auto& match : file.matches) {
           EXPECT_LT(match.neuron, file.side * file.side);
         }
       }}};
  for (const auto& [whole, read] : files) {
    EXPECT_NO_THROW(read(put(whole)));
    for (int trial = 0; trial < 400; ++trial) {
      try {
        read(put(exports::damaged(whole, random)));
      } catch (const ingest::InputError&) {
      }
    }
  }
}

}  // namespace
}  // namespace somatlas::imports
