#include "importers/file_times.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "base/saturating.h"
#include "trace/limits.h"

namespace pleat::importers {
namespace {

using base::Duration;
using base::TraceTime;
using trace::RankId;

class Joiner {
  public:
    Joiner(std::vector<ReadFile>& files, trace::TraceBuilder& builder)
        : m_files(files), m_builder(builder) {}

    void run(bool keepZero) {
        for (ReadFile& file : m_files) file.facts.clock.recorded = extent(file);
        guessBases();
        for (ReadFile& file : m_files) move(file, file.facts.clock.base);
        placeUnrelated();
        shareClocks();
        moveToZero(keepZero);
    }

  private:
    static bool isEmpty(const ReadFile& file) { return file.begin.events == file.end.events; }

    [[nodiscard]] base::Interval extent(const ReadFile& file) const {
        if (isEmpty(file)) return {};
        base::Interval whole{{std::numeric_limits<std::int64_t>::max()},
                             {std::numeric_limits<std::int64_t>::min()}};
        for (std::size_t i = file.begin.events; i < file.end.events; ++i) {
            const base::Interval one = m_builder.event(i).span;
            whole = {std::min(whole.begin, one.begin), std::max(whole.end, one.end)};
        }
        return whole;
    }

    // PyTorch's profiler counts from a moment that all processes of a quarter share. A file that
    // lost it counts from there too where its times are such that chance is no explanation.
    void guessBases() {
        constexpr std::int64_t kNoChance_ns = 86'400'000'000'000, kOneRun_ns = 3'600'000'000'000;
        for (ReadFile& file : m_files) {
            const std::int64_t begin_ns = file.facts.clock.recorded.begin.ns;
            if (file.facts.clock.utc || file.facts.clock.base.ns != 0 || begin_ns < kNoChance_ns)
                continue;
            const auto like = std::find_if(m_files.begin(), m_files.end(), [&](const auto& other) {
                return other.facts.clock.utc && other.facts.clock.base.ns != 0 &&
                       std::abs(other.facts.clock.recorded.begin.ns - begin_ns) < kOneRun_ns;
            });
            if (like == m_files.end()) continue;
            file.facts.clock.base = like->facts.clock.base;
            file.facts.clock.utc = true;
            m_builder.diagnostics().add(
                "time_base_guessed",
                fmt::format(
                    "{} does not give the time its timestamps count from; assumed to be that of {}",
                    file.path.string(), like->path.string()));
        }
    }

    void move(ReadFile& file, Duration by) {
        m_builder.shift(file.begin, file.end, by);
        // As the builder keeps them: `by` is whatever the file says.
        for (TraceTime* time : {&file.facts.clock.recorded.begin, &file.facts.clock.recorded.end}) {
            time->ns = std::clamp(base::saturatingSum(time->ns, by.ns), -trace::kFarthestNs,
                                  trace::kFarthestNs);
        }
    }

    // Of times that nothing relates to UTC no place is right; beside the others is the best.
    void placeUnrelated() {
        std::optional<TraceTime> earliest;
        for (const ReadFile& file : m_files) {
            if (file.facts.clock.utc && !isEmpty(file))
                earliest = std::min(earliest.value_or(file.facts.clock.recorded.begin),
                                    file.facts.clock.recorded.begin);
        }
        if (!earliest) return;
        for (ReadFile& file : m_files) {
            if (!file.facts.clock.utc && !isEmpty(file))
                move(file, *earliest - file.facts.clock.recorded.begin);
        }
    }

    void shareClocks() {
        std::vector<FileClock> clocks;
        for (ReadFile& file : m_files) {
            for (std::size_t i = file.firstRank; i < file.lastRank; ++i)
                file.facts.clock.processes.insert(m_builder.ranks()[RankId::at(i)].pid);
            file.facts.clock.processes.erase(0);  // not known
            clocks.push_back(file.facts.clock);
        }
        const std::vector<std::int32_t> numbers = clocksOf(clocks);
        countFromOneBoot(numbers);
        // A recording that was joined before may have several clocks of its own.
        std::map<std::pair<std::int32_t, std::int32_t>, std::int32_t> known;
        for (std::size_t f = 0; f < m_files.size(); ++f) {
            for (std::size_t i = m_files[f].firstRank; i < m_files[f].lastRank; ++i) {
                trace::ClockReading& clock = m_builder.ranks()[RankId::at(i)].clock;
                clock.recording = static_cast<std::int32_t>(f);
                clock.clock = known
                                  .try_emplace({numbers[f], clock.clock},
                                               static_cast<std::int32_t>(known.size()))
                                  .first->second;
            }
        }
        noteGuessedHosts(numbers);
    }

    // Of one machine's recordings that count from its boot, UTC may have been set in between.
    void countFromOneBoot(const std::vector<std::int32_t>& numbers) {
        std::map<std::int32_t, std::int64_t> boots;
        for (std::size_t f = 0; f < m_files.size(); ++f) {
            const FileClock& clock = m_files[f].facts.clock;
            if (!clock.countsFromBoot || !clock.bootUnix_ns) continue;
            const std::int64_t boot_ns =
                boots.try_emplace(numbers[f], *clock.bootUnix_ns).first->second;
            move(m_files[f], {boot_ns - *clock.bootUnix_ns});
        }
    }

    void noteGuessedHosts(const std::vector<std::int32_t>& numbers) {
        for (std::size_t f = 0; f < m_files.size(); ++f) {
            if (!m_files[f].facts.clock.hostGuessed ||
                std::count(numbers.begin(), numbers.end(), numbers[f]) < 2)
                continue;
            m_builder.diagnostics().add(
                "host_guessed",
                fmt::format("{} does not name the host it was recorded on; assumed to be {}, where "
                            "it was exported, and to share the clock of the other files from there",
                            m_files[f].path.string(), m_files[f].facts.clock.host));
        }
    }

    void moveToZero(bool keepZero) {
        const Duration by = keepZero ? Duration{} : TraceTime{} - m_builder.earliest();
        m_builder.shift({}, by);
        for (const ReadFile& file : m_files) {
            for (std::size_t i = file.firstRank; i < file.lastRank && file.facts.clock.utc; ++i)
                m_builder.ranks()[RankId::at(i)].clock.unixZero_ns = -by.ns;
        }
    }

    std::vector<ReadFile>& m_files;
    trace::TraceBuilder& m_builder;
};

}  // namespace

void bringTogether(std::vector<ReadFile>& files, bool keepZero, trace::TraceBuilder& builder) {
    Joiner(files, builder).run(keepZero);
}

}  // namespace pleat::importers
