#include "importers/pleat_import.h"

#include <fmt/format.h>

#include <utility>

#include "store/reader.h"

namespace pleat::importers {
namespace {

using trace::EventId;

class Adder {
  public:
    Adder(const trace::Trace& trace, trace::TraceBuilder& builder)
        : m_trace(trace), m_builder(builder), m_strings(trace.columns().strings.size()) {}

    void run() {
        const auto guessed = [&](std::string_view code) {
            return m_trace.diagnostics().find(code) != nullptr;
        };
        const std::size_t firstRank = m_builder.ranks().size();
        for (trace::Rank rank : m_trace.ranks()) {
            if (guessed("rank_guessed")) rank.number = -1;
            if (guessed("coordinates_guessed")) rank.coordinates = {};
            rank.clockBound.reset();
            m_builder.addRank(std::move(rank));
        }
        const std::size_t firstLane = m_builder.lanes().size();
        for (trace::Lane lane : m_trace.lanes()) {
            lane.rank = trace::RankId::at(firstRank + lane.rank.index());
            m_builder.addLane(std::move(lane));
        }
        addEvents(firstLane);
    }

  private:
    base::StringId known(base::StringId theirs) {
        if (!theirs.valid()) return {};
        base::StringId& ours = m_strings[theirs.index()];
        if (!ours.valid()) ours = m_builder.intern(m_trace.text(theirs));
        return ours;
    }

    void addEvents(std::size_t firstLane) {
        const std::size_t first = m_builder.eventCount();
        m_builder.reserveEvents(first + m_trace.eventCount());
        for (std::size_t i = 0; i < m_trace.eventCount(); ++i) {
            trace::Event event = m_trace.event(EventId::at(i));
            event.lane = trace::LaneId::at(firstLane + event.lane.index());
            event.name = known(event.name);
            event.domain = known(event.domain);
            m_builder.addEvent(event, m_trace.arguments(EventId::at(i)));
        }
        for (const trace::Dependency& dependency : m_trace.dependencies())
            m_builder.addDependency(first + dependency.from.index(), first + dependency.to.index(),
                                    dependency.kind);
    }

    const trace::Trace& m_trace;
    trace::TraceBuilder& m_builder;
    std::vector<base::StringId> m_strings;
};

FileClock clockOf(const store::LoadedTrace& loaded) {
    FileClock clock;
    std::set<std::string> hosts;
    std::set<std::int32_t> clocks;
    for (const trace::Rank& rank : loaded.trace.ranks()) {
        hosts.insert(rank.host);
        clocks.insert(rank.clock.clock);
    }
    if (hosts.size() == 1 && clocks.size() == 1) clock.host = *hosts.begin();
    if (!loaded.unixZero_ns || !isUtc(*loaded.unixZero_ns)) return clock;
    clock.utc = true;
    clock.base = {*loaded.unixZero_ns};
    if (loaded.monotonicZero_ns) {
        clock.bootUnix_ns = *loaded.unixZero_ns - *loaded.monotonicZero_ns;
        clock.countsFromBoot = true;
    }
    return clock;
}

// What is said again of all recordings together: of what events mean, of matches and of clocks.
bool isSaidAgain(std::string_view code) {
    const base::DiagnosticKind* kind = base::diagnosticKind(code);
    return kind != nullptr && kind->origin == base::DiagnosticOrigin::Annotation;
}

}  // namespace

base::Result<FileFacts> importPleat(const std::filesystem::path& file, trace::TraceBuilder& builder,
                                    const std::function<bool()>& goOn) {
    const auto loaded = store::load(file, [&](std::uint64_t, std::uint64_t) { return goOn(); });
    if (!loaded) return loaded.error();
    FileFacts facts;
    facts.clock = clockOf(*loaded);
    Adder(loaded->trace, builder).run();
    for (const base::Diagnostic& said : loaded->trace.diagnostics().entries()) {
        if (!loaded->annotated || !isSaidAgain(said.code)) builder.diagnostics().add(said);
    }
    if (!loaded->finished && !loaded->annotated)
        builder.diagnostics().add("recording_unfinished",
                                  fmt::format("{}: the recording is still running or was "
                                              "interrupted; this is what it holds so far",
                                              file.string()));
    return facts;
}

}  // namespace pleat::importers
