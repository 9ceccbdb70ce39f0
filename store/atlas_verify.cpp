// Every check that an atlas can be put to: RocksDB's, each value's own, and that each family holds
// exactly what its index says. Always holds: one breach does not hide the others.
#include <functional>
#include <set>
#include <string>

#include "store/descriptor_codec.h"
#include "store/frame.h"
#include "store/rocks_atlas.h"
#include "store/varint.h"

namespace somatlas::store {
namespace {

constexpr const char* remedy = "; train it again, or restore a copy";

std::uint32_t number_of(std::string_view key) {
  ByteReader in(key);
  const std::uint64_t number = in.big_endian(4);
  in.expect_end();
  return static_cast<std::uint32_t>(number);
}

/// Checks one value of a family under its key without the generation.
void check_value(const std::string& family, std::string_view key, const std::string& value) {
  if (family == "assignment") {
    (void)decode_assignment(value, number_of(key));
  } else if (family == "places") {
    (void)decode_places(value, number_of(key));
  } else if (family == "planes") {
    (void)decode_plane(value, descriptor_code_of(key).value());
  } else if (family == "articles") {
    (void)number_of(key);
    (void)decode_articles(key, value);
  } else if (family == "descriptors") {
    (void)decode_descriptor_value(key, value);
  }
}

std::string printable(const std::string& family, std::string_view key) {
  if (family == "planes" || family == "descriptors" || family == "cells" || key.size() != 4)
    return "'" + std::string(key) + "'";
  return std::to_string(number_of(key));
}

}  // namespace

void RocksAtlas::verify(const std::function<void(const Fault&)>& fault) {
  rocks_->verify_files(fault);
  for (const std::string& family : layout().families) {
    const auto report = [&](std::string_view key, const std::string& what) {
      fault({directory() + ", " + family + " " + printable(family, key), what + remedy});
    };
    Index current;
    try {
      current = index(family);
    } catch (const StoreError& error) {
      fault({directory() + ", index of " + family, error.what()});
      continue;
    }
    std::string prefix;
    put_big_endian(prefix, current->generation, 4);
    rocks_->scan(
        family, prefix, current->keys,
        [&](std::string_view key, const std::string& value) {
          try {
            check_value(family, key, value);
          } catch (const std::exception& error) {
            report(key, error.what());
          }
        },
        report);
  }
  try {
    if (!index("cells")->keys.empty())
      (void)cells();
    if (index("planes")->keys != index("descriptors")->keys)
      fault({directory(), std::string("its planes are not those of its descriptors") + remedy});
  } catch (const StoreError& error) {
    fault({directory() + ", cells", error.what()});
  }
  try {
    rocks_->for_each("meta", [&](std::string_view key, std::string_view bytes) {
      if (!key.starts_with("named/"))
        return;
      try {
        const std::string_view text = open_value(key, bytes);
        if (key == std::string("named/") + entry_words_name)
          (void)decode_entry_words(text);
      } catch (const StoreError& error) {
        fault({directory() + ", value '" + std::string(key) + "'",
               std::string(error.what()) + remedy});
      }
    });
  } catch (const StoreError& error) {
    fault({directory() + ", meta", error.what()});
  }
}

}  // namespace somatlas::store
