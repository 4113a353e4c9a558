#include "collector/recorded_process.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <utility>

#include "collector/text.h"

namespace pleat::collector {

std::string hostName() {
    char name[256] = {};
    return gethostname(name, sizeof name - 1) == 0 ? name : "unknown";
}

RecordedProcess::RecordedProcess(std::int64_t pid, base::StringPool& texts, const TickClock& clock,
                                 Sink sink)
    : m_pid(pid),
      m_texts(texts),
      m_clock(clock),
      m_sink(std::move(sink)),
      m_matcher([this](MatchedEvent event) {
          if (m_sink.recording(event.start)) m_sink.addEvent(std::move(event));
      }) {
    m_rank.host = hostName();
    m_rank.pid = pid;
}

void RecordedProcess::addRing(MappedRing ring, RingReader reader) {
    const std::int64_t tid = reader.header().tid;
    if (reader.header().kind == RingKind::Process) {
        m_definitions = ThreadRing{std::move(ring), std::move(reader), {}, tid};
        return;
    }
    m_threads.push_back(
        std::make_unique<ThreadRing>(ThreadRing{std::move(ring), std::move(reader), {}, tid}));
}

std::string_view RecordedProcess::textOf(std::uint32_t name) const {
    const auto known = m_strings.find(name);
    return known == m_strings.end() ? std::string_view() : m_texts.text(known->second);
}

void RecordedProcess::define(const RingEvent& event) {
    const auto text = [&] { return m_texts.intern(toValidUtf8(event.text)); };
    switch (event.record.kind) {
        case RecordKind::ProcessInfo:
            m_rank.program = std::filesystem::path(toValidUtf8(event.text)).filename().string();
            std::from_chars(event.payload.data(), event.payload.data() + event.payload.size(),
                            m_rank.number);
            break;
        case RecordKind::String:
            m_strings[event.record.name] = text();
            break;
        case RecordKind::Domain:
            m_domains[event.record.domain] = text();
            break;
        case RecordKind::Schema:
            m_schemas[event.record.value] = parsePayloadLayout(event.payload);
            break;
        case RecordKind::ThreadName:
            m_threadNames[static_cast<std::int64_t>(event.record.value)] = toValidUtf8(event.text);
            break;
        case RecordKind::Exit:
            m_saidGoodbye = true;
            break;
        case RecordKind::RingFailed:
            m_diagnostics.add(
                base::Severity::DataLoss, "thread_not_recorded",
                fmt::format("process {}: no memory for the events of a thread: {}", m_pid,
                            std::strerror(static_cast<int>(event.record.value))));
            break;
        case RecordKind::DomainRefused:
            m_diagnostics.add(base::Severity::DataLoss, "domain_not_recorded",
                              fmt::format("process {}: domain \"{}\" is one too many", m_pid,
                                          toValidUtf8(event.text)));
            break;
        default:
            break;
    }
}

void RecordedProcess::readDefinitions() {
    if (!m_definitions) return;
    m_definitions->reader.observe();
    while (const auto event = m_definitions->reader.next()) define(*event);
}

void RecordedProcess::introduce() {
    if (!m_rankId.valid()) m_rankId = m_sink.addRank(m_rank);
}

bool RecordedProcess::drain() {
    // First what the threads have published, then the definitions: an event's text is defined
    // before the event is published, so everything observed can be named.
    for (const auto& thread : m_threads) thread->reader.observe();
    readDefinitions();
    bool any = false;
    for (const auto& thread : m_threads) {
        while (const auto event = thread->reader.next()) {
            any = true;
            handle(*event, *thread);
        }
        thread->reader.release();
    }
    return any;
}

std::string RecordedProcess::argumentsOf(const RingEvent& event) {
    if (event.payload.empty()) return {};
    std::string json = "{";
    std::string_view rest = event.payload;
    while (rest.size() >= sizeof(PayloadBlock)) {
        PayloadBlock block;
        std::memcpy(&block, rest.data(), sizeof block);
        rest.remove_prefix(sizeof block);
        const std::string_view bytes = rest.substr(0, block.bytes);
        rest.remove_prefix(bytes.size());
        if (block.type != PayloadType::Schema) {
            const char kind =
                block.type == PayloadType::Double || block.type == PayloadType::Float        ? 'f'
                : block.type == PayloadType::Signed64 || block.type == PayloadType::Signed32 ? 'i'
                                                                                             : 'u';
            appendPayloadMembers(
                json, {{static_cast<PayloadFieldType>(kind), 0, block.bytes, "payload"}}, bytes);
            continue;
        }
        const auto schema = m_schemas.find(block.schema);
        if (schema == m_schemas.end()) {
            m_diagnostics.add(
                base::Severity::DataLoss, "unknown_payload_schema",
                fmt::format("process {}: a payload of schema {}, which was never registered", m_pid,
                            block.schema));
            continue;
        }
        appendPayloadMembers(json, schema->second, bytes);
    }
    return json.size() > 1 ? json + "}" : std::string();
}

void RecordedProcess::handle(const RingEvent& event, ThreadRing& thread) {
    introduce();
    if (!thread.lane.valid()) {
        thread.lane = m_sink.addLane(
            {m_rankId, trace::LaneKind::HostThread, thread.tid, thread.reader.header().threadName});
    }
    const Record& record = event.record;
    const base::TraceTime time = m_clock.toTraceTime(record.ticks);
    const auto begin = [&] {
        const auto domain = m_domains.find(record.domain);
        return EventBegin{
            thread.lane,
            record.domain,
            domain == m_domains.end() ? std::string_view() : m_texts.text(domain->second),
            textOf(record.name),
            time,
            argumentsOf(event)};
    };
    switch (record.kind) {
        case RecordKind::Push:
            return m_matcher.push(begin());
        case RecordKind::Pop:
            return m_matcher.pop(thread.lane, record.domain, time);
        case RecordKind::Start:
            return m_matcher.start(record.value, begin());
        case RecordKind::End:
            return m_matcher.end(record.value, thread.lane, time);
        case RecordKind::Mark:
            return m_matcher.mark(begin());
        default:
            m_diagnostics.add(base::Severity::DataLoss, "unreadable_record",
                              fmt::format("process {}: a record of unknown kind {}", m_pid,
                                          static_cast<int>(record.kind)));
    }
}

bool RecordedProcess::alive() const {
    return kill(static_cast<pid_t>(m_pid), 0) == 0 || errno == EPERM;
}

void RecordedProcess::finish() {
    m_matcher.finish();
    m_diagnostics.add(m_matcher.diagnostics());
    const auto count = [&](base::Severity severity, std::string_view code, std::uint64_t number,
                           std::string_view what) {
        if (number == 0) return;
        m_diagnostics.add(severity, code,
                          fmt::format("process {} ({}): {}", m_pid, m_rank.program, what),
                          static_cast<std::int64_t>(number));
    };
    for (const auto& thread : m_threads) {
        const RingHeader& header = thread->reader.header();
        count(base::Severity::DataLoss, "dropped_event", header.droppedEvents.load(),
              "events found no room in the ring");
        count(base::Severity::DataLoss, "dropped_end", header.droppedEnds.load(),
              "ends of ranges found no room");
        count(base::Severity::Info, "unmatched_pop", header.unmatchedPops.load(),
              "a pop without a push");
        count(base::Severity::DataLoss, "dropped_payload", header.droppedPayloads.load(),
              "payloads were too large");
        count(base::Severity::DataLoss, "unreadable_record", thread->reader.unreadableRecords(),
              "damaged records");
    }
    if (m_definitions) {
        count(base::Severity::DataLoss, "dropped_definition",
              m_definitions->reader.header().droppedEvents.load(),
              "names found no room: their events have none");
    }
    m_rank.end = m_saidGoodbye ? trace::ProcessEnd::Exited
                 : alive()     ? trace::ProcessEnd::Unknown
                               : trace::ProcessEnd::Killed;
    if (!m_rankId.valid() || m_saidGoodbye) return;
    const std::string who = m_rank.number >= 0 ? fmt::format("rank {} ({}, pid {})", m_rank.number,
                                                             m_rank.program, m_pid)
                                               : fmt::format("{} (pid {})", m_rank.program, m_pid);
    if (m_rank.end == trace::ProcessEnd::Killed) {
        m_diagnostics.add(
            base::Severity::DataLoss, "process_killed",
            fmt::format(
                "{} ended without closing (killed, or left by _exit); its last event is at {} ns",
                who, m_matcher.lastTime().ns));
    } else {
        m_diagnostics.add(base::Severity::Info, "process_still_running",
                          fmt::format("{} was still running when the command had ended", who));
    }
}

std::vector<std::pair<trace::LaneId, std::string>> RecordedProcess::namedLanes() const {
    std::vector<std::pair<trace::LaneId, std::string>> lanes;
    for (const auto& thread : m_threads) {
        const auto name = m_threadNames.find(thread->tid);
        if (thread->lane.valid() && name != m_threadNames.end())
            lanes.emplace_back(thread->lane, name->second);
    }
    return lanes;
}

}  // namespace pleat::collector
