// What the readers of all sections of an export share: the import they work for, which times are
// usable, and telling a row that was written twice.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "importers/nsight_lanes.h"
#include "trace/limits.h"

namespace pleat::importers {

struct NsightImport {
    const NsightSource& source;
    NsightStrings& strings;
    NsightLanes& lanes;
    trace::TraceBuilder& builder;
    std::int64_t origin_ns = 0;  // of the earliest event, in the export's time

    [[nodiscard]] base::Interval span(std::int64_t start_ns, std::int64_t end_ns) const {
        return {{start_ns - origin_ns}, {end_ns - origin_ns}};
    }
};

// Moments further from 0 are no times (UTC passes the limit in 2043); within it, no difference of
// two overflows.
inline constexpr std::int64_t kLatest_ns = trace::kFarthestNs;

// CUPTI writes 0 and 0 where it could not measure, and on long runs ends before starts. As events
// they would stretch the trace back to the epoch.
[[nodiscard]] constexpr bool isTimed(std::int64_t start_ns, std::int64_t end_ns) {
    return (start_ns != 0 || end_ns != 0) && end_ns >= start_ns && start_ns >= -kLatest_ns &&
           end_ns <= kLatest_ns;
}

// Has the same row been seen? A collector that reads one buffer twice writes all of it twice, so
// rows are equal in every column read. Keeps 16 bytes a row: 128 bits of a hash, which for 10^9
// rows err with a probability below 10^-20.
class SeenRows {
  public:
    // True the first time.
    [[nodiscard]] bool isNew(const store::Statement& row, int columns);

  private:
    struct Fingerprint {
        std::uint64_t low = 0, high = 0;
        friend bool operator==(const Fingerprint&, const Fingerprint&) = default;
    };
    [[nodiscard]] std::size_t slotOf(const Fingerprint& fingerprint) const;
    void grow();

    std::vector<Fingerprint> m_slots;  // open addressing; a default one is free
    std::size_t m_count = 0;
};

}  // namespace pleat::importers
