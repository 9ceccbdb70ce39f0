// Following changes to their end, and rewriting what is read by them.
#include "store/mesh_changes.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "store/frame.h"
#include "store/store.h"
#include "store/varint.h"

namespace somatlas::store {
namespace {

constexpr DescriptorCode no_descriptor = 0xFFFF'FFFFU;

/// One step of each changed descriptor; later lists over earlier ones.
std::map<DescriptorCode, DescriptorCode> steps_of(std::span<const MeshChangeList> lists) {
  std::map<DescriptorCode, DescriptorCode> steps;
  for (const MeshChangeList& list : lists)
    for (const MeshChange& change : list.changes) {
      if (change.kind == MeshChangeKind::renamed)
        steps.erase(change.from);
      else
        steps[change.from] = change.kind == MeshChangeKind::merged ? change.to : no_descriptor;
    }
  return steps;
}

std::vector<DescriptorCode> circle_of(const std::map<DescriptorCode, DescriptorCode>& steps) {
  std::map<DescriptorCode, DescriptorCode> seen;  // by which walk
  for (const auto& [start, first] : steps) {
    DescriptorCode at = start;
    for (auto step = steps.find(at); step != steps.end() && seen.emplace(at, start).second;
         step = steps.find(at))
      at = step->second;
    // A walk that ended on its own trail went round; `at` is where it met itself.
    const auto met = seen.find(at);
    if (met == seen.end() || met->second != start || !steps.contains(at))
      continue;
    std::vector<DescriptorCode> circle;
    do {
      circle.push_back(at);
      at = steps.at(at);
    } while (at != circle.front());
    std::rotate(circle.begin(), std::min_element(circle.begin(), circle.end()), circle.end());
    return circle;
  }
  return {};
}

/// Where the chain of each changed descriptor ends. What lies behind a descriptor is walked once,
/// however many chains run through it; there is no circle.
std::map<DescriptorCode, DescriptorCode> ends_of(
    const std::map<DescriptorCode, DescriptorCode>& steps) {
  std::map<DescriptorCode, DescriptorCode> ends;
  std::vector<DescriptorCode> trail;
  for (const auto& [from, first] : steps) {
    trail.clear();
    DescriptorCode at = from;
    for (auto step = steps.find(at); step != steps.end() && !ends.contains(at);
         step = steps.find(at)) {
      trail.push_back(at);
      at = step->second;
    }
    const auto known = ends.find(at);
    const DescriptorCode end = known == ends.end() ? at : known->second;
    for (const DescriptorCode passed : trail)
      ends.emplace(passed, end);
  }
  return ends;
}

}  // namespace

std::vector<DescriptorCode> circle_of(std::span<const MeshChangeList> lists) {
  return circle_of(steps_of(lists));
}

MeshView::MeshView(std::vector<MeshChangeList> lists) : lists_(std::move(lists)) {
  static_assert(nothing == no_descriptor);
  const std::map<DescriptorCode, DescriptorCode> steps = steps_of(lists_);
  if (!circle_of(steps).empty())
    throw StoreError("its changes of descriptors go in a circle");
  for (const auto& [from, to] : ends_of(steps)) {
    from_.push_back(from);
    to_.push_back(to);
    removed_ += to == nothing ? 1 : 0;
    filter_[bit_of(from) / 64] |= std::uint64_t{1} << (bit_of(from) % 64);
  }
}

DescriptorCode MeshView::target(DescriptorCode filed) const {
  const std::size_t bit = bit_of(filed);
  if ((filter_[bit / 64] >> (bit % 64) & 1U) == 0)
    return filed;
  const auto found = std::lower_bound(from_.begin(), from_.end(), filed);
  return found == from_.end() || *found != filed
             ? filed
             : to_[static_cast<std::size_t>(found - from_.begin())];
}

std::optional<DescriptorCode> MeshView::current(DescriptorCode filed) const {
  const DescriptorCode code = target(filed);
  return code == nothing ? std::nullopt : std::optional(code);
}

MeshView::Effect MeshView::apply(Shard& shard) const {
  Effect effect;
  const auto changed = [this](DescriptorCode code) { return target(code) != code; };
  if (from_.empty() || std::ranges::none_of(shard.descriptors, changed))
    return effect;
  // A row never grows, so the columns are rewritten where they stand.
  std::vector<std::pair<DescriptorCode, std::uint8_t>> row;
  std::uint32_t begin = 0;
  std::uint32_t kept = 0;
  for (std::size_t r = 0; r < shard.rows(); ++r) {
    const std::uint32_t end = shard.offsets[r + 1];
    row.clear();
    bool touched = false;
    for (std::uint32_t d = begin; d < end; ++d) {
      const DescriptorCode code = target(shard.descriptors[d]);
      if (code != shard.descriptors[d]) {
        touched = true;
        ++(code == nothing ? effect.removed : effect.replaced);
      }
      if (code != nothing)
        row.emplace_back(code, shard.major[d]);
    }
    if (touched) {
      ++effect.articles;
      std::ranges::sort(row);
      std::size_t last = 0;
      for (std::size_t i = 1; i < row.size(); ++i) {
        if (row[i].first != row[last].first) {
          row[++last] = row[i];
          continue;
        }
        row[last].second = std::max(row[last].second, row[i].second);
        ++effect.folded;
      }
      row.resize(row.empty() ? 0 : last + 1);
      if (row.empty()) {
        ++effect.emptied;
        shard.state[r] = ArticleState::bare;
        shard.year[r] = 0;
      }
    }
    for (const auto& [code, major] : row) {
      shard.descriptors[kept] = code;
      shard.major[kept++] = major;
    }
    shard.offsets[r + 1] = kept;
    begin = end;
  }
  shard.descriptors.resize(kept);
  shard.major.resize(kept);
  return effect;
}

void MeshView::apply(std::vector<DescriptorEntry>& table) const {
  std::map<DescriptorCode, std::string> added;
  const auto before = [](const DescriptorEntry& entry, DescriptorCode code) {
    return ui_less(entry.code, code);
  };
  for (const MeshChangeList& list : lists_)
    for (const MeshChange& change : list.changes) {
      if (change.kind == MeshChangeKind::removed || target(change.to) != change.to)
        continue;
      const auto entry = std::lower_bound(table.begin(), table.end(), change.to, before);
      if (entry == table.end() || entry->code != change.to)
        added[change.to] = change.new_name;
      else if (change.kind == MeshChangeKind::renamed && entry->name == change.old_name)
        entry->name = change.new_name;
    }
  for (auto& [code, name] : added)
    table.push_back({code, std::move(name), {}});
  if (!added.empty())
    std::ranges::sort(table, ui_less, &DescriptorEntry::code);
}

std::string MeshView::mark() const {
  std::string pairs;
  for (std::size_t i = 0; i < from_.size(); ++i) {
    put_varint(pairs, from_[i]);
    put_varint(pairs, to_[i]);
  }
  return pairs;
}

namespace {

void put_text(std::string& out, std::string_view text) {
  put_varint(out, text.size());
  out += text;
}

std::string get_text(ByteReader& in) {
  return std::string(in.text(static_cast<std::size_t>(in.varint(in.left()))));
}

DescriptorCode get_code(ByteReader& in) {
  const auto code = static_cast<DescriptorCode>(in.varint(0xFFFF'FFFFU));
  if (!is_descriptor_code(code))
    throw StoreError("a changed descriptor has no UI");
  return code;
}

}  // namespace

std::string encode_mesh_changes(std::string_view key, std::span<const MeshChangeList> lists) {
  std::string payload;
  put_varint(payload, lists.size());
  for (const MeshChangeList& list : lists) {
    put_text(payload, list.name);
    put_text(payload, list.md5);
    put_varint(payload, zigzag(list.taken_at));
    put_varint(payload, list.changes.size());
    for (const MeshChange& change : list.changes) {
      put_varint(payload, static_cast<std::uint64_t>(change.kind));
      put_varint(payload, change.from);
      put_text(payload, change.old_name);
      if (change.kind == MeshChangeKind::merged)
        put_varint(payload, change.to);
      if (change.kind != MeshChangeKind::removed)
        put_text(payload, change.new_name);
    }
  }
  return seal_value(key, payload);
}

std::vector<MeshChangeList> decode_mesh_changes(std::string_view key, std::string_view value) {
  ByteReader in(open_value(key, value));
  std::vector<MeshChangeList> lists;
  for (std::uint64_t left = in.varint(in.left()); left > 0; --left) {
    MeshChangeList& list = lists.emplace_back();
    list.name = get_text(in);
    list.md5 = get_text(in);
    list.taken_at = unzigzag(in.varint(std::numeric_limits<std::uint64_t>::max()));
    for (std::uint64_t changes = in.varint(in.left()); changes > 0; --changes) {
      MeshChange& change = list.changes.emplace_back();
      change.kind = static_cast<MeshChangeKind>(in.varint(2));
      change.from = get_code(in);
      change.old_name = get_text(in);
      if (change.kind == MeshChangeKind::merged)
        change.to = get_code(in);
      else if (change.kind == MeshChangeKind::renamed)
        change.to = change.from;
      if (change.kind != MeshChangeKind::removed)
        change.new_name = get_text(in);
    }
  }
  in.expect_end();
  return lists;
}

}  // namespace somatlas::store
