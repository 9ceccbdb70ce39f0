// Decodes a stack of deltas, merges them oldest first and encodes the result.
// Always holds: no exception crosses into RocksDB.
#include "store/shard_merge_operator.h"

#include <deque>
#include <exception>
#include <utility>
#include <vector>

#include "store/shard.h"

namespace somatlas::store {
namespace {

thread_local std::string merge_fault;

class ShardMergeOperator : public rocksdb::MergeOperator {
 public:
  const char* Name() const override { return "somatlas.shard"; }

  bool FullMergeV2(const MergeOperationInput& in, MergeOperationOutput* out) const override {
    if (in.existing_value == nullptr && in.operand_list.size() == 1) {
      out->existing_operand = in.operand_list.front();
      return true;
    }
    std::vector<rocksdb::Slice> stack;
    if (in.existing_value != nullptr)
      stack.push_back(*in.existing_value);
    stack.insert(stack.end(), in.operand_list.begin(), in.operand_list.end());
    return merge_stack(stack, &out->new_value);
  }

  bool PartialMergeMulti(const rocksdb::Slice&, const std::deque<rocksdb::Slice>& operands,
                         std::string* merged, rocksdb::Logger*) const override {
    return merge_stack(operands, merged);
  }

 private:
  template <typename Stack>
  static bool merge_stack(const Stack& stack, std::string* merged) {
    try {
      std::vector<Shard> shards;
      shards.reserve(stack.size());
      for (const rocksdb::Slice& bytes : stack)
        shards.push_back(decode(bytes.ToStringView()));
      *merged = encode(merge_all(std::move(shards)));
      return true;
    } catch (const std::exception& error) {
      merge_fault = error.what();
      return false;
    }
  }
};

}  // namespace

std::shared_ptr<rocksdb::MergeOperator> shard_merge_operator() {
  static const std::shared_ptr<rocksdb::MergeOperator> instance =
      std::make_shared<ShardMergeOperator>();
  return instance;
}

std::string take_merge_fault() {
  return std::exchange(merge_fault, {});
}

}  // namespace somatlas::store
