// An imported export and short questions to it, for tests of importers.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "importers/nsight.h"

namespace pleat::test {

class ImportedTrace {
  public:
    explicit ImportedTrace(trace::Trace trace) : m_trace(std::move(trace)) {}
    static ImportedTrace ofNsight(const std::filesystem::path& file) {
        trace::TraceBuilder builder;
        const auto imported = importers::importNsight(file, builder);
        EXPECT_TRUE(imported) << imported.error().message;
        return ImportedTrace(std::move(builder).build().trace);
    }

    [[nodiscard]] const trace::Trace& trace() const { return m_trace; }
    // Events of this domain; of every domain where it is empty.
    [[nodiscard]] std::vector<trace::EventId> events(std::string_view domain) const {
        std::vector<trace::EventId> found;
        for (std::size_t i = 0; i < m_trace.eventCount(); ++i) {
            const auto id = trace::EventId::at(i);
            if (domain.empty() || m_trace.domain(id) == domain) found.push_back(id);
        }
        return found;
    }
    [[nodiscard]] trace::EventId only(std::string_view name) const {
        trace::EventId found;
        for (const trace::EventId id : events("")) {
            if (m_trace.name(id) != name) continue;
            EXPECT_FALSE(found.valid()) << "several " << name;
            found = id;
        }
        EXPECT_TRUE(found.valid()) << "no " << name;
        return found;
    }
    [[nodiscard]] const trace::Rank& rankOf(trace::EventId id) const {
        return m_trace.ranks()[m_trace.lanes()[m_trace.event(id).lane].rank];
    }
    [[nodiscard]] const trace::Lane& laneOf(trace::EventId id) const {
        return m_trace.lanes()[m_trace.event(id).lane];
    }
    [[nodiscard]] std::int64_t count(std::string_view code) const {
        const base::Diagnostic* found = m_trace.diagnostics().find(code);
        return found == nullptr ? 0 : found->count;
    }
    // The names of the calls that launched an event.
    [[nodiscard]] std::vector<std::string> launchesOf(trace::EventId id) const {
        std::vector<std::string> names;
        for (const trace::Dependency& dependency : m_trace.dependenciesOf(id)) {
            if (dependency.kind == trace::DependencyKind::Launch)
                names.emplace_back(m_trace.name(dependency.from));
        }
        return names;
    }

  private:
    trace::Trace m_trace;
};

}  // namespace pleat::test
