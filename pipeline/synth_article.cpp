// Draws articles: check tags one by one, then descriptors in three layers, from the article's
// topic, from its area and from all. Where a layer meets a descriptor that is there already, one
// from all takes its place.
#include "pipeline/synth_article.h"

#include <algorithm>

namespace somatlas::pipeline {

namespace {

// Of 128 PMIDs one in each run of 14 belongs to no article: 119 are left, 93 %.
constexpr std::uint64_t pmids_a_block = 128;
constexpr std::uint64_t gaps_a_block = 9;
constexpr std::uint64_t gap_stride = 14;
constexpr std::uint64_t articles_a_block = pmids_a_block - gaps_a_block;

// Larger than any topic, hence prime to the number of its pieces.
constexpr std::array<std::uint32_t, 8> strides{1009, 1013, 1019, 1021, 1031, 1033, 1039, 1049};

constexpr std::uint32_t tag_major = 8'600'000;        // 0.2 %
constexpr std::uint32_t topic_major = 1'890'000'000;  // 44 %

struct YearMark {
  std::uint32_t pmid;
  std::uint16_t year;
};
constexpr std::array<YearMark, 9> year_marks{{{0, 1966},
                                              {5'000'000, 1980},
                                              {10'000'000, 1998},
                                              {15'000'000, 2004},
                                              {20'000'000, 2010},
                                              {25'000'000, 2015},
                                              {30'000'000, 2019},
                                              {35'000'000, 2022},
                                              {42'000'000, 2026}}};

std::uint16_t year_of(std::uint32_t pmid, SynthStream& stream) {
  std::uint32_t year = year_marks.back().year;
  for (std::size_t i = 1; i < year_marks.size(); ++i) {
    if (pmid < year_marks[i].pmid) {
      const YearMark a = year_marks[i - 1];
      const YearMark b = year_marks[i];
      year = a.year + static_cast<std::uint32_t>(std::uint64_t{pmid - a.pmid} *
                                                 static_cast<std::uint32_t>(b.year - a.year) /
                                                 (b.pmid - a.pmid));
      break;
    }
  }
  return static_cast<std::uint16_t>(year - stream.below(3));
}

/// Adds a rank unless it is there or the article is full.
bool add(SynthArticle& article, std::uint32_t rank) {
  const std::uint32_t number = synth_number(rank);
  std::uint32_t at = article.count;
  while (at > 0 && article.number[at - 1] > number) {
    --at;
  }
  if (article.count == SynthArticle::most_descriptors ||
      (at > 0 && article.number[at - 1] == number)) {
    return false;
  }
  for (std::uint32_t i = article.count; i > at; --i) {
    article.number[i] = article.number[i - 1];
  }
  article.number[at] = number;
  ++article.count;
  return true;
}

void add_from_all(const SynthModel& model, SynthStream& stream, SynthArticle& article) {
  for (int tries = 0; tries < 16; ++tries) {
    if (add(article, model.draw_from_all(stream))) {
      return;
    }
  }
}

/// Systematic sampling by mass over the topic's pieces in an order of the article's own: each piece
/// comes up with probability count * mass / topic mass, exactly, and none twice.
void add_from_topic(const SynthModel& model, std::uint32_t count, SynthStream& stream,
                    SynthArticle& article) {
  const SynthModel::Topic& topic = model.topic(article.topic);
  if (count == 0) {
    return;
  }
  const std::uint32_t pieces = topic.end - topic.begin;
  const std::uint32_t stride = strides[stream.below(strides.size())] % pieces;
  auto place = static_cast<std::uint32_t>(stream.below(pieces));
  const std::uint32_t step = topic.mass / count;
  std::uint64_t mark = stream.below(step);
  std::uint64_t passed = 0;
  for (std::uint32_t drawn = 0; drawn < count;) {
    const SynthPiece& piece = model.piece(topic.begin + place);
    passed += piece.mass;
    if (passed > mark) {
      if (!add(article, piece.rank)) {
        add_from_all(model, stream, article);
      }
      mark += step;
      ++drawn;
    }
    place += stride;
    place -= place >= pieces ? pieces : 0;
  }
}

constexpr auto size_by_draw = [] {
  std::array<std::uint8_t, 65'536> sizes{};
  std::size_t filled = 0;
  for (std::size_t i = 0; i < synth_sizes.size(); ++i) {
    for (std::size_t k = 0; k < synth_sizes[i]; ++k) {
      sizes[filled++] = static_cast<std::uint8_t>(i + 1);
    }
  }
  return sizes;
};

std::uint32_t draw_size(SynthStream& stream) {
  static const auto sizes = size_by_draw();
  return sizes[stream.next() >> 48];
}

void draw_majors(SynthStream& stream, SynthArticle& article) {
  for (std::uint32_t i = 0; i < article.count; ++i) {
    const bool tag = synth_rank(article.number[i]) < synth_tags;
    article.major[i] = stream.chance(tag ? tag_major : topic_major) ? 1 : 0;
  }
}

}  // namespace

std::uint64_t synth_pmid(std::uint64_t seed, std::uint64_t article) {
  const std::uint64_t block = article / articles_a_block;
  std::uint64_t place = article % articles_a_block;
  std::uint64_t bits = SynthStream(seed, SynthPurpose::gaps, block).next();
  for (std::uint64_t gap = 0; gap < gaps_a_block; ++gap) {
    place += gap * gap_stride + ((bits & 127U) * gap_stride >> 7) <= place ? 1 : 0;
    bits >>= 7;
  }
  return 1 + block * pmids_a_block + place;
}

void draw_synth_article(const SynthModel& model, std::uint64_t article, SynthArticle& out) {
  SynthStream stream(model.seed(), SynthPurpose::article, article);
  out.pmid = static_cast<std::uint32_t>(synth_pmid(model.seed(), article));
  out.year = year_of(out.pmid, stream);
  out.topic = model.draw_topic(stream);
  out.count = 0;
  const SynthModel::Topic& topic = model.topic(out.topic);
  std::uint32_t tags_there = 0;
  for (std::uint32_t tag = 0; tag < synth_tags; ++tag) {
    const std::uint32_t parent = synth_tag_table[tag].parent;
    if ((parent == no_tag || (tags_there >> parent & 1U) != 0) &&
        stream.chance(model.tag_chance(topic.area, tag))) {
      tags_there |= 1U << tag;
      add(out, tag);
    }
  }
  const std::uint32_t size = draw_size(stream);
  const std::uint32_t from_topic = std::min(topic.limit, (size + 1) / 2);
  const std::uint32_t from_area = (size - from_topic + 1) / 2;
  add_from_topic(model, from_topic, stream, out);
  for (std::uint32_t i = 0; i < from_area; ++i) {
    if (!add(out, model.draw_from_area(topic.area, stream))) {
      add_from_all(model, stream, out);
    }
  }
  for (std::uint32_t i = from_topic + from_area; i < size; ++i) {
    add_from_all(model, stream, out);
  }
  draw_majors(stream, out);
}

void revise_synth_article(const SynthModel& model, std::uint64_t article, std::uint64_t round,
                          SynthArticle& out) {
  draw_synth_article(model, article, out);
  SynthStream stream(model.seed() + round, SynthPurpose::revision, article);
  if (stream.one_in(20)) {
    out.count = 0;
    return;
  }
  const SynthArticle before = out;
  const auto dropped = static_cast<std::uint32_t>(stream.below(before.count));
  out.count = 0;
  for (std::uint32_t i = 0; i < before.count; ++i) {
    if (i != dropped && !stream.one_in(8)) {
      out.number[out.count++] = before.number[i];
    }
  }
  for (std::uint64_t more = 1 + stream.below(3); more > 0; --more) {
    const std::uint32_t rank = model.draw_from_all(stream);
    if (synth_number(rank) != before.number[dropped]) {
      add(out, rank);
    }
  }
  draw_majors(stream, out);
}

}  // namespace somatlas::pipeline
