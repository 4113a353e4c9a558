#include "support/made_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <utility>

#include "schedule/generators.h"
#include "schedule/lower.h"
#include "support/true_account.h"

namespace pleat::testing {
namespace {

using base::Duration;
using schedule::Action;
using schedule::ActionKind;

constexpr double kLeastSlowdown = 1.05, kMostSlowdown = 1.8;

std::int64_t scaled(std::int64_t ns, double factor) {
    return static_cast<std::int64_t>(std::llround(static_cast<double>(ns) * factor));
}

class Random {
  public:
    explicit Random(std::int32_t number)
        : m_engine(static_cast<std::uint32_t>(number) * 7'919U + 11U) {}
    // Spelled out, for the standard's distributions differ from library to library.
    std::int32_t between(std::int32_t low, std::int32_t high) {
        return low +
               static_cast<std::int32_t>(m_engine() % static_cast<std::uint32_t>(high - low + 1));
    }
    double real(double low, double high) {
        return low + (high - low) * static_cast<double>(m_engine()) / 4'294'967'295.0;
    }
    template <class Item>
    Item oneOf(const std::vector<Item>& items) {
        return items[static_cast<std::size_t>(between(0, static_cast<int>(items.size()) - 1))];
    }

  private:
    std::mt19937 m_engine;
};

std::vector<Feature> featuresOf(Recorder recorder) {
    switch (recorder) {
        case Recorder::Markers:
            return {Feature::None, Feature::Blocking, Feature::MissingCollective};
        case Recorder::Timers:
            return {Feature::None, Feature::Digested};
        default:
            return {Feature::None,       Feature::WaitsInTasks,      Feature::SyncInTasks,
                    Feature::SideCopies, Feature::MissingCollective, Feature::RunAhead};
    }
}

class Maker {
  public:
    explicit Maker(std::int32_t number) : m_random(number) { m_run.number = number; }

    MadeRun make() && {
        chooseRecording();
        do {
            chooseSize();
            chooseCosts();
        } while (!inject());
        m_run.happened = makeSyntheticRun(m_run.options);
        record();
        return std::move(m_run);
    }

  private:
    void chooseRecording() {
        m_run.recorder = static_cast<Recorder>(m_random.between(0, kRecorders - 1));
        m_run.feature = m_random.oneOf(featuresOf(m_run.recorder));
        m_run.cause = static_cast<Cause>(m_random.between(0, kCauses - 1));
        // Timers have none for data; a host that runs ahead has no data to be late with.
        if (m_run.cause == Cause::LateData &&
            (m_run.recorder == Recorder::Timers || m_run.feature == Feature::RunAhead))
            m_run.cause = Cause::SlowRank;
        m_run.noise = {m_random.oneOf<std::int64_t>({0, 1'000, 20'000, 120'000})};
    }

    void chooseSize() {
        SyntheticOptions& options = m_run.options;
        const bool alone = m_run.feature == Feature::SyncInTasks;
        m_pipeline = alone ? 1 : m_random.oneOf<std::int32_t>({2, 2, 4});
        options.dp = alone ? 4 : m_random.between(1, 2);
        options.tp = m_run.feature == Feature::WaitsInTasks ? 2 : 1;
        if (m_run.feature == Feature::MissingCollective) options.dp = 2;
        if (m_run.cause == Cause::SlowReplica || m_run.cause == Cause::LongSync) options.dp = 2;
        const bool replicasAlone = m_pipeline == 1 || options.dp == 1;
        if (replicasAlone && m_run.cause == Cause::SlowReplica) m_run.cause = Cause::SlowRank;
        if (m_pipeline == 1 && (m_run.cause == Cause::SlowStage || m_run.cause == Cause::SlowLink ||
                                m_run.cause == Cause::LongSync))
            m_run.cause = Cause::SlowRank;
        // What is usual of timers is what most stages take: of two stages neither is.
        if (m_run.cause == Cause::LongSync && m_run.recorder == Recorder::Timers) m_pipeline = 4;
        // One link alone is like itself.
        if (m_run.cause == Cause::SlowLink && options.dp * (m_pipeline - 1) < 2) options.dp = 2;
        const char* name = m_random.between(0, 2) == 0 ? "gpipe" : "1f1b";
        const std::int32_t microbatches = 2 * m_random.between(2, 4);
        options.schedule = schedule::makeSchedule(name, {m_pipeline, microbatches, 1, 0}).value();
        if (m_run.feature == Feature::Blocking) {
            options.blocking = true;
            options.schedule = schedule::lower(options.schedule).value();
        }
        options.iterations = m_random.between(3, 4);
    }

    void chooseCosts() {
        SyntheticOptions& options = m_run.options;
        m_forward = m_random.between(4'000, 12'000) * 1'000LL;
        options.link = {m_random.between(100, 600) * 1'000};
        options.sync = {m_random.between(1'000, 6'000) * 1'000};
        options.optimizer = {m_random.between(1'000, 3'000) * 1'000};
        options.clip = Duration{m_random.between(100, 400) * 1'000};
        options.data = dataTime();
        options.postAfterData = true;
        options.syncInTask = m_run.feature == Feature::SyncInTasks;
        options.innerCollectives = 3;
        options.inner = {m_random.between(50, 200) * 1'000};
        m_jitter.assign(4'096, 1);
        for (double& factor : m_jitter) factor = m_random.real(0.997, 1.003);
        options.cost = [forward = m_forward, jitter = m_jitter](std::int32_t rank,
                                                                const Action& action) {
            const std::int64_t plain = action.kind == ActionKind::Forward ? forward : 2 * forward;
            const auto key = static_cast<std::size_t>(rank * 131 + action.microbatch * 17 +
                                                      static_cast<int>(action.kind) * 7);
            return Duration{scaled(plain, jitter[key % jitter.size()])};
        };
    }

    // A host needs a moment to call its first work; one that runs ahead needs none.
    Duration dataTime() {
        if (m_run.recorder == Recorder::Markers) return {m_random.between(100, 500) * 1'000};
        if (m_run.recorder == Recorder::Timers)
            return {m_random.between(0, 1) * m_random.between(500, 3'000) * 1'000};
        return {m_run.feature == Feature::RunAhead ? 0 : 60'000};
    }

    [[nodiscard]] std::int32_t ranks() const {
        return m_run.options.dp * m_pipeline * m_run.options.tp;
    }
    [[nodiscard]] std::int32_t replicaOf(std::int32_t rank) const {
        return rank / m_run.options.tp / m_pipeline;
    }
    [[nodiscard]] std::int32_t stageOf(std::int32_t rank) const {
        return rank / m_run.options.tp % m_pipeline;
    }

    // Whether the cause makes enough of a difference to be found, and not the whole run.
    bool inject() {
        const Duration plain = meanOf(makeSyntheticRun(m_run.options));
        m_run.rank = m_run.stage = m_run.replica = m_run.microbatch = m_run.peer = -1;
        m_run.options.slowLinks.clear();
        m_run.options.slowSyncs.clear();
        m_run.options.lateData.clear();
        m_run.options.launchDelays.clear();
        put();
        m_run.slowdown = static_cast<double>(meanOf(makeSyntheticRun(m_run.options)).ns) /
                         static_cast<double>(plain.ns);
        return m_run.cause == Cause::None ||
               (m_run.slowdown >= kLeastSlowdown && m_run.slowdown <= kMostSlowdown);
    }

    void put() {
        const std::int32_t rank = m_random.between(0, ranks() - 1);
        const std::int32_t microbatches = m_run.options.schedule.microbatches;
        switch (m_run.cause) {
            case Cause::None:
                return;
            case Cause::SlowRank:
                m_run.rank = rank;
                return slow([=](std::int32_t of, const Action&) { return of == rank; });
            case Cause::SlowStage:
                m_run.stage = stageOf(rank);
                return slow([stage = m_run.stage](std::int32_t, const Action& action) {
                    return action.stage == stage;
                });
            case Cause::SlowReplica: {
                m_run.replica = replicaOf(rank);
                const std::int32_t each = m_pipeline * m_run.options.tp;
                return slow([each, replica = m_run.replica](std::int32_t of, const Action&) {
                    return of / each == replica;
                });
            }
            case Cause::SlowMicrobatch:
                m_run.microbatch = m_random.between(0, microbatches - 1);
                return slow([microbatch = m_run.microbatch](std::int32_t, const Action& action) {
                    return action.microbatch == microbatch;
                });
            case Cause::SlowLink:
                return slowLink(rank);
            case Cause::LateData:
                m_run.rank = rank;
                m_run.options.lateData = {{rank, {m_forward * m_random.between(2, 5)}}};
                return;
            case Cause::LongSync:
                m_run.stage = stageOf(rank);
                m_run.options.slowSyncs = {{m_run.stage, {m_forward * m_random.between(1, 4)}}};
                return;
            case Cause::Pauses:
                m_run.rank = rank;
                for (std::int32_t i = 0; i < microbatches; i += m_random.between(1, 2)) {
                    m_run.options.launchDelays.push_back(
                        {rank, i, {scaled(m_forward, m_random.real(0.3, 0.8))}, -1});
                }
                return;
        }
    }

    template <class Where>
    void slow(Where where) {
        const double factor = m_run.cause == Cause::SlowMicrobatch ? m_random.real(1.5, 3.0)
                                                                   : m_random.real(1.15, 1.8);
        m_run.options.cost = [plain = m_run.options.cost, where, factor](std::int32_t rank,
                                                                         const Action& action) {
            const Duration cost = plain(rank, action);
            return where(rank, action) ? Duration{scaled(cost.ns, factor)} : cost;
        };
    }

    // Both directions between two neighbours.
    void slowLink(std::int32_t rank) {
        const std::int32_t step = m_run.options.tp;
        const std::int32_t other = stageOf(rank) + 1 < m_pipeline ? rank + step : rank - step;
        m_run.rank = std::min(rank, other);
        m_run.peer = std::max(rank, other);
        const Duration more{scaled(m_forward, m_random.real(0.3, 1.2))};
        m_run.options.slowLinks = {{rank, other, more}, {other, rank, more}};
    }

    static Duration meanOf(const SyntheticRun& run) {
        return {(run.iterations.back().front().end - run.iterations.front().front().begin).ns /
                static_cast<std::int64_t>(run.iterations.size())};
    }

    void record() {
        ProfilerOptions profiler;
        if (m_run.feature == Feature::RunAhead) profiler.stepsAhead = m_random.between(1, 4);
        profiler.sideCopies =
            m_run.feature == Feature::SideCopies || m_run.feature == Feature::RunAhead;
        profiler.copyInTask = m_run.number % 2 == 1;
        if (m_run.recorder == Recorder::Profiler) m_run.host = hostSteps(m_run.happened, profiler);
        m_run.recorded =
            withTimerErrors(m_run.happened, {m_run.noise, m_run.feature == Feature::Digested,
                                             static_cast<std::uint32_t>(m_run.number)});
        if (m_run.feature == Feature::MissingCollective) loseOne();
        m_run.iteration = meanOf(m_run.happened);
        m_run.accounts =
            trueAccounts(m_run.happened, m_run.host, m_run.recorder == Recorder::Timers);
    }

    // A collective in the middle of the run.
    void loseOne() {
        auto& transfers = m_run.recorded.transfers;
        std::vector<std::size_t> candidates;
        for (std::size_t i = 0; i < transfers.size(); ++i) {
            const SyntheticTransfer& transfer = transfers[i];
            const bool middle =
                transfer.iteration > 0 && transfer.iteration + 1 < m_run.options.iterations;
            if (transfer.peer < 0 && transfer.dimension == trace::Dimension::Dp && middle)
                candidates.push_back(i);
        }
        const std::size_t lost = m_random.oneOf(candidates);
        for (const SyntheticTransfer& each : m_run.happened.transfers) {
            const SyntheticTransfer& of = transfers[lost];
            if (each.peer < 0 && each.group == of.group && each.sequence == of.sequence)
                m_run.lost = std::max(m_run.lost, each.span.length());
        }
        auto& events = m_run.recorded.events;
        const auto event = std::find_if(events.begin(), events.end(), [&](const auto& each) {
            return each.rank == transfers[lost].rank && each.lane == transfers[lost].lane &&
                   each.arguments.find(fmt::format("\"sequence\":{},", transfers[lost].sequence)) !=
                       std::string::npos;
        });
        events.erase(event);
        transfers.erase(transfers.begin() + static_cast<std::ptrdiff_t>(lost));
    }

    Random m_random;
    MadeRun m_run;
    std::int32_t m_pipeline = 1;
    std::int64_t m_forward = 0;
    std::vector<double> m_jitter;
};

}  // namespace

std::string_view toString(Cause cause) {
    constexpr std::array<std::string_view, kCauses> kNames = {
        "none",      "slow rank", "slow stage", "slow replica", "slow microbatch",
        "slow link", "late data", "long sync",  "pauses"};
    return kNames[static_cast<std::size_t>(cause)];
}

std::string_view toString(Recorder recorder) {
    constexpr std::array<std::string_view, kRecorders> kNames = {"markers", "timers", "profiler"};
    return kNames[static_cast<std::size_t>(recorder)];
}

std::string_view toString(Feature feature) {
    constexpr std::array<std::string_view, kFeatures> kNames = {
        "plain",         "digested",           "blocking",    "waits in tasks",
        "sync in tasks", "missing collective", "side copies", "run ahead"};
    return kNames[static_cast<std::size_t>(feature)];
}

std::string MadeRun::describe() const {
    std::string who;
    for (const auto& [name, value] :
         {std::pair("rank", rank), std::pair("peer", peer), std::pair("stage", stage),
          std::pair("replica", replica), std::pair("microbatch", microbatch)}) {
        if (value >= 0) who += fmt::format(" {} {}", name, value);
    }
    return fmt::format(
        "run {}: {}, {}, noise {} us; {}{} ({:.3f} x); {} dp {} pp {} tp {}, {} microbatches, {} "
        "iterations of {:.3f} ms",
        number, toString(recorder), toString(feature), noise.ns / 1'000, toString(cause), who,
        slowdown, options.schedule.name, options.dp, options.schedule.ranks(), options.tp,
        options.schedule.microbatches, options.iterations, static_cast<double>(iteration.ns) / 1e6);
}

MadeRun madeRun(std::int32_t number) { return Maker(number).make(); }

}  // namespace pleat::testing
