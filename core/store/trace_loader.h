// Rows of a trace database to a Trace. Internal to the store.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "store/database.h"
#include "store/reader.h"
#include "trace/trace_builder.h"

namespace pleat::store {

// Row ids of a table, which count from 1 but may have holes, to our ids.
template <class Tag>
class RowMap {
  public:
    void add(std::int64_t row, base::Id<Tag> id) {
        // Rows come in ascending order and mostly without holes; a hostile row id must not cost
        // memory, so the vector at most doubles (and a little).
        const std::size_t place = static_cast<std::size_t>(row) - 1;
        if (row >= 1 && place <= 2 * m_dense.size() + 1'024) {
            if (place >= m_dense.size()) m_dense.resize(place + 1);
            m_dense[place] = id;
        } else {
            m_sparse.emplace(row, id);
        }
    }
    // Invalid for a row that is not there.
    [[nodiscard]] base::Id<Tag> find(std::int64_t row) const {
        if (row >= 1 && row <= static_cast<std::int64_t>(m_dense.size())) {
            const base::Id<Tag> id = m_dense[static_cast<std::size_t>(row) - 1];
            if (id.valid()) return id;
        }
        const auto known = m_sparse.find(row);
        return known == m_sparse.end() ? base::Id<Tag>() : known->second;
    }

  private:
    std::vector<base::Id<Tag>> m_dense;
    std::unordered_map<std::int64_t, base::Id<Tag>> m_sparse;
};

class TraceLoader {
  public:
    explicit TraceLoader(const Database& database) : m_database(database) {}
    [[nodiscard]] base::Result<LoadedTrace> load();
    [[nodiscard]] std::uint64_t eventsLoaded() const { return m_added; }

  private:
    // Calls row(statement) for every row; errors name the table and the row reached.
    template <class Row>
    base::Result<void> each(std::string_view table, std::string_view sql, Row row);
    // The same for a query whose first column is the row id and which is ordered by it. Ids that do
    // not ascend come of a damaged tree, which could lead in circles.
    template <class Row>
    base::Result<void> eachById(std::string_view table, std::string_view sql, Row row);
    void leaveOut(base::DiagnosticCode code, std::string_view table, std::int64_t row,
                  std::string_view why);
    void dangling(std::string_view table, std::int64_t row, std::string_view what);
    void lost(std::string_view table, std::int64_t row, std::string_view what);

    base::Result<void> loadMeta();
    base::Result<void> loadRanks();
    void findDevices();
    base::Result<void> loadLanes();
    base::Result<void> loadStrings();
    base::Result<void> loadEvents();
    base::Result<void> loadDependencies();
    base::Result<void> loadTasks();
    base::Result<void> loadPhasesAndIterations();
    base::Result<void> loadGroups();
    base::Result<void> loadMatches();
    base::Result<void> loadTransfers();
    base::Result<void> loadSchedule();
    base::Result<void> loadDiagnostics();
    void loadEvent(const Statement& row);
    void completeMatches();
    [[nodiscard]] base::Diagnostics allDiagnostics(const base::Diagnostics& built) const;
    [[nodiscard]] trace::EventId eventId(std::int64_t row) const;

    const Database& m_database;
    trace::TraceBuilder m_builder;
    trace::Annotations m_annotations;
    base::Diagnostics m_stored;  // of the diagnostic table
    base::Diagnostics m_found;   // while loading
    RowMap<trace::RankTag> m_ranks;
    RowMap<trace::LaneTag> m_lanes;
    RowMap<base::StringTag> m_strings;
    RowMap<struct AddedTag> m_events;  // row -> position in the order of adding
    RowMap<trace::GroupTag> m_groups;
    RowMap<trace::MatchTag> m_matches;
    std::vector<std::int64_t> m_matchRows;  // by MatchId
    std::vector<trace::EventId> m_idOfAdded;
    std::uint32_t m_added = 0;
    std::optional<std::int64_t> m_unixZero_ns, m_monotonicZero_ns;
    bool m_annotated = false;
    bool m_finished = false;
};

}  // namespace pleat::store
