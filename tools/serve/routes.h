// Which address answers what.
#pragma once

#include "tools/serve/atlas_view.h"
#include "tools/serve/reply.h"
#include "tools/serve/request_target.h"

namespace somatlas::serve {

/// The reply to GET; 404 where there is no such thing, 400 where a value makes no sense. Safe from
/// several threads.
[[nodiscard]] Reply reply_to(const AtlasView& view, const RequestTarget& target);

}  // namespace somatlas::serve
