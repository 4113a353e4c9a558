// Imports text or files for tests, and says what came of it in lines that read like the trace.
#pragma once

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <filesystem>
#include <string>
#include <vector>

#include "importers/import.h"
#include "support/temporary_folder.h"
#include "trace/trace_builder.h"

namespace pleat::importers {

inline std::filesystem::path sharedTraces() {
    return std::filesystem::path(PLEAT_SOURCE_DIR) / ".." / "shared" / "traces";
}

// Skips the test where the real traces are not beside the checkout.
#define SKIP_WITHOUT_SHARED_TRACES()              \
    if (!std::filesystem::exists(sharedTraces())) \
    GTEST_SKIP() << "no ../shared/traces beside " \
                    "the checkout"

inline base::Result<trace::Trace> importText(const std::string& text,
                                             const std::string& name = "trace.json") {
    const test::TemporaryFolder folder;
    test::writeBytes(folder.file(name), text);
    const std::filesystem::path file = folder.file(name);
    return importTraces(std::span(&file, 1));
}

inline base::Result<trace::Trace> importFile(const std::filesystem::path& file) {
    return importTraces(std::span(&file, 1));
}

// "name start+duration" in ns, in the order of the trace; marks have no duration, open ranges "…".
inline std::vector<std::string> linesOf(const trace::Trace& trace) {
    std::vector<std::string> lines;
    for (std::size_t i = 0; i < trace.eventCount(); ++i) {
        const auto id = trace::EventId::at(i);
        const trace::Event event = trace.event(id);
        std::string line(trace.name(id));
        line += " " + std::to_string(event.span.begin.ns);
        if (event.kind == trace::EventKind::Range)
            line += "+" + std::to_string(event.span.length().ns);
        if (event.flag == trace::EventFlag::OpenAtEnd) line += "...";
        lines.push_back(line);
    }
    return lines;
}

inline std::int64_t countOf(const trace::Trace& trace, std::string_view code) {
    const base::Diagnostic* found = trace.diagnostics().find(code);
    return found == nullptr ? 0 : found->count;
}

inline std::string messageOf(const base::Result<trace::Trace>& result) {
    return result ? std::string() : result.error().message;
}

}  // namespace pleat::importers
