// Stands in for isal_inflater.cpp where ISA-L was not found: zlib does its work.
#include <stdexcept>

#include "ingest/inflater.h"

namespace somatlas::ingest {

std::unique_ptr<Inflater> make_isal_inflater() {
  throw std::logic_error("this somatlas was built without ISA-L");
}

std::unique_ptr<Inflater> make_inflater() {
  return make_zlib_inflater();
}

}  // namespace somatlas::ingest
