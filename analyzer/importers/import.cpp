#include "importers/import.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include "importers/byte_source.h"
#include "importers/chrome_import.h"
#include "importers/device_ranks.h"
#include "importers/file_times.h"
#include "importers/nsight.h"
#include "importers/nsight_source.h"
#include "importers/pleat_import.h"
#include "importers/rank_numbers.h"
#include "store/reader.h"
#include "trace/trace_builder.h"

namespace pleat::importers {
namespace {

namespace fs = std::filesystem;

base::Error refuse(const fs::path& file, std::string_view why) {
    return {base::ErrorCode::Input, fmt::format("{}: {}", file.string(), why)};
}

bool mayBeTrace(const fs::path& file) {
    const std::string name = file.filename().string();
    for (const char* ending : {".json", ".json.gz", ".json.zst", ".sqlite", ".pleat"}) {
        if (name.ends_with(ending)) return true;
    }
    return false;
}

bool isSqlite(const fs::path& file) {
    char start[16] = {};
    std::ifstream(file, std::ios::binary).read(start, sizeof start);
    return std::string_view(start, 15) == "SQLite format 3";
}

std::uintmax_t sizeOf(const fs::path& file) {
    std::error_code unknown;
    const std::uintmax_t size = fs::file_size(file, unknown);
    return unknown ? 0 : size;
}

// A source that tells how much more of its file was read, and ends early where nobody waits for it.
class WatchedSource : public ByteSource {
  public:
    using GoOn = std::function<bool(std::uint64_t bytesMore)>;

    WatchedSource(std::unique_ptr<ByteSource> source, GoOn goOn)
        : m_source(std::move(source)), m_goOn(std::move(goOn)) {}

    std::size_t read(std::span<char> buffer) override {
        const std::uint64_t before = std::exchange(m_fileBytesRead, m_source->fileBytesRead());
        if (!m_goOn(m_fileBytesRead - before)) return 0;
        const std::size_t count = m_source->read(buffer);
        m_damage = m_source->damage();
        return count;
    }

  private:
    std::unique_ptr<ByteSource> m_source;
    GoOn m_goOn;
};

class Importer {
  public:
    explicit Importer(const ImportOptions& options)
        : m_options(options),
          m_pool(options.threads != 0 ? options.threads
                                      : std::clamp(std::thread::hardware_concurrency(), 1U, 8U)) {}

    base::Result<void> add(std::span<const fs::path> files) {
        for (const fs::path& file : files) m_bytes += sizeOf(file);
        std::optional<base::Result<Events>> next;
        for (std::size_t i = 0; i < files.size(); ++i) {
            const base::Result<Events> file = next ? std::move(*next) : open(files[i]);
            next.reset();
            if (!file) return file.error();
            const auto openNext = [&] {
                if (i + 1 == files.size()) return;
                next.emplace(open(files[i + 1]));
                if (*next && **next) (**next)->begin();
            };
            if (const auto added = add(files[i], *file, openNext); !added) return added;
            if (i == 0 && files.size() > 1) reserve(sizeOf(files[i]), m_bytes);
        }
        return numberRanks(m_files, m_options.ranks, m_builder);
    }

    trace::Trace build() && {
        bringTogether(m_files, countsFromItsBegin(), m_builder);
        return std::move(m_builder).build().trace;
    }

  private:
    using Events = std::unique_ptr<EventStream>;  // null: the file is an SQLite database

    base::Result<Events> open(const fs::path& file) {
        auto source = ByteSource::open(file);  // refuses what is no regular file
        if (!source) return source.error();
        if (isSqlite(file)) return Events();
        auto watched = std::make_unique<WatchedSource>(
            std::move(*source), [this](std::uint64_t bytesMore) { return goOn(bytesMore); });
        return std::make_unique<EventStream>(std::move(watched), m_pool);
    }

    bool goOn(std::uint64_t bytesMore) {
        m_bytesRead += bytesMore;
        m_cancelled =
            m_cancelled || (m_options.progress && !m_options.progress(m_bytesRead, m_bytes));
        return !m_cancelled;
    }

    static base::Error cancelled(const fs::path& file) {
        return {base::ErrorCode::Cancelled, file.string() + ": reading was cancelled"};
    }

    base::Result<void> add(const fs::path& file, const Events& events,
                           const std::function<void()>& allRead) {
        ReadFile added{file, {}, m_builder.added(), {}, m_builder.ranks().size(), 0};
        auto read = events ? addEvents(file, *events, allRead) : addSqlite(file);
        if (!read) return read.error();
        added.facts = std::move(*read);
        added.end = m_builder.added();
        added.lastRank = m_builder.ranks().size();
        if (added.facts.clock.host.empty() && added.firstRank < added.lastRank)
            added.facts.clock.host =
                hostInFileName(file, m_builder.ranks()[trace::RankId::at(added.firstRank)].pid);
        separateDevices(added, m_builder);
        m_files.push_back(std::move(added));
        return {};
    }

    // A timeline of pipeline timers may count from the moment its first step began, which is a
    // little before its first timer: its zero means something and is kept.
    [[nodiscard]] bool countsFromItsBegin() const {
        constexpr std::int64_t kLongestLead_ns = 1'000'000'000;
        if (m_files.size() != 1 || m_files.front().facts.clock.base.ns != 0) return false;
        const auto& ranks = m_builder.ranks();
        const bool ofTimers = std::any_of(ranks.begin(), ranks.end(), [](const trace::Rank& rank) {
            return rank.coordinates.pp >= 0;
        });
        const std::int64_t first_ns = m_builder.earliest().ns;
        return ofTimers && first_ns >= 0 && first_ns <= kLongestLead_ns;
    }

    // Makes room for all files, taking the rest to be like those added: columns that grow by
    // doubling are copied again and again, and twice in memory for a moment.
    void reserve(std::uintmax_t bytesAdded, std::uintmax_t bytesInAll) {
        constexpr double kSlack = 1.02, kMost = 1 << 26;
        const double times = kSlack * static_cast<double>(bytesInAll) /
                             static_cast<double>(std::max<std::uintmax_t>(bytesAdded, 1));
        const double events = times * static_cast<double>(m_builder.eventCount());
        m_builder.reserveEvents(static_cast<std::size_t>(std::min(events, kMost)));
    }

    base::Result<FileFacts> addEvents(const fs::path& file, EventStream& events,
                                      const std::function<void()>& allRead) {
        auto read = importChrome(events, m_builder, allRead);
        if (m_cancelled) return cancelled(file);
        if (!read) {
            const std::string& packed = events.damage();
            return refuse(file, packed.empty()
                                    ? read.error().message
                                    : fmt::format("{} ({})", read.error().message, packed));
        }
        return read;
    }

    base::Result<FileFacts> addSqlite(const fs::path& file) {
        if (store::isPleatFile(file)) {
            auto read = importPleat(file, m_builder, [this] { return goOn(0); });
            if (read) m_bytesRead += sizeOf(file);
            return read;
        }
        const auto database = NsightSource::open(file);
        if (!database) {
            return base::Error{database.error().code,
                               database.error().message + "; the database is damaged or cut off"};
        }
        if (!database->isExport()) {
            return refuse(
                file,
                "is an SQLite database, but neither a *.pleat file nor an Nsight Systems export");
        }
        auto read = importNsight(file, m_builder, [this] { return goOn(0); });
        if (read) m_bytesRead += sizeOf(file);
        return read;
    }

    const ImportOptions& m_options;
    DecoderPool m_pool;
    trace::TraceBuilder m_builder;
    std::vector<ReadFile> m_files;
    std::uint64_t m_bytes = 0, m_bytesRead = 0;  // of all files
    bool m_cancelled = false;
};

}  // namespace

base::Result<std::vector<fs::path>> traceFiles(std::span<const fs::path> given) {
    std::vector<fs::path> files;
    for (const fs::path& path : given) {
        std::error_code ignored;
        if (!fs::is_directory(path, ignored)) {
            files.push_back(path);
            continue;
        }
        const std::size_t before = files.size();
        for (const auto& entry : fs::directory_iterator(path, ignored)) {
            if (entry.is_regular_file(ignored) && mayBeTrace(entry.path()))
                files.push_back(entry.path());
        }
        if (files.size() == before) {
            return refuse(path,
                          "is a folder without *.json, *.json.gz, *.json.zst, *.sqlite or *.pleat "
                          "files");
        }
        std::sort(files.begin() + static_cast<std::ptrdiff_t>(before), files.end());
    }
    return files;
}

base::Result<trace::Trace> importTraces(std::span<const fs::path> files,
                                        const ImportOptions& options) {
    Importer importer(options);
    if (const auto added = importer.add(files); !added) return added.error();
    return std::move(importer).build();
}

}  // namespace pleat::importers
