// What an export says about the clock of its times. They count from the session's start, whose UTC
// the export knows, or are UTC already where it was made with --ts-normalize; the moments tell
// which, for older exports do not say. Pure but for reading.
#pragma once

#include "importers/file_clock.h"
#include "importers/nsight_source.h"

namespace pleat::importers {

// The session's start in UTC; nothing where the export does not have it.
[[nodiscard]] base::Result<std::optional<std::int64_t>> nsightSessionStart(
    const NsightSource& source);

// For times that were added as counting from `origin_ns`, a moment in the export's time.
[[nodiscard]] base::Result<FileClock> readNsightClock(const NsightSource& source,
                                                      std::int64_t origin_ns);

}  // namespace pleat::importers
