#include "importers/nsight.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "importers/nsight_clock.h"
#include "importers/nsight_device.h"
#include "importers/nsight_nvtx.h"

namespace pleat::importers {
namespace {

struct Extent {
    std::int64_t rows = 0;
    std::int64_t earliest_ns = std::numeric_limits<std::int64_t>::max();
};

// How many rows become events, and the first moment: events are added with their final times, so
// both must be known before.
base::Result<Extent> extentOf(const NsightSource& source) {
    std::vector<const NsightSection*> sections = nsightDeviceSections();
    sections.push_back(&nsightNvtxSection());
    Extent extent;
    for (const NsightSection* section : sections) {
        const bool isNvtx = section == &nsightNvtxSection();
        const auto readable = source.scan(*section);
        if (!readable) return readable.error();
        if (!readable->has_value()) continue;
        const std::string timed =
            isNvtx ? "\"eventType\" IN (34, 59, 60)"
                   : "(\"start\" <> 0 OR \"end\" <> 0) AND \"end\" >= \"start\" AND \"end\" <= " +
                         fmt::to_string(kLatest_ns);
        const auto row = store::Statement::prepare(
            source.database(),
            fmt::format("SELECT count(*), min(CAST(\"start\" AS INTEGER)) FROM \"{}\" WHERE "
                        "\"start\" BETWEEN {} AND {} AND {}",
                        section->table, -kLatest_ns, kLatest_ns, timed));
        if (!row) return row.error();
        const auto found = row->step();
        if (!found) return found.error();
        extent.rows += row->integer(0);
        if (!row->isNull(1)) extent.earliest_ns = std::min(extent.earliest_ns, row->integer(1));
    }
    if (extent.rows == 0) extent.earliest_ns = 0;
    return extent;
}

base::Result<FileFacts> readAll(const NsightSource& source, trace::TraceBuilder& builder) {
    const auto extent = extentOf(source);
    if (!extent) return extent.error();
    auto strings = NsightStrings::open(source, builder);
    if (!strings) return strings.error();
    auto lanes = NsightLanes::open(source, *strings, builder);
    if (!lanes) return lanes.error();
    builder.reserveEvents(builder.eventCount() + static_cast<std::size_t>(extent->rows));

    NsightImport import{source, *strings, *lanes, builder, extent->earliest_ns};
    NsightLaunches launches;
    if (const auto read = readNsightCalls(import, launches); !read) return read.error();
    if (const auto read = readNsightDeviceWork(import, launches); !read) return read.error();
    if (const auto read = readNsightNvtx(import); !read) return read.error();
    launches.join(builder);
    FileFacts facts;
    lanes->finish(facts);
    auto clock = readNsightClock(source, extent->earliest_ns);
    if (!clock) return clock.error();
    facts.clock = std::move(*clock);
    return facts;
}

}  // namespace

bool isNsightExport(const std::filesystem::path& file) {
    const auto source = NsightSource::open(file);
    return source && source->isExport();
}

base::Result<FileFacts> importNsight(const std::filesystem::path& file,
                                     trace::TraceBuilder& builder,
                                     const std::function<bool()>& goOn) {
    const auto source = NsightSource::open(file);
    if (!source) return source.error();
    if (!source->isExport())
        return base::Error{base::ErrorCode::Input,
                           file.string() +
                               ": is not an Nsight Systems export (no table StringIds, "
                               "META_DATA_EXPORT or CUPTI_ACTIVITY_KIND_…); create one with nsys "
                               "export --type sqlite"};
    source->database().watch(&goOn);
    auto read = readAll(*source, builder);
    if (read || read.error().code == base::ErrorCode::Cancelled) return read;
    return base::Error{read.error().code, read.error().message +
                                              "; the file is damaged or incomplete; export the "
                                              "report again with nsys export --type sqlite"};
}

}  // namespace pleat::importers
