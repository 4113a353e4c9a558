// Importing generated traces of PyTorch's profiler, 8 ranks, a million objects, 250 MB.
// Reading: the same bytes, already in memory, walked by one thread with simdjson On-Demand over
// seven fields of each object, its buffers reused; the import reads the files and builds a trace.
// Writing: bare loops of 32-row inserts of the same events and dependencies, and the same index,
// beside store::writeTrace, which also numbers and writes the texts and folds the log into the
// file. Memory: the peak of a process of its own that only imports. "import_bench large" does the
// last for one file of 5 GB instead.
#include <simdjson.h>
#include <stdlib.h>
#include <sys/resource.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "base/memory.h"
#include "bench/bare_database.h"
#include "bench/ratio.h"
#include "importers/import.h"
#include "store/writer.h"
#include "support/kineto_generator.h"

namespace {

using namespace pleat;
namespace fs = std::filesystem;
using Files = std::vector<fs::path>;

constexpr int kRounds = 5;
constexpr std::int32_t kRanks = 8;
constexpr std::uintmax_t kLargeBytes = 5'000'000'000;
constexpr testing::KinetoOptions kOptions{
    .ranks = kRanks, .iterations = 27, .operationsPerIteration = 512};

[[noreturn]] void fail(const std::string& why) {
    fmt::print(stderr, "import_bench: {}\n", why);
    std::exit(1);
}

struct Generated {
    Files files;
    std::size_t objects = 0, events = 0;
    std::uintmax_t bytes = 0;

    void add(const fs::path& file, const testing::KinetoOptions& options, std::int32_t rank) {
        std::ofstream out(file, std::ios::binary);
        const testing::KinetoTruth truth = testing::writeKinetoTrace(options, rank, out);
        out.close();
        if (!out) fail("cannot write " + file.string());
        files.push_back(file);
        objects += truth.objects;
        for (const auto& [category, count] : truth.events) events += count;
        bytes += fs::file_size(file);
    }
    void print() const {
        fmt::print("{} objects, {} of them events to keep, in {} files of together {} MB\n",
                   objects, events, files.size(), bytes / 1'000'000);
    }
};

trace::Trace import(const Files& files) {
    auto trace = importers::importTraces(files);
    if (!trace) fail(trace.error().message);
    return std::move(*trace);
}

std::vector<simdjson::padded_string> bytesOf(const Files& files) {
    std::vector<simdjson::padded_string> texts;
    for (const fs::path& file : files) {
        simdjson::padded_string text;
        if (simdjson::padded_string::load(file.string()).get(text))
            fail("cannot read " + file.string());
        texts.push_back(std::move(text));
    }
    return texts;
}

// What the seven fields hold, so that reading them is not left out.
struct Walked {
    std::size_t objects = 0, characters = 0;
    double time = 0;
};

void walk(simdjson::ondemand::object event, Walked& walked) {
    ++walked.objects;
    for (auto field : event) {
        const simdjson::ondemand::raw_json_string key = field.key();
        if (key == "ph" || key == "cat" || key == "name") {
            walked.characters += std::string_view(field.value().get_string()).size();
        } else if (key == "pid" || key == "tid") {  // numbers or strings
            walked.characters += std::string_view(field.value().raw_json_token()).size();
        } else if (key == "ts" || key == "dur") {
            walked.time += double(field.value().get_double());
        }
    }
}

Walked walkBare(simdjson::ondemand::parser& parser,
                const std::vector<simdjson::padded_string>& texts) {
    Walked walked;
    for (const simdjson::padded_string& text : texts) {
        simdjson::ondemand::document document = parser.iterate(text);
        for (auto event : document["traceEvents"].get_array()) walk(event.get_object(), walked);
    }
    return walked;
}

// Of all threads.
template <class Work>
double cpuOf(Work work) {
    const std::clock_t begin = std::clock();
    work();
    return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
}

void benchReading(const Generated& generated) {
    const auto texts = bytesOf(generated.files);
    simdjson::ondemand::parser parser;
    const double ratio = bench::speedRatio(
        kRounds,
        [&] {
            if (walkBare(parser, texts).objects != generated.objects)
                fail("the bare walk did not see every object");
        },
        [&] {
            if (import(generated.files).eventCount() != generated.events)
                fail("the import did not keep every event");
        });
    bench::printInfo("processor seconds of the bare walk", cpuOf([&] { walkBare(parser, texts); }));
    bench::printInfo("processor seconds of the import", cpuOf([&] { import(generated.files); }));
    bench::printAtLeast("import to memory / a bare walk of simdjson", ratio, 0.5);
}

std::vector<bench::BareRow> bareRows(const trace::Trace& trace) {
    std::vector<bench::BareRow> rows(trace.eventCount());
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const auto id = trace::EventId::at(i);
        const trace::Event event = trace.event(id);
        rows[i] = {event.lane.index() + 1,
                   event.name.index() + 1,
                   event.domain.valid() ? event.domain.index() + 1 : 0,
                   static_cast<std::int64_t>(event.kind),
                   static_cast<std::int64_t>(event.flag),
                   event.span.begin.ns,
                   event.span.end.ns,
                   trace.arguments(id)};
    }
    return rows;
}

void benchWriting(const Generated& generated, const fs::path& folder) {
    const trace::Trace trace = import(generated.files);
    const std::vector<bench::BareRow> rows = bareRows(trace);
    std::vector<bench::BareLink> links;
    for (const trace::Dependency& dependency : trace.dependencies())
        links.push_back({dependency.from.index() + 1, dependency.to.index() + 1});
    const fs::path ours = folder / "ours.pleat", bare = folder / "bare.db";
    const auto write = [&] {
        fs::remove(ours);
        if (const auto done = store::writeTrace(trace, ours); !done) fail(done.error().message);
    };
    bench::printAtLeast("writing the trace / bare inserts and the index",
                        bench::speedRatio(
                            kRounds, [&] { bench::insertBare(bare, rows, links); }, write),
                        0.8);
    bench::printInfo("writing the trace / bare inserts of the events only",
                     bench::speedRatio(
                         kRounds, [&] { bench::insertBare(bare, rows); }, write));
}

// The peak of a process that imports the files and prints it.
double peakMiB(const char* program, const Files& files) {
    std::string command = fmt::format("'{}' peak", program);
    for (const fs::path& file : files) command += fmt::format(" '{}'", file.string());
    std::FILE* pipe = ::popen(command.c_str(), "r");
    double peak = 0;
    if (pipe == nullptr || std::fscanf(pipe, "%lf", &peak) != 1) fail("cannot measure memory");
    if (::pclose(pipe) != 0) fail("the import failed");
    return peak;
}

int printPeak(const Files& files) {
    const trace::Trace trace = import(files);
    rusage used{};
    getrusage(RUSAGE_SELF, &used);
    fmt::print("{}\n", static_cast<double>(used.ru_maxrss) / 1'024);
    return trace.eventCount() > 0 ? 0 : 1;
}

void benchMemory(const char* program, const Generated& generated) {
    const double perEvent = 40.0 / (1 << 20);
    const double budget = 64 + perEvent * static_cast<double>(generated.objects);
    bench::printAtMost(
        fmt::format("import's peak in MiB / {:.0f} MiB (64 + 40 B an object)", budget).c_str(),
        peakMiB(program, generated.files) / budget, 1.0);
    const double stricter = 64 + perEvent * static_cast<double>(generated.events);
    bench::printAtMost(
        fmt::format("the same / {:.0f} MiB (64 + 40 B a kept event)", stricter).c_str(),
        peakMiB(program, generated.files) / stricter, 1.0);
}

// One file, as long as the given one so many times: blocks of that one's length in a row.
void benchLarge(const char* program, const fs::path& folder) {
    if (fs::space(folder).available < 2 * kLargeBytes) fail("not enough room for 5 GB");
    Generated small;
    small.add(folder / "small.json", kOptions, 0);
    testing::KinetoOptions options = kOptions;
    options.iterationsPerBlock = kOptions.iterations;
    options.iterations *= static_cast<std::int32_t>(kLargeBytes / small.bytes + 1);
    Generated large;
    large.add(folder / "large_rank0.json", options, 0);
    large.print();
    benchMemory(program, large);
}

}  // namespace

int main(int count, char** arguments) {
    base::keepFreedMemory();
    const std::string_view what = count > 1 ? arguments[1] : "";
    if (what == "peak") return printPeak(Files(arguments + 2, arguments + count));
    std::string folder = (fs::temp_directory_path() / "pleat-bench-XXXXXX").string();
    if (mkdtemp(folder.data()) == nullptr) fail("no temporary folder");
    if (what == "large") {
        benchLarge(arguments[0], folder);
    } else {
        Generated generated;
        for (std::int32_t rank = 0; rank < kRanks; ++rank)
            generated.add(fs::path(folder) / fmt::format("rank{}.json", rank), kOptions, rank);
        generated.print();
        benchReading(generated);
        benchMemory(arguments[0], generated);
        benchWriting(generated, folder);
    }
    fs::remove_all(folder);
}
