#include "report/chrome_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "report/event_tracks.h"

namespace pleat::report {
namespace {

using trace::EventId;
using trace::LaneId;
using trace::RankId;

using Coordinate = std::int32_t trace::Coordinates::*;
constexpr std::array<std::pair<const char*, Coordinate>, 5> kCoordinates = {
    {{"dp", &trace::Coordinates::dp},
     {"pp", &trace::Coordinates::pp},
     {"tp", &trace::Coordinates::tp},
     {"ep", &trace::Coordinates::ep},
     {"cp", &trace::Coordinates::cp}}};

// A difference of two times may exceed their own range.
std::uint64_t since(base::TraceTime from, base::TraceTime to) {
    return static_cast<std::uint64_t>(to.ns) - static_cast<std::uint64_t>(from.ns);
}

class ChromeTrace {
  public:
    ChromeTrace(const trace::Trace& trace, const ChromeOptions& options, const TextSink& sink)
        : m_trace(trace),
          m_options(options),
          m_out(sink),
          m_tracks(trace),
          m_begin(trace.span().begin),
          m_firstThread(trace.lanes().size()) {
        // Thread numbers are unique in the run and differ from process numbers: older Perfettos
        // name threads by number alone. None is 0, which means the idle task.
        std::uint32_t next = static_cast<std::uint32_t>(trace.ranks().size()) + 1;
        for (std::size_t i = 0; i < trace.lanes().size(); ++i) {
            const LaneId lane = trace.lanes().idAt(i);
            m_firstThread[lane] = next;
            next += m_tracks.tracksOf(lane);
        }
    }

    base::Result<base::Diagnostics> write() && {
        writeHead();
        for (std::size_t i = 0; i < m_trace.ranks().size(); ++i)
            describeProcess(m_trace.ranks().idAt(i));
        for (std::size_t i = 0; i < m_trace.lanes().size(); ++i)
            describeThreads(m_trace.lanes().idAt(i));
        for (std::size_t i = 0; i < m_trace.eventCount() && !m_out.failed(); ++i)
            writeEvent(EventId::at(i));
        // After all events: an arrow's end belongs to a slice the reader has seen.
        for (const trace::Dependency& dependency : m_trace.dependencies()) {
            // What PyTorch's profiler calls a launch; other tools look for that name.
            const bool launch = dependency.kind == trace::DependencyKind::Launch;
            writeArrow(dependency.from, dependency.to, launch ? "ac2g" : "flow");
        }
        for (const trace::Match& match : m_trace.annotations().matches) writeMessage(match);
        m_out.raw("\n]}\n");
        if (const base::Result<void> written = m_out.flush(); !written) return written.error();
        return std::move(m_diagnostics);
    }

  private:
    void writeHead() {
        m_out.raw("{\"pleat\":{\"version\":").json(m_options.version).raw("},\n");
        std::int64_t base = 0;
        // No overflow can be meant: such an origin is damage.
        if (m_options.originUnixNs && m_trace.eventCount() > 0 &&
            !__builtin_add_overflow(*m_options.originUnixNs, m_begin.ns, &base)) {
            m_out.raw("\"baseTimeNanoseconds\":").number(base).raw(",\n");
        }
        m_out.raw("\"traceEvents\":[\n");
    }

    void beginEntry() {
        if (m_any) m_out.raw(",\n");
        m_any = true;
    }

    [[nodiscard]] static std::int64_t processOf(RankId rank) { return rank.index() + 1; }

    [[nodiscard]] std::int64_t threadOf(EventId event) const {
        return m_firstThread[m_trace.columns().lane[event.index()]] + m_tracks.trackOf(event);
    }

    void writeMetadata(std::string_view name, std::int64_t process, std::int64_t thread) {
        beginEntry();
        m_out.raw("{\"name\":").json(name).raw(",\"ph\":\"M\",\"pid\":").number(process);
        m_out.raw(",\"tid\":").number(thread).raw(",\"args\":{");
    }

    // "rank 3 (dp 1, pp 1)": the dimensions that this run has.
    [[nodiscard]] std::string processName(const trace::Rank& rank) const {
        if (rank.number < 0) {
            return fmt::format("{} (pid {})", rank.program.empty() ? "process" : rank.program,
                               rank.pid);
        }
        std::string place;
        for (const auto& [name, coordinate] : kCoordinates) {
            const bool used = std::any_of(
                m_trace.ranks().begin(), m_trace.ranks().end(),
                [member = coordinate](const auto& r) { return r.coordinates.*member > 0; });
            if (!used || rank.coordinates.*coordinate < 0) continue;
            place += fmt::format("{}{} {}", place.empty() ? "" : ", ", name,
                                 rank.coordinates.*coordinate);
        }
        const std::string title = trace::rankTitle(rank);
        return place.empty() ? title : fmt::format("{} ({})", title, place);
    }

    void describeProcess(RankId id) {
        const trace::Rank& rank = m_trace.ranks()[id];
        const std::int64_t process = processOf(id);
        writeMetadata("process_name", process, process);
        m_out.raw("\"name\":").json(processName(rank)).raw("}}");
        // What is no training rank comes last.
        constexpr std::int64_t kAfterRanks = 1'000'000'000;
        writeMetadata("process_sort_index", process, process);
        m_out.raw("\"sort_index\":");
        m_out.number(rank.number < 0 ? kAfterRanks + process : rank.number).raw("}}");
    }

    void describeThreads(LaneId id) {
        const std::int64_t process = processOf(m_trace.lanes()[id].rank);
        for (std::uint32_t track = 0; track < m_tracks.tracksOf(id); ++track) {
            const std::int64_t thread = m_firstThread[id] + track;
            std::string name = laneTitle(m_trace.lanes()[id]);
            if (track > 0) name += fmt::format(" (overlap {})", track);
            writeMetadata("thread_name", process, thread);
            m_out.raw("\"name\":").json(name).raw("}}");
            writeMetadata("thread_sort_index", process, thread);
            m_out.raw("\"sort_index\":").number(thread).raw("}}");
        }
    }

    void writePlace(EventId event) {
        const RankId rank = m_trace.lanes()[m_trace.columns().lane[event.index()]].rank;
        m_out.raw(",\"pid\":").number(processOf(rank)).raw(",\"tid\":").number(threadOf(event));
    }

    void writeEvent(EventId id) {
        const trace::Event event = m_trace.event(id);
        const std::string_view domain = m_trace.domain(id);
        beginEntry();
        m_out.raw("{\"name\":").json(m_trace.name(id));
        m_out.raw(",\"cat\":").json(domain.empty() ? "default" : domain);
        m_out.raw(event.kind == trace::EventKind::Mark ? ",\"ph\":\"i\",\"s\":\"t\",\"ts\":"
                                                       : ",\"ph\":\"X\",\"ts\":");
        m_out.microseconds(since(m_begin, event.span.begin));
        if (event.kind == trace::EventKind::Range)
            m_out.raw(",\"dur\":").microseconds(since(event.span.begin, event.span.end));
        writePlace(id);
        writeArguments(id, event);
        m_out.raw("}");
    }

    void writeArguments(EventId id, const trace::Event& event) {
        std::string_view arguments = m_trace.arguments(id);
        const bool open = event.flag == trace::EventFlag::OpenAtEnd;
        if (!arguments.empty() &&
            (arguments.front() != '{' || !nlohmann::json::accept(arguments))) {
            m_diagnostics.add("arguments_left_out", [&] {
                return fmt::format("\"{}\" (event {}): not a JSON object", m_trace.name(id),
                                   m_trace.sourceRow(id));
            });
            arguments = {};
        }
        if (open) {
            auto object = arguments.empty() ? nlohmann::ordered_json::object()
                                            : nlohmann::ordered_json::parse(arguments);
            object["open"] = true;
            m_out.raw(",\"args\":").raw(object.dump());
        } else if (!arguments.empty()) {
            m_out.raw(",\"args\":").raw(arguments);
        }
    }

    void writeMessage(const trace::Match& match) {
        EventId send, receive;
        for (const trace::TransferId member : match.members) {
            const trace::Transfer& transfer = m_trace.annotations().transfers[member];
            if (transfer.operation == trace::Operation::Send) send = transfer.event;
            if (transfer.operation == trace::Operation::Receive) receive = transfer.event;
        }
        if (send.valid() && receive.valid()) writeArrow(send, receive, "message");
    }

    // Readers go by time: an end before its begin, or outside of its slice, is an error to them.
    // The arrow begins where its first slice does. Where the second is already running then, as a
    // receive posted ahead is, it ends at that moment.
    void writeArrow(EventId from, EventId to, std::string_view name) {
        const trace::Event first = m_trace.event(from), second = m_trace.event(to);
        const base::TraceTime begin = first.span.begin;
        const base::TraceTime end = std::max(begin, second.span.begin);
        const bool inside = end == second.span.begin || end < second.span.end;
        if (!inside || first.kind != trace::EventKind::Range ||
            second.kind != trace::EventKind::Range) {
            m_diagnostics.add("arrow_left_out", [&] {
                return fmt::format(
                    "{} from \"{}\" (event {}) to \"{}\" (event {}): {}", name, m_trace.name(from),
                    m_trace.sourceRow(from), m_trace.name(to), m_trace.sourceRow(to),
                    inside ? "an end is not a range" : "it ends before the arrow would begin");
            });
            return;
        }
        ++m_arrows;
        writeArrowEnd("\"s\"", from, begin, name);
        writeArrowEnd("\"f\",\"bp\":\"e\"", to, end, name);
    }

    void writeArrowEnd(std::string_view phase, EventId event, base::TraceTime moment,
                       std::string_view name) {
        beginEntry();
        m_out.raw("{\"name\":").json(name).raw(",\"cat\":").json(name).raw(",\"ph\":").raw(phase);
        m_out.raw(",\"id\":").number(m_arrows).raw(",\"ts\":");
        m_out.microseconds(since(m_begin, moment));
        writePlace(event);
        m_out.raw("}");
    }

    const trace::Trace& m_trace;
    const ChromeOptions& m_options;
    TextWriter m_out;
    const EventTracks m_tracks;
    const base::TraceTime m_begin;
    base::IdVector<trace::LaneTag, std::uint32_t> m_firstThread;
    base::Diagnostics m_diagnostics;
    std::int64_t m_arrows = 0;
    bool m_any = false;
};

}  // namespace

base::Result<base::Diagnostics> writeChromeTrace(const trace::Trace& trace,
                                                 const ChromeOptions& options,
                                                 const TextSink& sink) {
    return ChromeTrace(trace, options, sink).write();
}

}  // namespace pleat::report
