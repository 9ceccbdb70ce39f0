// The view of changed descriptors against a plain map: random lists over random shards; and what
// the store keeps of it.
#include "store/mesh_changes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "store/store.h"
#include "tests/store/random_shards.h"

namespace somatlas::store {
namespace {

using Lists = std::vector<MeshChangeList>;

constexpr std::uint64_t codes = 24;  // few, so that changes meet

DescriptorCode code_of(std::uint64_t number) {
  return descriptor_code(static_cast<std::uint32_t>(60'000 + number / 2), number % 2 == 0 ? 6 : 9);
}

MeshChange random_change(Random& random, DescriptorCode from) {
  MeshChange change{MeshChangeKind::renamed, from, "old " + std::to_string(draw(random, 9)), from,
                    "new " + std::to_string(draw(random, 9))};
  switch (draw(random, 6)) {
    case 0:
      return change;
    case 1:
      return {MeshChangeKind::removed, from, change.old_name, 0, ""};
    default:
      change.kind = MeshChangeKind::merged;
      while (change.to == from)
        change.to = code_of(draw(random, codes));
      return change;
  }
}

Lists random_lists(Random& random) {
  Lists lists(draw(random, 4));
  for (MeshChangeList& list : lists) {
    list.name = "list " + std::to_string(draw(random, 100));
    list.md5 = std::string(32, static_cast<char>('a' + draw(random, 6)));
    list.taken_at = static_cast<std::int64_t>(draw(random, 1000)) - 500;
    std::set<DescriptorCode> changed;
    for (std::uint64_t n = draw(random, 7); n > 0; --n)
      changed.insert(code_of(draw(random, codes)));
    for (const DescriptorCode from : changed)
      list.changes.push_back(random_change(random, from));
  }
  return lists;
}

/// A list by which a few codes become one another.
MeshChangeList random_circle(Random& random) {
  MeshChangeList list;
  const std::uint64_t first = draw(random, codes);
  const std::uint64_t length = 2 + draw(random, codes - 1);
  for (std::uint64_t i = 0; i < length; ++i) {
    MeshChange change = random_change(random, code_of((first + i) % codes));
    change.kind = MeshChangeKind::merged;
    change.to = code_of((first + (i + 1) % length) % codes);
    list.changes.push_back(change);
  }
  return list;
}

/// What the lists make of a code, step by step: the last list that changes it counts.
struct Fate {
  bool in_circle = false;
  std::optional<DescriptorCode> code;
  friend bool operator==(const Fate&, const Fate&) = default;
};

Fate fate_of(const Lists& lists, DescriptorCode code) {
  for (std::uint64_t step = 0; step <= codes; ++step) {
    const MeshChange* last = nullptr;
    for (const MeshChangeList& list : lists)
      for (const MeshChange& change : list.changes)
        if (change.from == code)
          last = &change;
    if (last == nullptr || last->kind == MeshChangeKind::renamed)
      return {false, code};
    if (last->kind == MeshChangeKind::removed)
      return {false, std::nullopt};
    code = last->to;
  }
  return {true, std::nullopt};
}

PlainRows rows_of_few_codes(Random& random) {
  PlainRows rows = random_rows(random, {baseline_key(1), baseline_key(2)}, 40, 100);
  for (auto& [low, row] : rows) {
    std::map<DescriptorCode, std::uint8_t> few;
    for (const auto& [code, major] : row.descriptors)
      few[code_of(code % codes)] = major;
    row.descriptors.assign(few.begin(), few.end());
  }
  return rows;
}

MeshView::Effect change_rows(const Lists& lists, PlainRows& rows) {
  MeshView::Effect effect;
  for (auto& [low, row] : rows) {
    std::map<DescriptorCode, std::uint8_t> now;
    bool touched = false;
    std::uint64_t left = 0;
    for (const auto& [code, major] : row.descriptors) {
      const std::optional<DescriptorCode> fate = fate_of(lists, code).code;
      touched = touched || fate != code;
      effect.removed += fate ? 0 : 1;
      effect.replaced += fate && fate != code ? 1 : 0;
      left += fate ? 1 : 0;
      if (fate)
        now[*fate] = now[*fate] != 0 || major != 0 ? 1 : 0;
    }
    effect.articles += touched ? 1 : 0;
    effect.folded += left - now.size();
    if (touched && now.empty()) {
      ++effect.emptied;
      row.state = ArticleState::bare;
      row.year = 0;
    }
    row.descriptors.assign(now.begin(), now.end());
  }
  return effect;
}

TEST(MeshChanges, MakeOfShardsWhatAPlainMapMakesOfThem) {
  Random random(test_seed());
  int circles = 0;
  int changed = 0;
  for (int trial = 0; trial < 400; ++trial) {
    Lists lists = random_lists(random);
    if (trial % 20 == 0)  // circles are rare by themselves
      lists.push_back(random_circle(random));
    bool in_circle = false;
    for (std::uint64_t n = 0; n < codes; ++n)
      in_circle = in_circle || fate_of(lists, code_of(n)).in_circle;
    const std::vector<DescriptorCode> circle = circle_of(lists);
    ASSERT_EQ(!circle.empty(), in_circle);
    if (in_circle) {
      ++circles;
      EXPECT_THROW(MeshView{lists}, StoreError);
      EXPECT_EQ(std::ranges::min(circle), circle.front());
      for (std::size_t i = 0; i < circle.size(); ++i)
        EXPECT_TRUE(std::ranges::any_of(lists, [&](const MeshChangeList& list) {
          return std::ranges::any_of(list.changes, [&](const MeshChange& change) {
            return change.from == circle[i] && change.to == circle[(i + 1) % circle.size()];
          });
        }));
      continue;
    }
    const MeshView view(lists);
    std::uint64_t replaced = 0;
    std::uint64_t removed = 0;
    for (std::uint64_t n = 0; n < codes; ++n) {
      const Fate fate = fate_of(lists, code_of(n));
      ASSERT_EQ(view.current(code_of(n)), fate.code);
      removed += fate.code ? 0 : 1;
      replaced += fate.code && fate.code != code_of(n) ? 1 : 0;
    }
    EXPECT_EQ(view.replaced(), replaced);
    EXPECT_EQ(view.removed(), removed);
    EXPECT_EQ(view.is_as_filed(), replaced + removed == 0);
    EXPECT_EQ(view.mark().empty(), view.is_as_filed());
    PlainRows rows = rows_of_few_codes(random);
    Shard shard = to_shard(7, rows);
    const MeshView::Effect expected = change_rows(lists, rows);
    const MeshView::Effect effect = view.apply(shard);
    EXPECT_EQ(effect, expected);
    ASSERT_EQ(to_rows(shard), rows);
    ASSERT_NO_THROW(check_invariants(shard));
    changed += effect.articles != 0 ? 1 : 0;
  }
  EXPECT_GT(circles, 0);
  EXPECT_GT(changed, 0);
}

// Walked from each of its ends anew, a chain of so many would take hours.
TEST(MeshChanges, ALongChainIsFollowedAtOnce) {
  constexpr std::uint32_t changes = 200'000;
  for (const bool upwards : {true, false}) {
    Lists lists{{"chain", "", 0, {}}};
    for (std::uint32_t i = 0; i < changes; ++i) {
      const std::uint32_t from = upwards ? i : changes - i;
      lists[0].changes.push_back({MeshChangeKind::merged, descriptor_code(from, 9), "a",
                                  descriptor_code(upwards ? from + 1 : from - 1, 9), "b"});
    }
    const MeshView view(lists);
    EXPECT_EQ(view.replaced(), changes);
    const DescriptorCode last = descriptor_code(upwards ? changes : 0, 9);
    for (std::uint32_t i = 0; i <= changes; ++i)
      ASSERT_EQ(view.current(descriptor_code(i, 9)), last) << i;
  }
}

TEST(MeshChanges, DecodingGivesBackWhatWasEncoded) {
  Random random(test_seed());
  for (int trial = 0; trial < 200; ++trial) {
    const Lists lists = random_lists(random);
    const std::string value = encode_mesh_changes("key", lists);
    ASSERT_EQ(decode_mesh_changes("key", value), lists);
    EXPECT_THROW((void)decode_mesh_changes("other", value), StoreError);
    EXPECT_THROW((void)decode_mesh_changes("key", value.substr(0, value.size() - 1)), StoreError);
  }
}

MeshChange renamed(DescriptorCode code, const std::string& before, const std::string& after) {
  return {MeshChangeKind::renamed, code, before, code, after};
}

TEST(MeshChanges, NamesFollowAnOldNameOnlyAndWhatIsLackingIsAdded) {
  const DescriptorCode a = code_of(0);
  const DescriptorCode b = code_of(2);
  const DescriptorCode c = code_of(4);
  const Lists lists{
      {"first", "", 0, {renamed(a, "A", "A2"), renamed(b, "other", "B2")}},
      {"second", "", 0, {renamed(a, "A2", "A3"), {MeshChangeKind::merged, b, "B", c, "C"}}}};
  std::vector<DescriptorEntry> table{{a, "A", {"A01"}}, {b, "B", {"B01"}}};
  MeshView(lists).apply(table);
  EXPECT_EQ(table,
            (std::vector<DescriptorEntry>{{a, "A3", {"A01"}}, {b, "B", {"B01"}}, {c, "C", {}}}));
}

TEST(MeshChanges, InAStoreAreAViewThatCanBeTakenBack) {
  Random random(test_seed());
  const TemporaryDirectory directory;
  PlainRows rows;
  while (
      std::ranges::none_of(rows, [](const auto& row) { return !row.second.descriptors.empty(); }))
    rows = random_rows(random, {baseline_key(1)}, 60, 200);
  PlainFile file{baseline_key(1), {{5, rows}}, std::string(32, '1')};
  const DescriptorCode some =
      std::ranges::find_if(rows, [](const auto& row) { return !row.second.descriptors.empty(); })
          ->second.descriptors.front()
          .first;
  const DescriptorCode other = code_of(3);
  const Lists merged{{"m", "1", 7, {{MeshChangeKind::merged, some, "S", other, "O"}}}};
  const Lists also_renamed{merged[0], {"r", "2", 8, {renamed(other, "O", "P")}}};
  const Lists removed{{"x", "3", 9, {{MeshChangeKind::removed, some, "S", 0, ""}}}};
  std::set<std::string> states;
  std::string as_filed;
  std::string as_merged;
  {
    const auto store = Store::open(directory / "store", Store::Access::create);
    store->commit(deltas_of(file), entry_of(file));
    as_filed = store->state_id();
  }
  for (const Lists& lists : {merged, also_renamed, removed, Lists{}}) {
    Store::open(directory / "store", Store::Access::write)->put_mesh_changes(lists);
    const auto store = Store::open(directory / "store", Store::Access::read);
    EXPECT_EQ(store->mesh_view()->lists(), lists);
    PlainRows now = rows;
    (void)change_rows(lists, now);
    EXPECT_EQ(to_rows(store->shard(5).value()), now);
    EXPECT_EQ(to_rows(store->shard_as_filed(5).value()), rows);
    store->verify([](const Fault& fault) { ADD_FAILURE() << fault.where << ": " << fault.what; });
    states.insert(store->state_id());
    as_merged = lists == merged ? store->state_id() : as_merged;
    EXPECT_EQ(store->state_id() == as_filed, lists.empty());
    EXPECT_EQ(store->state_id() == as_merged, lists == merged || lists == also_renamed);
  }
  EXPECT_EQ(states.size(), 3U);
  const Lists circle{{"c", "4", 0, {{MeshChangeKind::merged, some, "S", other, "O"}}},
                     {"d", "5", 0, {{MeshChangeKind::merged, other, "O", some, "S"}}}};
  const auto store = Store::open(directory / "store", Store::Access::write);
  EXPECT_THROW(store->put_mesh_changes(circle), StoreError);
  EXPECT_EQ(store->mesh_view()->lists(), Lists{});
  EXPECT_THROW(Store::open(directory / "store", Store::Access::read)->put_mesh_changes(merged),
               StoreError);
}

}  // namespace
}  // namespace somatlas::store
