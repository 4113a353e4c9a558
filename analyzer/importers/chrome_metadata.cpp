#include "importers/chrome_metadata.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>
#include <utility>

namespace pleat::importers {
namespace {

using Json = nlohmann::json;

// "{ members, "traceEvents": [" and "] , members }" as one object; discarded where it is none.
Json objectAround(const EventStreamResult& file) {
    std::string text = file.head;
    const std::size_t key = text.rfind("\"traceEvents\"");
    if (key == std::string::npos) return Json::object();  // a bare list
    text.resize(key);
    const std::string_view tail = file.tail;
    const std::size_t comma = tail.find_first_not_of(" \r\n\t]");
    if (comma != std::string_view::npos && tail[comma] == ',') {
        text += tail.substr(comma + 1);
    } else {
        while (!text.empty() &&
               std::string_view(" \r\n\t,").find(text.back()) != std::string_view::npos)
            text.pop_back();
        text += '}';
    }
    // Members that nothing reads may be many and large.
    const auto wanted = [](int depth, Json::parse_event_t event, const Json& parsed) {
        if (depth != 1 || event != Json::parse_event_t::key) return true;
        return parsed == "baseTimeNanoseconds" || parsed == "host_name" ||
               parsed == "distributedInfo";
    };
    return Json::parse(text, wanted, false);
}

std::int64_t integerOf(const Json& object, const char* key, std::int64_t missing) {
    const auto found = object.find(key);
    return found != object.end() && found->is_number_integer() ? found->get<std::int64_t>()
                                                               : missing;
}

std::string textOf(const Json& object, const char* key) {
    const auto found = object.find(key);
    return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

// The number behind the last "rank" of a name: "rank 3", "Rank3", "global_rank_3".
std::optional<std::int32_t> rankInName(std::string_view name) {
    for (std::size_t at = name.size(); at-- > 0;) {
        const std::string_view word = name.substr(at, 4);
        if (word != "rank" && word != "Rank" && word != "RANK") continue;
        std::size_t digit = at + 4;
        while (digit < name.size() &&
               std::string_view(" _-:=#").find(name[digit]) != std::string_view::npos)
            ++digit;
        std::int32_t number = 0;
        const char* first = name.data() + std::min(digit, name.size());
        const auto [end, error] = std::from_chars(first, name.data() + name.size(), number);
        if (error == std::errc() && end != first && number >= 0) return number;
    }
    return std::nullopt;
}

// "PP rank 0, TP rank 0, compute" as ndtimeline names its threads.
struct ThreadPlace {
    std::int32_t pp = -1, tp = -1;
    std::string rest;
};

std::optional<ThreadPlace> placeInName(std::string_view name) {
    const std::size_t pp = name.find("PP rank "), tp = name.find("TP rank ");
    if (pp == std::string_view::npos || tp == std::string_view::npos) return std::nullopt;
    ThreadPlace place;
    std::from_chars(name.data() + pp + 8, name.data() + name.size(), place.pp);
    std::from_chars(name.data() + tp + 8, name.data() + name.size(), place.tp);
    const std::size_t comma = name.rfind(", ");
    if (comma != std::string_view::npos) place.rest = name.substr(comma + 2);
    if (place.pp < 0 || place.tp < 0) return std::nullopt;
    return place;
}

}  // namespace

std::string nameIn(const MetadataEvent& event) {
    const Json arguments = Json::parse(event.arguments, nullptr, false);
    return arguments.is_object() ? textOf(arguments, "name") : std::string();
}

std::optional<std::int64_t> numberIn(std::string_view text) {
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return number;
}

FileMetadata readMetadata(const EventStreamResult& file, base::Diagnostics& diagnostics) {
    FileMetadata metadata;
    const Json members = objectAround(file);
    if (!members.is_object()) {
        if (file.listEnded) {
            diagnostics.add("unreadable_metadata",
                            "the part outside the list of events is not valid JSON; rank, time "
                            "base and process groups are unknown");
        }
        return metadata;
    }
    metadata.baseTime = {integerOf(members, "baseTimeNanoseconds", 0)};
    metadata.host = textOf(members, "host_name");
    const auto distributed = members.find("distributedInfo");
    if (distributed == members.end() || !distributed->is_object()) return metadata;
    const std::int64_t rank = integerOf(*distributed, "rank", -1);
    if (std::in_range<std::int32_t>(rank)) metadata.rank = static_cast<std::int32_t>(rank);
    return metadata;
}

void LaneOwners::settle(const FileMetadata& metadata, const std::vector<MetadataEvent>& events) {
    nameLanes(events);
    if (m_profiler && (metadata.rank >= 0 || !devicesAreOfRanks(events)))
        return describeProfiled(metadata, events);
    if (!ownByCoordinates()) ownByProcess(events);
    trace::Rank& first = m_builder.ranks()[m_firstRank];
    if (metadata.rank >= 0) first.number = metadata.rank;
}

void LaneOwners::nameLanes(const std::vector<MetadataEvent>& events) {
    std::map<std::pair<std::string_view, std::string_view>, std::string> names;
    for (const MetadataEvent& event : events) {
        if (event.name == "thread_name") names[{event.pid, event.tid}] = nameIn(event);
    }
    for (const NamedLane& lane : m_lanes) {
        std::string& name = m_builder.lanes()[lane.lane].name;
        const auto found = names.find({lane.pid, lane.tid});
        if (found != names.end()) name = found->second;
        while (!name.empty() && name.back() == ' ') name.pop_back();
        if (name.empty() && !numberIn(lane.tid)) name = lane.tid;
        if (name.empty() && lane.onDevice) name = "stream " + lane.tid;
    }
}

// Profiles that were put into one file, our own export among them: a process that has device work
// is called "rank 3" and not by the number of a device.
bool LaneOwners::devicesAreOfRanks(const std::vector<MetadataEvent>& events) const {
    std::set<std::string_view> ranks;
    for (const MetadataEvent& event : events) {
        if (event.name == "process_name" && rankInName(nameIn(event))) ranks.insert(event.pid);
    }
    return !ranks.empty() &&
           std::all_of(m_lanes.begin(), m_lanes.end(), [&](const NamedLane& lane) {
               return !lane.onDevice || ranks.contains(lane.pid);
           });
}

// One process recorded itself and its device.
void LaneOwners::describeProfiled(const FileMetadata& metadata,
                                  const std::vector<MetadataEvent>& events) {
    trace::Rank& rank = m_builder.ranks()[m_firstRank];
    rank.number = metadata.rank;
    rank.host = metadata.host;
    std::set<std::string> devices;
    std::map<std::string, std::size_t> lanesOfHost;
    for (const NamedLane& lane : m_lanes) {
        if (lane.onDevice) {
            devices.insert(lane.pid);
        } else if (numberIn(lane.pid)) {
            ++lanesOfHost[lane.pid];
        }
    }
    if (devices.empty()) {
        m_builder.diagnostics().add("no_device_work",
                                    "the profiler recorded no device work, only the host (a "
                                    "CPU-only run, or CUPTI was not available)");
    }
    if (devices.size() == 1) rank.device = "cuda:" + *devices.begin();
    const auto most =
        std::max_element(lanesOfHost.begin(), lanesOfHost.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    if (most == lanesOfHost.end()) return;
    rank.pid = numberIn(most->first).value_or(0);
    for (const MetadataEvent& event : events) {
        if (event.name == "process_name" && event.pid == most->first) rank.program = nameIn(event);
    }
}

// "rank 0 cuda:1 (pp 1)", as our own export names one of several devices of a process.
void LaneOwners::describeDevice(trace::Rank& rank) {
    const std::string_view name = rank.program;
    const std::size_t device = name.find(" cuda:");
    if (rank.number < 0 || device == std::string_view::npos) return;
    rank.device = name.substr(device + 1, name.find(' ', device + 1) - device - 1);
    rank.oneOfSeveralDevices = true;
    rank.pid = 0;  // that of the process is not in the file
}

bool LaneOwners::ownByCoordinates() {
    using Place = std::tuple<std::int32_t, std::int64_t, std::int32_t>;  // pp, process, tp
    std::map<Place, std::vector<trace::LaneId>> lanes;
    for (const NamedLane& named : m_lanes) {
        trace::Lane& lane = m_builder.lanes()[named.lane];
        const std::optional<ThreadPlace> place = placeInName(lane.name);
        const std::optional<std::int64_t> process = numberIn(named.pid);
        if (!place || !process) return false;
        lanes[{place->pp, *process, place->tp}].push_back(named.lane);
    }
    std::int32_t number = 0;
    for (const auto& [place, owned] : lanes) {
        const auto [pp, process, tp] = place;
        trace::Rank rank;
        rank.number = number++;
        rank.coordinates.pp = pp;
        rank.coordinates.dp = static_cast<std::int32_t>(process);
        rank.coordinates.tp = tp;
        const trace::RankId id = rank.number == 0 ? m_firstRank : m_builder.addRank({});
        m_builder.ranks()[id] = rank;
        for (const trace::LaneId lane : owned) {
            m_builder.lanes()[lane].rank = id;
            m_builder.lanes()[lane].name = placeInName(m_builder.lanes()[lane].name)->rest;
        }
    }
    m_builder.diagnostics().add(
        "rank_guessed",
        fmt::format(
            "ranks are not numbered; numbered 0 to {} by pipeline rank, then process (taken "
            "as dp), then tensor rank",
            number - 1),
        number);
    return true;
}

void LaneOwners::ownByProcess(const std::vector<MetadataEvent>& events) {
    std::map<std::string, std::string> names;
    for (const MetadataEvent& event : events) {
        if (event.name == "process_name") names[event.pid] = nameIn(event);
    }
    std::map<std::string, trace::RankId> ranks;
    for (const NamedLane& lane : m_lanes) {
        auto [rank, isNew] = ranks.try_emplace(lane.pid);
        if (isNew) {
            rank->second = ranks.size() == 1 ? m_firstRank : m_builder.addRank({});
            trace::Rank& made = m_builder.ranks()[rank->second];
            made.pid = numberIn(lane.pid).value_or(0);
            const auto name = names.find(lane.pid);
            made.program = name != names.end()  ? name->second
                           : numberIn(lane.pid) ? std::string()
                                                : lane.pid;
            made.number = rankInName(made.program).value_or(-1);
            describeDevice(made);
        }
        m_builder.lanes()[lane.lane].rank = rank->second;
    }
}

}  // namespace pleat::importers
