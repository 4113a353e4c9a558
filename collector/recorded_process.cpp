#include "collector/recorded_process.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <utility>

#include "base/exceptions.h"
#include "collector/text.h"

namespace pleat::collector {

namespace {

std::uint64_t categoryKey(const Record& record) {
    return (std::uint64_t{record.domain} << 32) | record.category;
}

PayloadFieldType numberType(PayloadType type) {
    switch (type) {
        case PayloadType::Double:
        case PayloadType::Float:
            return PayloadFieldType::Real;
        case PayloadType::Signed64:
        case PayloadType::Signed32:
            return PayloadFieldType::Signed;
        default:
            return PayloadFieldType::Unsigned;
    }
}

}  // namespace

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
          if (m_sink.recording(event.start)) return m_sink.addEvent(std::move(event));
          ++m_losses.outside;
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

void RecordedProcess::readRank(std::string_view text) {
    m_rankOfLauncher = text.starts_with(kOfLauncher);
    if (m_rankOfLauncher) text.remove_prefix(1);
    std::from_chars(text.data(), text.data() + text.size(), m_rank.number);
}

void RecordedProcess::define(const RingEvent& event) {
    const auto text = [&] { return m_texts.intern(toValidUtf8(event.text)); };
    switch (event.record.kind) {
        case RecordKind::ProcessInfo:
            m_rank.program = std::filesystem::path(toValidUtf8(event.text)).filename().string();
            readRank(event.payload);
            m_parentPid = static_cast<std::int64_t>(event.record.value);
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
        case RecordKind::Category:
            m_categories[categoryKey(event.record)] = toValidUtf8(event.text);
            break;
        case RecordKind::ThreadName:
            m_threadNames[static_cast<std::int64_t>(event.record.value)] = toValidUtf8(event.text);
            break;
        case RecordKind::Exit:
            m_saidGoodbye = true;
            break;
        case RecordKind::DomainRefused:
            m_diagnostics.add("domain_not_recorded",
                              fmt::format("process {}: domain \"{}\" exceeds the limit on domains",
                                          m_pid, toValidUtf8(event.text)));
            break;
        default:
            break;
    }
}

void RecordedProcess::readDefinitions() {
    if (!m_definitions) return;
    m_definitions->reader.observe();
    while (const auto event = m_definitions->reader.next()) {
        if (!base::contained([&] { define(*event); })) ++m_lostDefinitions;
    }
}

void RecordedProcess::introduce() {
    if (!m_rankId.valid()) m_rankId = m_sink.addRank(m_rank);
}

void RecordedProcess::observe() {
    for (const auto& thread : m_threads) {
        thread->ended =
            thread->reader.header().ended.load(std::memory_order_acquire) != 0;  // before the rest
        thread->reader.observe();
    }
}

bool RecordedProcess::drain() {
    // An event's text is defined before the event is published, so everything observed can be
    // named.
    readDefinitions();
    bool any = false;
    for (const auto& thread : m_threads) {
        while (const auto event = thread->reader.next()) {
            any = true;
            const base::Result<void> handled = base::contained([&] { handle(*event, *thread); });
            if (!handled && ++m_losses.failed == 1) m_firstFailure = handled.error();
        }
        thread->reader.release();
        if (thread->ended) countLosses(*thread);
    }
    std::erase_if(m_threads, [](const auto& thread) { return thread->ended; });
    return any;
}

void RecordedProcess::countLosses(const ThreadRing& ring) {
    const RingHeader& header = ring.reader.header();
    m_losses.events += header.droppedEvents.load();
    m_losses.ends += header.droppedEnds.load();
    m_losses.tooDeep += header.tooDeep.load();
    m_losses.pops += header.unmatchedPops.load();
    m_losses.payloads += header.droppedPayloads.load();
    m_losses.cutNames += header.cutTexts.load();
    m_losses.unreadable += ring.reader.unreadableRecords();
}

void RecordedProcess::appendPayload(std::string& json, std::string_view blocks) {
    while (blocks.size() >= sizeof(PayloadBlock)) {
        PayloadBlock block;
        std::memcpy(&block, blocks.data(), sizeof block);
        blocks.remove_prefix(sizeof block);
        const std::string_view bytes = blocks.substr(0, block.bytes);
        blocks.remove_prefix(bytes.size());
        if (block.type != PayloadType::Schema) {
            appendPayloadMembers(json, {{numberType(block.type), 0, block.bytes, "payload"}},
                                 bytes);
            continue;
        }
        const auto schema = m_schemas.find(block.schema);
        if (schema == m_schemas.end()) {
            m_diagnostics.add(
                "unknown_payload_schema",
                fmt::format("process {}: a payload of schema {}, whose description is missing: "
                            "never registered, or dropped for lack of space",
                            m_pid, block.schema));
            continue;
        }
        appendPayloadMembers(json, schema->second, bytes);
    }
}

// The members of the event's JSON object, without braces.
std::string RecordedProcess::argumentsOf(const RingEvent& event) {
    std::string json;
    appendPayload(json, event.payload);
    if (event.record.category != 0) {
        const auto name = m_categories.find(categoryKey(event.record));
        json += json.empty() ? "\"category\":" : ",\"category\":";
        if (name == m_categories.end()) {
            json += std::to_string(event.record.category);
        } else {
            appendJsonString(json, name->second);
        }
    }
    return json;
}

EventBegin RecordedProcess::beginOf(const RingEvent& event, trace::LaneId lane,
                                    base::TraceTime time) {
    const auto domain = m_domains.find(event.record.domain);
    std::string arguments = argumentsOf(event);
    if (!arguments.empty()) arguments = '{' + arguments + '}';
    return {lane,
            event.record.domain,
            domain == m_domains.end() ? std::string_view() : m_texts.text(domain->second),
            event.text.empty() ? textOf(event.record.name)
                               : m_texts.text(m_texts.intern(toValidUtf8(event.text))),
            time,
            std::move(arguments)};
}

void RecordedProcess::handle(const RingEvent& event, ThreadRing& thread) {
    introduce();
    if (!thread.lane.valid()) {
        thread.lane = m_sink.addLane(
            {m_rankId, trace::LaneKind::HostThread, thread.tid, thread.reader.header().threadName});
        m_lanes.emplace_back(thread.lane, thread.tid);
    }
    const Record& record = event.record;
    const base::TraceTime time = m_clock.toTraceTime(record.ticks);
    switch (record.kind) {
        case RecordKind::Push:
            return m_matcher.push(beginOf(event, thread.lane, time));
        case RecordKind::Pop:
            return m_matcher.pop(thread.lane, record.domain, time, argumentsOf(event));
        case RecordKind::Start:
            return m_matcher.start(record.value, beginOf(event, thread.lane, time));
        case RecordKind::End:
            return m_matcher.end(record.value, thread.lane, time, argumentsOf(event));
        case RecordKind::Mark:
            return m_matcher.mark(beginOf(event, thread.lane, time));
        default:
            m_diagnostics.add("unreadable_record",
                              fmt::format("process {}: a record of unknown kind {}", m_pid,
                                          static_cast<int>(record.kind)));
    }
}

bool RecordedProcess::alive() const {
    return kill(static_cast<pid_t>(m_pid), 0) == 0 || errno == EPERM;
}

void RecordedProcess::release() {
    m_released = true;
    for (const auto& thread : m_threads) countLosses(*thread);
    m_threads.clear();
    if (m_definitions) m_lostDefinitions += m_definitions->reader.header().droppedEvents.load();
    m_definitions.reset();
}

void RecordedProcess::finish(trace::ProcessEnd known) {
    const bool running = !m_released && alive();  // once it is gone another may have its number
    release();
    m_matcher.finish();
    m_diagnostics.add(m_matcher.diagnostics());
    reportLosses();
    m_rank.end = m_saidGoodbye                         ? trace::ProcessEnd::Exited
                 : known != trace::ProcessEnd::Unknown ? known
                 : running                             ? trace::ProcessEnd::Unknown
                                                       : trace::ProcessEnd::Killed;
    if (m_rankId.valid()) reportEnd(known);
}

void RecordedProcess::reportLosses() {
    const auto report = [&](base::DiagnosticCode code, std::uint64_t number,
                            std::string_view what) {
        if (number == 0) return;
        m_diagnostics.add(code, fmt::format("process {} ({}): {}", m_pid, m_rank.program, what),
                          static_cast<std::int64_t>(number));
    };
    report("outside_recording", m_losses.outside,
           "skipped events before the delay, after the duration or beyond the maximum size");
    report("dropped_event", m_losses.events, "events dropped because the ring was full");
    report("dropped_end", m_losses.ends, "range ends dropped because the ring was full");
    report("too_deep_range", m_losses.tooDeep, "ranges nested more than 256 deep");
    report("unmatched_pop", m_losses.pops, "a pop without a push");
    report("dropped_payload", m_losses.payloads,
           "payloads larger than 4 KiB, or dropped because the ring was full");
    report("cut_name", m_losses.cutNames, "names longer than 4096 bytes, cut off");
    report("unreadable_record", m_losses.unreadable, "damaged records");
    report("recorder_failed", m_losses.failed, m_firstFailure.message);
    report("dropped_definition", m_lostDefinitions,
           "names dropped for lack of space, so their events have none");
}

void RecordedProcess::reportEnd(trace::ProcessEnd known) {
    if (m_rank.end == trace::ProcessEnd::Exited) return;
    const std::string who = m_rank.number >= 0 ? fmt::format("rank {} ({}, pid {})", m_rank.number,
                                                             m_rank.program, m_pid)
                                               : fmt::format("{} (pid {})", m_rank.program, m_pid);
    if (m_rank.end == trace::ProcessEnd::Killed) {
        m_diagnostics.add(
            "process_killed",
            fmt::format("{} {}; its last event is at {} ns", who,
                        known == trace::ProcessEnd::Killed
                            ? "was killed"
                            : "ended without closing its recording (killed, or it called _exit)",
                        m_matcher.lastTime().ns));
    } else {
        m_diagnostics.add("process_still_running",
                          fmt::format("{} was still running when the command ended", who));
    }
}

std::vector<std::string_view> RecordedProcess::domains() const {
    std::vector<std::string_view> names;
    for (const auto& [number, text] : m_domains) names.push_back(m_texts.text(text));
    return names;
}

std::vector<std::pair<trace::LaneId, std::string>> RecordedProcess::namedLanes() const {
    std::vector<std::pair<trace::LaneId, std::string>> lanes;
    for (const auto& [lane, tid] : m_lanes) {
        const auto name = m_threadNames.find(tid);
        if (name != m_threadNames.end()) lanes.emplace_back(lane, name->second);
    }
    return lanes;
}

}  // namespace pleat::collector
