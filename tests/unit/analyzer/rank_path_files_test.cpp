// The critical path of one rank in traces that other people recorded, read in place; skipped where
// they are not beside the checkout.
#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "analysis/rank_path.h"
#include "annotate/annotate.h"
#include "unit/analyzer/importers/imported.h"

namespace pleat::analysis {
namespace {

using importers::sharedTraces;

std::filesystem::path kineto(const std::string& name) {
    return sharedTraces() / "kineto" / (name + ".json.gz");
}

RankPath pathOf(const std::string& name) {
    auto trace = importers::importFile(kineto(name));
    EXPECT_TRUE(trace) << importers::messageOf(trace);
    auto annotated = annotate::annotate(std::move(*trace));
    EXPECT_TRUE(annotated);
    auto path = analyseRankPath(*annotated, {});
    EXPECT_TRUE(path) << path.error().message;
    return std::move(*path);
}

std::size_t countOf(const RankPath& path, const std::string& kind, const std::string& part = "") {
    std::size_t count = 0;
    for (const RankPathPiece& piece : path.pieces)
        if (piece.kind == kind && piece.name.find(part) != std::string::npos) ++count;
    return count;
}

// "name at <microseconds>" of what lies on the path, where its event begins or, of a wait, ends.
std::set<std::pair<std::string, std::int64_t>> placesOf(const RankPath& path) {
    std::set<std::pair<std::string, std::int64_t>> places;
    for (const RankPathPiece& piece : path.pieces) {
        const bool wait = piece.kind == "synchronisation";
        const base::Duration at = wait ? piece.offset + piece.length : piece.offset;
        if (piece.kind != "pause" && piece.kind != "launch")
            places.insert({piece.name, at.ns / 1000});
    }
    return places;
}

nlohmann::json readJson(const std::filesystem::path& file) {
    gzFile in = gzopen(file.c_str(), "rb");
    std::string text, part(1 << 16, '\0');
    for (int got; (got = gzread(in, part.data(), 1U << 16U)) > 0;)
        text.append(part.data(), static_cast<std::size_t>(got));
    gzclose(in);
    return nlohmann::json::parse(text);
}

// HolisticTraceAnalysis marked what it holds to be critical. docs/analysis.md says why the last
// kernels are not: they had ended before the operator did that the host went on from.
TEST(RankPathFiles, SimpleAddHoldsWhatTheOverlayMarks) {
    SKIP_WITHOUT_SHARED_TRACES();
    const RankPath path = pathOf("cp_simple_add");
    const auto places = placesOf(path);
    const nlohmann::json overlay = readJson(kineto("cp_simple_add_expected_overlay"));
    std::int64_t first = std::numeric_limits<std::int64_t>::max();
    for (const auto& event : overlay["traceEvents"])
        if (event.value("cat", "") == "cpu_op")
            first = std::min(first, event["ts"].get<std::int64_t>());
    std::size_t copies = 0, waits = 0;
    std::vector<std::int64_t> missing;
    for (const auto& event : overlay["traceEvents"]) {
        if (event["ph"] != "X" || !event["args"].contains("critical")) continue;
        const std::string category = event["cat"], name = event["name"];
        const bool wait = name.find("Synchronize") != std::string::npos;
        if (!wait && category != "kernel" && !category.starts_with("gpu_")) continue;
        const std::int64_t begin = event["ts"].get<std::int64_t>() - first;
        const std::int64_t at = wait ? begin + event["dur"].get<std::int64_t>() : begin;
        if (!places.contains({name, at})) {
            missing.push_back(event["args"]["correlation"]);
            continue;
        }
        ++(wait ? waits : copies);
    }
    EXPECT_EQ(copies, 16U);
    EXPECT_EQ(waits, 20U);
    std::sort(missing.begin(), missing.end());
    EXPECT_EQ(missing, (std::vector<std::int64_t>{5864, 5866, 5872, 5886, 5887, 5889}));
    EXPECT_EQ(path.length.ns, 41'578'906'000);  // first operator to last wait
}

TEST(RankPathFiles, AlexnetRunsThroughItsLastKernels) {
    SKIP_WITHOUT_SHARED_TRACES();
    const RankPath path = pathOf("cp_alexnet");
    EXPECT_EQ(path.length.ns, 43'424'325'000);
    EXPECT_EQ(countOf(path, "copy", "Memcpy HtoD"), 16U);
    EXPECT_EQ(countOf(path, "synchronisation", "cudaStreamSynchronize"), 16U);
    EXPECT_EQ(countOf(path, "kernel", "gemm"), 7U);
    EXPECT_EQ(path.byKind.at("kernel").ns, 3'710'000);
}

// bad-inputs 50
TEST(RankPathFiles, WaitingForAnEventCarriesNoWeight) {
    SKIP_WITHOUT_SHARED_TRACES();
    const RankPath path = pathOf("cp_event_sync");
    EXPECT_EQ(path.length.ns, 3'154'000);  // ProfilerStep#100
    EXPECT_EQ(path.byKind.at("kernel").ns, 36'000);
    EXPECT_EQ(countOf(path, "kernel", "spin_kernel"), 1U);
    for (const RankPathPiece& piece : path.pieces) {  // it lasted 34 us, 26 of them the kernel's
        if (piece.name == "cudaEventSynchronize") {
            EXPECT_EQ(piece.length.ns, 8'000);
        }
    }
    EXPECT_TRUE(path.diagnostics.empty());
}

TEST(RankPathFiles, SeveralStreamsEndInTheDeviceSync) {
    SKIP_WITHOUT_SHARED_TRACES();
    const RankPath path = pathOf("cp_event_sync_multi_stream");
    EXPECT_EQ(path.length.ns, 19'930'000);
    ASSERT_GE(path.pieces.size(), 3U);
    const auto last = path.pieces.end();
    EXPECT_EQ((last - 3)->kind, "launch");
    EXPECT_EQ((last - 2)->length.ns, 123'000);
    EXPECT_EQ((last - 1)->length.ns, 13'000);  // of 20
    ASSERT_EQ(path.diagnostics.entries().size(), 1U);
    EXPECT_EQ(path.diagnostics.entries()[0].code, "iterations_unmarked");
}

TEST(RankPathFiles, PiecesSumToTheWindowOfEveryFile) {
    SKIP_WITHOUT_SHARED_TRACES();
    for (const char* name : {"nccl_rank0_of_2", "ns_resolution", "sampled_rank0",
                             "control_rank3_of_8", "sendrecv_rank0_of_16"}) {
        const RankPath path = pathOf(name);
        base::Duration at;
        for (const RankPathPiece& piece : path.pieces) {
            ASSERT_EQ(piece.offset, at) << name;
            ASSERT_GT(piece.length.ns, 0) << name;
            at += piece.length;
        }
        EXPECT_EQ(at, path.length) << name;
        for (const WorkSlack& work : path.work) ASSERT_GE(work.slack.ns, 0) << name;
    }
}

}  // namespace
}  // namespace pleat::analysis
