#include "importers/chrome_import.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "importers/chrome_metadata.h"
#include "importers/kept_arguments.h"
#include "importers/launches.h"
#include "importers/open_ranges.h"
#include "importers/xla_lanes.h"

namespace pleat::importers {
namespace {

using trace::LaneId;

class ChromeImporter {
  public:
    ChromeImporter(trace::TraceBuilder& builder)
        : m_builder(builder),
          m_before(builder.added()),
          m_firstRank(builder.addRank({})),
          m_ranges(builder),
          m_launches(builder) {}

    base::Result<FileFacts> run(EventStream& file, const std::function<void()>& allRead) && {
        const std::int64_t before = cutFiles();
        const auto read = file.run([this](const EventBatch& batch) { add(batch); }, allRead);
        if (!read) return read.error();
        if (!file.damage().empty()) note("damaged_file", file.damage());
        if (!read->listEnded && cutFiles() == before) {
            note("truncated", [&] {
                return fmt::format("the file ends within its list of events, at byte {}",
                                   read->bytes);
            });
        }
        if (const auto usable = checkUsable(); !usable) return usable.error();
        m_ranges.finish();
        matchFlows();
        m_launches.finish();
        const FileMetadata metadata = readMetadata(*read, m_builder.diagnostics());
        LaneOwners{m_builder, m_firstRank, m_laneNames, m_profiler}.settle(metadata, m_metadata);
        settleXla();
        FileFacts facts;
        facts.clock = clockOf(metadata);
        for (const NamedLane& lane : m_laneNames) {
            const auto device = lane.onDevice ? numberIn(lane.pid) : std::nullopt;
            if (device.value_or(-1) >= 0) facts.deviceOfLane[lane.lane] = *device;
        }
        return facts;
    }

  private:
    [[nodiscard]] FileClock clockOf(const FileMetadata& metadata) const {
        FileClock clock;
        clock.host = metadata.host;
        clock.base = metadata.baseTime;
        // One in the middle: a damaged event may be at 0.
        const std::size_t events = m_builder.eventCount() - m_before.events;
        if (events == 0) return clock;
        const base::TraceTime some = m_builder.event(m_before.events + events / 2).span.begin;
        std::int64_t moment_ns = 0;
        clock.utc = !__builtin_add_overflow(some.ns, clock.base.ns, &moment_ns) && isUtc(moment_ns);
        return clock;
    }

    // The batch's own numbers of texts and lanes, as the trace knows them.
    struct Known {
        std::vector<base::StringId> texts;
        std::unordered_map<std::uint64_t, LaneId> lanes;
        std::vector<base::StringId> categories;
    };

    void add(const EventBatch& batch) {
        m_batch = &batch;
        m_known.texts.assign(batch.texts.size(), {});
        m_known.categories.assign(batch.categories.size(), {});
        m_known.lanes.clear();
        m_builder.diagnostics().add(batch.diagnostics);
        m_seen += batch.launchArrows;
        for (const ChromeEvent& event : batch.events) add(event);
    }

    void add(const ChromeEvent& event) {
        ++m_seen;
        switch (event.phase) {
            case 'X':
                return addComplete(event);
            case 'B':
            case 'E':
            case 'b':
            case 'e':
            case 'S':
            case 'F':
                return addHalf(event);
            case 'i':
            case 'I':
            case 'R':
            case 'n':
            case 'T':
            case 'p':
                return addMark(event);
            case 's':
            case 't':
            case 'f':
                return addFlowEnd(event);
            case 'M':
                return addMetadata(event);
            default:
                return addOther(event);
        }
    }

    void addMetadata(const ChromeEvent& event) {
        m_metadata.push_back({std::string(text(event.name)), std::string(text(event.pid)),
                              std::string(text(event.tid)), std::string(arguments(event))});
        const MetadataEvent& added = m_metadata.back();
        if (added.name == "process_name") m_xla.nameProcess(added.pid, nameIn(added));
        if (added.name == "thread_name") m_xla.nameThread(added.pid, added.tid, nameIn(added));
    }

    // XLA's events have no category: their thread says what they are.
    bool addXla(const ChromeEvent& event) {
        if (event.category != kNoText || !m_xla.any() || !event.hasDuration) return false;
        const XlaLanes::Role role = m_xla.roleOf(text(event.pid), text(event.tid));
        if (role == XlaLanes::Role::None) return false;
        const LaneId lane = laneOf(event, true);
        const std::string_view category = XlaLanes::categoryOf(role, text(event.name));
        m_builder.addEvent({lane, global(event.name), m_builder.intern(category),
                            trace::EventKind::Range, trace::EventFlag::None, spanOf(event)},
                           arguments(event));
        ++m_xlaEvents[std::string(text(event.pid))];
        return true;
    }

    // Behind LaneOwners, which make each process a rank.
    void settleXla() {
        for (const NamedLane& lane : m_laneNames) {
            if (lane.onDevice)
                m_xla.describe(m_builder.ranks()[m_builder.lanes()[lane.lane].rank], lane.pid);
        }
        for (const auto& [pid, events] : m_xlaEvents)
            m_xla.noteWithoutWork(m_builder.diagnostics(), pid, events);
    }

    void addComplete(const ChromeEvent& event) {
        if (!event.hasStart) return unreadableTime(event);
        if (addXla(event)) return;
        const CategoryTraits traits = traitsOf(event);
        const bool onDevice = traits.onDevice;
        if (traits.deviceWork &&
            ((event.startNs == 0 && event.durationNs == 0) || event.durationNs < 0)) {
            return note("untimed_device_work", [&] {
                return fmt::format(
                    "\"{}\" has start {} ns and duration {} ns; its times were not "
                    "recorded, so it is skipped",
                    text(event.name), event.startNs, event.durationNs);
            });
        }
        if (!event.hasDuration) {
            return note("unreadable_time", [&] {
                return fmt::format("\"{}\" at {} ns has no valid duration; skipped",
                                   text(event.name), event.startNs);
            });
        }
        if (traits.unknownAccelerator) {
            note("unknown_accelerator", [&] {
                return fmt::format(
                    "\"{}\" has the unknown device category {}; shown, but not counted as "
                    "device work",
                    text(event.name), category(event));
            });
        }
        const LaneId lane = laneOf(event, onDevice);
        const std::size_t added = m_builder.eventCount();
        m_builder.addEvent({lane, global(event.name), categoryId(event), trace::EventKind::Range,
                            trace::EventFlag::None, spanOf(event)},
                           arguments(event));
        if (event.correlation == 0 && !onDevice) return;
        if (!onDevice) {
            m_launches.addCall(event.correlation, added);
        } else if (traits.deviceWork) {
            m_launches.addWork(event.correlation, added);
        }
    }

    static base::Interval spanOf(const ChromeEvent& event) {
        const base::TraceTime start{event.startNs};
        return {start, {event.startNs + event.durationNs}};
    }

    void addHalf(const ChromeEvent& event) {
        if (!event.hasStart) return unreadableTime(event);
        const bool begins = event.phase == 'B' || event.phase == 'b' || event.phase == 'S';
        const bool stacked = event.phase == 'B' || event.phase == 'E';
        HalfRange half;
        half.lane = stacked ? laneOf(event, traitsOf(event).onDevice) : asyncLane(event);
        half.time = {event.startNs};
        half.begins = begins;
        half.name = global(event.name);
        half.domain = categoryId(event);
        if (!stacked) half.id = base::StringId(global(event.id));
        half.arguments = arguments(event);
        m_ranges.add(std::move(half));
    }

    void addMark(const ChromeEvent& event) {
        if (!event.hasStart) return unreadableTime(event);
        m_builder.addEvent({laneOf(event, traitsOf(event).onDevice),
                            global(event.name),
                            categoryId(event),
                            trace::EventKind::Mark,
                            trace::EventFlag::None,
                            {{event.startNs}, {event.startNs}}},
                           arguments(event));
    }

    void addFlowEnd(const ChromeEvent& event) {
        if (!event.hasStart) return unreadableTime(event);
        if (event.id == kNoText) return note("flow_without_id", std::string(text(event.name)));
        m_flowEnds.push_back(
            {m_builder.intern(fmt::format("{}:{}", category(event), text(event.id))),
             laneOf(event, false), event.startNs, event.phase != 'f'});
    }

    void addOther(const ChromeEvent& event) {
        static constexpr std::string_view kUnderstood = "CPONDvVc(),";
        if (event.phase == '\0') {
            return note("event_without_phase",
                        [&] { return fmt::format("\"{}\" has no phase (ph)", text(event.name)); });
        }
        const bool known = kUnderstood.find(event.phase) != std::string_view::npos;
        const auto words = [&] {
            return fmt::format(
                "\"{}\" has the phase {}, which is not imported", text(event.name),
                event.phase == 'C' ? std::string("C (a counter)") : std::string(1, event.phase));
        };
        note(known ? base::DiagnosticCode("phase_not_kept") : base::DiagnosticCode("unknown_phase"),
             words);
    }

    void unreadableTime(const ChromeEvent& event) {
        ++m_timeless;
        note("unreadable_time",
             [&] { return fmt::format("\"{}\" has no valid time; skipped", text(event.name)); });
    }

    // An arrow from each start or step to the next step or end of the same id, in order of time.
    void matchFlows() {
        std::stable_sort(m_flowEnds.begin(), m_flowEnds.end(), [](const auto& a, const auto& b) {
            return std::pair(a.id, a.timeNs) < std::pair(b.id, b.timeNs);
        });
        for (std::size_t i = 0; i < m_flowEnds.size(); ++i) {
            const bool goesOn =
                i + 1 < m_flowEnds.size() && m_flowEnds[i + 1].id == m_flowEnds[i].id;
            const bool came = i > 0 && m_flowEnds[i - 1].id == m_flowEnds[i].id;
            if (!goesOn && !came) {
                note("half_flow", [&] {
                    return fmt::format("the flow at {} ns has only one end", m_flowEnds[i].timeNs);
                });
            }
            if (!goesOn || !m_flowEnds[i].goesOn) continue;
            m_builder.addFlow({m_flowEnds[i].lane,
                               {m_flowEnds[i].timeNs},
                               m_flowEnds[i + 1].lane,
                               {m_flowEnds[i + 1].timeNs}});
        }
    }

    // How many files were said to be cut off, within an event or behind one.
    [[nodiscard]] std::int64_t cutFiles() const {
        const base::Diagnostic* said = m_builder.diagnostics().find("truncated");
        return said == nullptr ? 0 : said->count;
    }

    base::Result<void> checkUsable() const {
        if (m_builder.eventCount() > m_before.events || m_ranges.any()) return {};
        const base::Diagnostic* relative = m_builder.diagnostics().find("relative_time");
        if (relative != nullptr && m_timeless > 0) {
            return base::Error{base::ErrorCode::Input,
                               "its events have rel_ts but no ts, pid and tid, so their absolute "
                               "times are unknown; write absolute times"};
        }
        if (m_seen == 0) {
            return base::Error{base::ErrorCode::Input,
                               "holds no trace events: it has an empty list of events"};
        }
        return base::Error{
            base::ErrorCode::Input,
            fmt::format("holds no trace events: none of the objects ({}) in its list "
                        "has both a phase (ph) and a time (ts)",
                        m_seen)};
    }

    CategoryTraits traitsOf(const ChromeEvent& event) {
        if (event.category == kNoText) return {};
        const CategoryTraits traits = m_batch->traits[event.category];
        m_profiler = m_profiler || traits.profiler;
        return traits;
    }

    LaneId laneOf(const ChromeEvent& event, bool onDevice) {
        const std::uint64_t key = (std::uint64_t{event.pid + 1} << 32) |
                                  (std::uint64_t{event.tid + 1} << 1) | (onDevice ? 1 : 0);
        const auto [known, isNew] = m_known.lanes.try_emplace(key);
        if (isNew) known->second = lane({text(event.pid), text(event.tid), onDevice});
        return known->second;
    }

    LaneId asyncLane(const ChromeEvent& event) {
        const std::string name = fmt::format("async {}", category(event));
        return lane({text(event.pid), name, false});
    }

    LaneId lane(const LaneKey& key) {
        const auto [known, isNew] = m_lanes.try_emplace(
            std::tuple(std::string(key.pid), std::string(key.tid), key.onDevice));
        if (!isNew) return known->second;
        known->second = m_builder.addLane(
            {m_firstRank,
             key.onDevice ? trace::LaneKind::DeviceStream : trace::LaneKind::HostThread,
             numberIn(key.tid).value_or(0),
             {}});
        m_laneNames.push_back(
            {known->second, std::string(key.pid), std::string(key.tid), key.onDevice});
        return known->second;
    }

    [[nodiscard]] std::string_view text(std::uint32_t number) const {
        return number == kNoText ? std::string_view() : m_batch->texts.text(number);
    }
    [[nodiscard]] std::string_view category(const ChromeEvent& event) const {
        return event.category == kNoText ? std::string_view()
                                         : m_batch->categories.text(event.category);
    }
    [[nodiscard]] std::string_view arguments(const ChromeEvent& event) const {
        return std::string_view(m_batch->argumentText).substr(event.arguments, event.argumentBytes);
    }
    base::StringId global(std::uint32_t number) {
        if (number == kNoText) return m_builder.intern("");
        base::StringId& known = m_known.texts[number];
        if (!known.valid()) known = m_builder.intern(text(number));
        return known;
    }
    base::StringId categoryId(const ChromeEvent& event) {
        if (event.category == kNoText) return {};
        base::StringId& known = m_known.categories[event.category];
        if (!known.valid()) known = m_builder.intern(canonicalCategory(category(event)));
        return known;
    }
    template <class Example>
    void note(base::DiagnosticCode code, const Example& example) {
        m_builder.diagnostics().add(code, example);
    }

    struct FlowEnd {
        base::StringId id;
        LaneId lane;
        std::int64_t timeNs;
        bool goesOn;
    };

    trace::TraceBuilder& m_builder;
    const trace::TraceBuilder::Added m_before;
    const trace::RankId m_firstRank;
    OpenRanges m_ranges;
    Launches m_launches;
    const EventBatch* m_batch = nullptr;
    Known m_known;
    std::map<std::tuple<std::string, std::string, bool>, LaneId> m_lanes;
    std::vector<NamedLane> m_laneNames;
    std::vector<MetadataEvent> m_metadata;
    std::vector<FlowEnd> m_flowEnds;
    std::size_t m_seen = 0, m_timeless = 0;
    bool m_profiler = false;  // written by PyTorch's profiler
    XlaLanes m_xla;
    std::map<std::string, std::int64_t> m_xlaEvents;  // by pid
};

}  // namespace

base::Result<FileFacts> importChrome(EventStream& file, trace::TraceBuilder& builder,
                                     const std::function<void()>& allRead) {
    return ChromeImporter(builder).run(file, allRead);
}

}  // namespace pleat::importers
