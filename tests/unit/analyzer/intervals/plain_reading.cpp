#include "unit/analyzer/intervals/plain_reading.h"

#include <sqlite3.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <tuple>

#include "unit/analyzer/intervals/plain_json.h"

namespace pleat::testing {
namespace {

bool isCommunication(std::string name) {
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return name.find("nccl") != std::string::npos;
}

bool isDeviceWork(const std::string& category) {
    return category == "kernel" || category == "gpu_memcpy" || category == "gpu_memset";
}

PlainRank rankOf(const std::vector<PlainEvent>& events) {
    PlainRank rank;
    std::map<std::int64_t, std::int64_t> calls;  // by correlation
    const std::string step = "ProfilerStep#";
    for (const PlainEvent& event : events) {
        if (event.text("ph") != "X") continue;
        const std::string category = event.text("cat"), name = event.text("name");
        if (category == "cuda_runtime" || category == "cuda_driver")
            calls.try_emplace(event.number("correlation", -1), event.begin());
        if (category == "user_annotation" && name.starts_with(step)) {
            rank.steps.try_emplace(std::atoi(name.c_str() + step.size()),
                                   PlainSpan{event.begin(), event.end()});
        }
    }
    calls.erase(-1);
    for (const PlainEvent& event : events) {
        if (event.text("ph") != "X" || !isDeviceWork(event.text("cat"))) continue;
        PlainWork work;
        work.span = {event.begin(), event.end()};
        work.kind = event.text("cat") != "kernel"         ? PlainKind::Copy
                    : isCommunication(event.text("name")) ? PlainKind::Communication
                                                          : PlainKind::Compute;
        work.stream = std::atoll(event.text("tid").c_str());
        const auto call = calls.find(event.number("correlation", -1));
        if (call != calls.end()) work.called = call->second;
        rank.work.push_back(work);
    }
    return rank;
}

void sortByBegin(PlainRank& rank) {
    std::stable_sort(rank.work.begin(), rank.work.end(), [](const auto& a, const auto& b) {
        return std::pair(a.span.begin, a.span.end) < std::pair(b.span.begin, b.span.end);
    });
}

// The n-th communication of each rank belongs together.
void matchByOrder(std::vector<PlainRank>& ranks) {
    for (std::size_t n = 0;; ++n) {
        std::vector<PlainWork*> members;
        for (PlainRank& rank : ranks) {
            std::size_t seen = 0;
            for (PlainWork& work : rank.work) {
                if (work.kind == PlainKind::Communication && seen++ == n) members.push_back(&work);
            }
        }
        if (members.empty()) return;
        if (members.size() < 2) continue;
        std::int64_t ready = 0;
        for (const PlainWork* member : members) ready = std::max(ready, member->span.begin);
        for (PlainWork* member : members) member->ready = ready;
    }
}

class Query {
  public:
    Query(sqlite3* database, const std::string& text) {
        if (sqlite3_prepare_v2(database, text.c_str(), -1, &m_statement, nullptr) != SQLITE_OK)
            m_statement = nullptr;
    }
    ~Query() { sqlite3_finalize(m_statement); }
    Query(const Query&) = delete;
    Query& operator=(const Query&) = delete;
    bool next() { return m_statement != nullptr && sqlite3_step(m_statement) == SQLITE_ROW; }
    [[nodiscard]] std::int64_t number(int column) const {
        return sqlite3_column_int64(m_statement, column);
    }
    [[nodiscard]] std::string text(int column) const {
        const unsigned char* const found = sqlite3_column_text(m_statement, column);
        return found == nullptr ? std::string() : reinterpret_cast<const char*>(found);
    }

  private:
    sqlite3_stmt* m_statement = nullptr;
};

// "PP rank 3, TP rank 0, compute": 3.
std::int64_t pipelineRank(const std::string& lane) {
    return std::atoll(lane.c_str() + std::string("PP rank ").size());
}

// What has to agree for parts of one communication; -1 for coordinates in which its members differ.
using TimerGroup = std::tuple<std::string, std::int64_t, std::int64_t, std::int64_t, std::int64_t>;

TimerGroup groupOf(const std::string& name, std::int64_t step, std::int64_t sequence,
                   std::int64_t dp, std::int64_t pp) {
    if (name == "forward-send") return {"forward", step, sequence, dp, pp};
    if (name == "forward-recv") return {"forward", step, sequence, dp, pp - 1};
    if (name == "backward-send") return {"backward", step, sequence, dp, pp};
    if (name == "backward-recv") return {"backward", step, sequence, dp, pp + 1};
    if (name == "embedding-grads-all-reduce") return {name, step, sequence, dp, -1};
    if (name == "optimizer-clip-main-grad") return {name, step, sequence, -1, -1};
    if (name == "params-all-gather" || name == "grads-reduce-scatter")
        return {name, step, sequence, -1, pp};
    return {name, step, sequence, dp, pp};
}

}  // namespace

std::vector<PlainRank> readKineto(const std::vector<std::filesystem::path>& files) {
    std::vector<PlainRank> ranks;
    for (const auto& file : files) ranks.push_back(rankOf(readEvents(file)));
    for (PlainRank& rank : ranks) sortByBegin(rank);
    if (ranks.size() > 1) matchByOrder(ranks);
    return ranks;
}

std::vector<PlainRank> readNsight(const std::filesystem::path& file) {
    sqlite3* database = nullptr;
    sqlite3_open_v2(("file:" + file.string() + "?immutable=1").c_str(), &database,
                    SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, nullptr);
    std::map<std::int64_t, std::string> names;
    for (Query query(database, "SELECT id, value FROM StringIds"); query.next();)
        names[query.number(0)] = query.text(1);
    std::map<std::int64_t, PlainRank> byProcess;
    const auto add = [&](const char* table, const char* name, PlainKind kind) {
        Query query(database, std::string("SELECT start, end, globalPid, streamId, ") + name +
                                  " FROM CUPTI_ACTIVITY_KIND_" + table);
        while (query.next()) {
            PlainWork work;
            work.span = {query.number(0), query.number(1)};
            work.kind = isCommunication(names[query.number(4)]) ? PlainKind::Communication : kind;
            work.stream = query.number(3);
            byProcess[query.number(2)].work.push_back(work);
        }
    };
    add("KERNEL", "shortName", PlainKind::Compute);
    add("GRAPH_TRACE", "-1", PlainKind::Compute);
    add("MEMCPY", "-1", PlainKind::Copy);
    add("MEMSET", "-1", PlainKind::Copy);
    sqlite3_close(database);
    std::vector<PlainRank> ranks;
    for (auto& [process, rank] : byProcess) ranks.push_back(std::move(rank));
    for (PlainRank& rank : ranks) sortByBegin(rank);
    if (ranks.size() > 1) matchByOrder(ranks);
    return ranks;
}

std::vector<PlainRank> readTimers(const std::filesystem::path& file) {
    const std::vector<PlainEvent> events = readEvents(file);
    std::map<std::pair<std::string, std::string>, std::int64_t> stages;  // of process and lane
    for (const PlainEvent& event : events) {
        if (event.text("ph") == "M" && event.text("name") == "thread_name")
            stages[{event.text("pid"), event.text("tid")}] =
                pipelineRank(event.arguments.at("name"));
    }
    std::map<std::pair<std::int64_t, std::int64_t>, PlainRank> byPlace;  // stage, replica
    std::map<TimerGroup, std::pair<int, std::int64_t>> groups;  // members, their latest begin
    const auto visit = [&](auto&& each) {
        for (const PlainEvent& event : events) {
            // A duration below 0 says nothing of when a rank took part.
            if (event.text("ph") != "X" || event.end() <= event.begin()) continue;
            const std::int64_t dp = std::atoll(event.text("pid").c_str());
            const std::int64_t pp = stages.at({event.text("pid"), event.text("tid")});
            const std::string name = event.text("name");
            const std::int64_t step = event.number("step", -1);
            each(event, name, dp, pp, step,
                 groupOf(name, step, event.number("seq_id", -1), dp, pp));
        }
    };
    visit([&](const PlainEvent& event, const std::string&, std::int64_t, std::int64_t, std::int64_t,
              const TimerGroup& group) {
        auto& [members, ready] = groups[group];
        ready = members++ == 0 ? event.begin() : std::max(ready, event.begin());
    });
    visit([&](const PlainEvent& event, const std::string& name, std::int64_t dp, std::int64_t pp,
              std::int64_t step, const TimerGroup& group) {
        if (name == "gc") return;
        PlainWork work;
        work.span = {event.begin(), event.end()};
        work.step = static_cast<std::int32_t>(step);
        const bool computes =
            name == "forward-compute" || name == "backward-compute" || name == "optimizer";
        if (!computes) work.kind = PlainKind::Communication;
        work.receives = name.ends_with("-recv") || name.ends_with("-send");
        const auto& [members, ready] = groups.at(group);
        if (!computes && members > 1) work.ready = ready;
        byPlace[{pp, dp}].work.push_back(work);
    });
    std::vector<PlainRank> ranks;
    for (auto& [place, rank] : byPlace) ranks.push_back(std::move(rank));
    for (PlainRank& rank : ranks) sortByBegin(rank);
    return ranks;
}

}  // namespace pleat::testing
