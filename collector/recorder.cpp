#include "collector/recorder.h"

#include <fmt/format.h>
#include <stdlib.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "base/exceptions.h"
#include "collector/clock.h"
#include "collector/drain.h"
#include "collector/folder.h"
#include "collector/gpu_probe.h"
#include "collector/recorded_command.h"
#include "store/writer.h"

namespace pleat::collector {
namespace {

namespace fs = std::filesystem;

constexpr const char* kRingFolderVariable = "PLEAT_RING_DIR";

base::Result<fs::path> injectedLibrary(const RecordOptions& options) {
    std::error_code ignored;
    std::vector<fs::path> places;
    if (!options.injectedLibrary.empty()) {
        places.push_back(options.injectedLibrary);
    } else {
        const fs::path folder = fs::read_symlink("/proc/self/exe", ignored).parent_path();
        for (const char* relative : {"../lib/libpleat_inject.so", "../lib/pleat/libpleat_inject.so",
                                     "libpleat_inject.so"}) {
            places.push_back(folder / relative);
        }
    }
    for (const fs::path& place : places) {
        if (fs::is_regular_file(place, ignored)) return fs::canonical(place, ignored);
    }
    return base::Error{
        base::ErrorCode::Io,
        fmt::format("{}: the recording library is missing; install or build all of Pleat",
                    places.front().string())};
}

// Rings lie in memory: on a disk every written-back page would be protected again and cost its
// writer a fault.
base::Result<fs::path> makeRingFolder() {
    std::string pattern = "/dev/shm/pleat-XXXXXX";
    if (mkdtemp(pattern.data()) == nullptr) {
        return base::Error{
            base::ErrorCode::Io,
            fmt::format("/dev/shm: cannot create a folder for the recording: {}; is it mounted "
                        "and writable?",
                        std::strerror(errno))};
    }
    return fs::path(std::move(pattern));
}

// A path that is removed with this object, unless it is kept.
template <void (*remove)(const fs::path&) noexcept>
class Temporary {
  public:
    Temporary() = default;
    explicit Temporary(fs::path path) : m_path(std::move(path)) {}
    Temporary(Temporary&&) = delete;
    Temporary& operator=(Temporary&& other) noexcept {
        m_path.swap(other.m_path);
        return *this;
    }
    ~Temporary() {
        if (!m_path.empty()) remove(m_path);
    }
    void keep() noexcept { m_path.clear(); }
    [[nodiscard]] const fs::path& path() const { return m_path; }

  private:
    fs::path m_path;
};

void removeFile(const fs::path& file) noexcept { (void)unlink(file.c_str()); }

std::string joined(const std::vector<std::string>& words, const char* separator) {
    std::string text;
    for (const std::string& word : words) text += (text.empty() ? "" : separator) + word;
    return text;
}

base::Result<void> describe(store::Writer& writer, const RecordOptions& options,
                            const ClockAnchor& origin) {
    const std::pair<const char*, std::string> facts[] = {
        {"origin_monotonic_ns", std::to_string(origin.monotonicNs)},
        {"origin_unix_ns", std::to_string(origin.unixNs)},
        {"command", joined(options.command, " ")},
        {"host", hostName()},
    };
    for (const auto& [key, value] : facts) {
        if (const auto done = writer.setMeta(key, value); !done) return done;
    }
    return writer.commit();
}

std::map<std::string, std::string> recorderEnvironment(const RecordOptions& options,
                                                       const fs::path& library,
                                                       const fs::path& ringFolder,
                                                       TickSource source) {
    std::map<std::string, std::string> environment;
    if (!options.nvtx) return environment;
    environment["NVTX_INJECTION64_PATH"] = library.string();
    environment[kRingFolderVariable] = ringFolder.string();
    environment["PLEAT_TICKS"] = source == TickSource::Counter ? "counter" : "monotonic";
    if (!options.domains.empty()) environment["PLEAT_DOMAINS"] = joined(options.domains, ",");
    return environment;
}

// A recorder inside the command of another takes its programs away from it. What it records into is
// left among the outer one's rings, so that the outer one can say why it has nothing.
constexpr const char* kInnerExtension = ".inner";

fs::path tellOuterRecorder(const RecordOptions& options) {
    const char* rings = getenv(kRingFolderVariable);
    if (rings == nullptr || !options.nvtx) return {};
    const fs::path note = fs::path(rings) / (std::to_string(getpid()) + kInnerExtension);
    std::error_code ignored;
    std::ofstream(note) << fs::absolute(options.output, ignored).string();
    return note;
}

void addInnerRecordings(const fs::path& ringFolder, base::Diagnostics& diagnostics) {
    for (const std::string& name : namesIn(ringFolder)) {
        if (fs::path(name).extension() != kInnerExtension) continue;
        std::ifstream note(ringFolder / name);
        const std::string file{std::istreambuf_iterator<char>(note), {}};
        diagnostics.add("recorded_by_another",
                        fmt::format("another pleat record inside the command recorded its programs "
                                    "to {}; use only one of the two",
                                    file));
    }
}

base::Result<void> addGpu(store::Writer& writer, const GpuFacts& facts,
                          base::Diagnostics& diagnostics) {
    const GpuAvailability gpu = gpuAvailability(facts, getenv("CUDA_INJECTION64_PATH"));
    if (gpu.notable) diagnostics.add("gpu_not_recorded", gpu.words);
    if (facts.cuptiVersion) {
        const auto done = writer.setMeta("cupti_version", std::to_string(*facts.cuptiVersion));
        if (!done) return done;
    }
    return writer.setMeta("gpu", gpu.state);
}

base::TraceTime after(std::chrono::duration<double> time) {
    return {std::chrono::duration_cast<std::chrono::nanoseconds>(time).count()};
}

DrainOptions drainOptions(const RecordOptions& options, const fs::path& ringFolder) {
    DrainOptions drain{ringFolder, options.output,       after(options.delay),
                       {},         options.maximumBytes, options.flushInterval};
    if (options.duration) drain.lastMoment = after(options.delay + *options.duration);
    return drain;
}

// Why a program that uses NVTX left nothing in the file.
std::string whyNothing(const RecordOptions& options, const std::set<std::string>& domains) {
    if (!options.domains.empty()) {
        std::vector<std::string> seen(domains.begin(), domains.end());
        return fmt::format("no event of the requested domains ({}); the programs used {}",
                           joined(options.domains, ", "),
                           seen.empty() ? "the default domain only" : joined(seen, ", "));
    }
    if (options.delay.count() > 0)
        return "no event after the delay; the command may have ended before it";
    return "the programs loaded NVTX but recorded no event";
}

void judge(RecordOutcome& outcome, const RecordOptions& options,
           const std::set<std::string>& domains) {
    if (const char* other = getenv("NVTX_INJECTION64_PATH"); other != nullptr && options.nvtx) {
        outcome.diagnostics.add(
            "other_tool_replaced",
            fmt::format("NVTX_INJECTION64_PATH was {}; that tool did not record this run", other));
    }
    if (options.nvtx && outcome.processes > 0 && outcome.events == 0) {
        outcome.diagnostics.add("no_event_recorded", whyNothing(options, domains));
    }
    const bool excused = outcome.diagnostics.find("process_not_recorded") != nullptr ||
                         outcome.diagnostics.find("recorded_by_another") != nullptr;
    if (options.nvtx && outcome.processes == 0 && !excused) {
        outcome.diagnostics.add(
            "no_process_recorded",
            "no process of the command used NVTX; check that the program is instrumented "
            "(docs/instrumenting.md) and passes on its environment");
    }
}

// Everything a recording is made of. Until keep(), it leaves nothing behind.
class Recording {
  public:
    static base::Result<std::unique_ptr<Recording>> prepare(const RecordOptions& options);

    void keep() noexcept {
        m_output.keep();
        m_note.keep();
    }
    CommandEnd run() noexcept {
        const CommandEnd end = m_command->run(m_statuses);
        m_drain->stop(m_statuses);
        return end;
    }
    // What there is to tell, and the file complete.
    void finish(RecordOutcome& outcome);

  private:
    explicit Recording(const RecordOptions& options) : m_options(options) {}
    base::Result<void> close(RecordOutcome& outcome);

    const RecordOptions& m_options;
    Temporary<removeFile> m_output, m_note;
    Temporary<removeFolder> m_rings;
    std::optional<store::Writer> m_writer;  // behind m_output: closed before that is removed
    std::optional<GpuProbe> m_gpu;
    std::optional<PreparedCommand> m_command;
    WaitStatuses m_statuses;
    std::optional<Drain> m_drain;
};

base::Result<std::unique_ptr<Recording>> Recording::prepare(const RecordOptions& options) {
    const base::Result<fs::path> library = injectedLibrary(options);
    if (!library) return library.error();
    base::Result<store::Writer> writer = store::Writer::create(options.output);
    if (!writer) return writer.error();
    std::unique_ptr<Recording> made(new Recording(options));
    made->m_output = Temporary<removeFile>(options.output);
    made->m_writer = std::move(*writer);
    base::Result<fs::path> ringFolder = makeRingFolder();
    if (!ringFolder) return ringFolder.error();
    made->m_rings = Temporary<removeFolder>(std::move(*ringFolder));
    const TickSource source = chooseTickSource();
    const TickClock clock(source, takeAnchor(source));
    const auto described = describe(*made->m_writer, options, clock.origin());
    if (!described) return described.error();
    made->m_note = Temporary<removeFile>(tellOuterRecorder(options));
    made->m_command.emplace(options.command,
                            recorderEnvironment(options, *library, made->m_rings.path(), source));
    holdSignals();
    made->m_gpu.emplace();
    made->m_drain.emplace(*made->m_writer, clock, drainOptions(options, made->m_rings.path()));
    made->m_drain->start();
    return made;
}

base::Result<void> Recording::close(RecordOutcome& outcome) {
    if (const auto added = addGpu(*m_writer, m_gpu->facts(), outcome.diagnostics); !added)
        return added;
    if (const auto added = m_writer->addDiagnostics(outcome.diagnostics); !added) return added;
    return std::move(*m_writer).finish();
}

void Recording::finish(RecordOutcome& outcome) {
    outcome.events = m_drain->events();
    outcome.processes = m_drain->processes();
    outcome.diagnostics = m_drain->diagnostics();
    addInnerRecordings(m_rings.path(), outcome.diagnostics);
    judge(outcome, m_options, m_drain->domains());
    const base::Result<void> closed = close(outcome);
    if (!closed && outcome.diagnostics.find("write_failed") == nullptr) {
        outcome.diagnostics.add("write_failed", closed.error().message);
    }
}

}  // namespace

base::Result<RecordOutcome> record(const RecordOptions& options) {
    const base::Result<std::unique_ptr<Recording>> prepared =
        base::contained([&] { return Recording::prepare(options); });
    if (!prepared) return prepared.error();
    Recording& recording = **prepared;
    RecordOutcome outcome;
    const CommandEnd end = recording.run();
    outcome.exitStatus = end.exitStatus;
    outcome.started = end.started;
    // Where nothing ran, there is nothing to keep, and the next try finds the name free.
    if (!end.started) return outcome;
    recording.keep();
    const base::Result<void> finished = base::contained([&] { recording.finish(outcome); });
    if (!finished) {
        (void)base::contained(
            [&] { outcome.diagnostics.add("recorder_failed", finished.error().message); });
    }
    return outcome;
}

}  // namespace pleat::collector
