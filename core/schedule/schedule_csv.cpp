#include "schedule/schedule_csv.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace pleat::schedule {
namespace {

// Far above any real schedule; keeps a damaged number from filling the memory.
constexpr std::int32_t kMaximumStages = 65'536;
constexpr std::int32_t kMaximumMicrobatches = 1'048'576;

struct Cell {
    std::string text;
    std::size_t number;  // from 1, empty cells counted
};

base::Error at(std::string_view name, std::size_t row, std::size_t cell, std::string_view what) {
    return {base::ErrorCode::Input, fmt::format("{}: row {}, cell {}: {}", name, row, cell, what)};
}

std::string_view trimmed(std::string_view text) {
    const std::size_t first = text.find_first_not_of(" \t\r");
    return first == std::string_view::npos
               ? std::string_view()
               : text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

// The non-empty cells of a line. A cell may stand in double quotes; actions hold no quotes or
// commas themselves.
base::Result<std::vector<Cell>> splitLine(std::string_view line, std::string_view name,
                                          std::size_t row) {
    std::vector<Cell> cells;
    std::size_t number = 1;
    for (bool more = true; more; ++number) {
        const std::size_t comma = line.find(',');
        more = comma != std::string_view::npos;
        std::string_view text = trimmed(line.substr(0, comma));
        if (more) line.remove_prefix(comma + 1);
        if (!text.empty() && text.front() == '"') {
            if (text.size() < 2 || text.back() != '"')
                return at(name, row, number, "a quote is not closed");
            text = trimmed(text.substr(1, text.size() - 2));
        }
        if (!text.empty()) cells.push_back({std::string(text), number});
    }
    return cells;
}

// The letters between the stage and the microbatch of a cell: "B" of "2B0".
std::string_view wordOf(std::string_view cell) {
    const std::size_t letters = std::min(cell.find_first_not_of("0123456789"), cell.size());
    const std::string_view rest = cell.substr(letters);
    return rest.substr(0, rest.find_first_of("0123456789"));
}

// In the older dialect BW is the full backward and B the input gradient.
std::string currentSpelling(const std::string& cell) {
    const std::string_view word = wordOf(cell);
    if (word != "B" && word != "BW") return cell;
    const auto start = static_cast<std::size_t>(word.data() - cell.data());
    return cell.substr(0, start) + (word == "B" ? "I" : "B") + cell.substr(start + word.size());
}

// OVERLAP_F_B is younger than the current dialect, and hides the I that would tell.
bool isOlderDialect(const std::vector<std::vector<Cell>>& rows) {
    bool weight = false, input = false, both = false, overlap = false;
    for (const auto& row : rows) {
        for (const Cell& cell : row) {
            weight = weight || wordOf(cell.text) == "W";
            input = input || wordOf(cell.text) == "I";
            both = both || wordOf(cell.text) == "BW";
            overlap = overlap || cell.text.starts_with('(');
        }
    }
    return !overlap && (both || (weight && !input));
}

// Collects which rank each stage lies on and how many microbatches there are.
class Shape {
  public:
    base::Result<void> add(const Action& action, std::int32_t rank) {
        for (const Action& part : action.parts) {
            if (const auto added = add(part, rank); !added) return added;
        }
        if (!action.parts.empty()) return {};
        if (action.stage >= kMaximumStages || action.microbatch >= kMaximumMicrobatches) {
            return base::Error{base::ErrorCode::Input,
                               "the stage or microbatch number is too large"};
        }
        const auto [known, fresh] = m_rankOfStage.emplace(action.stage, rank);
        if (!fresh && known->second != rank) {
            return base::Error{base::ErrorCode::Input,
                               fmt::format("stage {} is assigned to both rank {} and rank {}",
                                           action.stage, known->second, rank)};
        }
        m_microbatches = std::max(m_microbatches, action.microbatch + 1);
        ++m_actions;
        return {};
    }
    [[nodiscard]] std::int32_t microbatches() const { return m_microbatches; }
    [[nodiscard]] base::Result<Placement> placement(std::size_t ranks,
                                                    std::string_view name) const {
        const auto bad = [&](std::string message) {
            return base::Error{base::ErrorCode::Input, fmt::format("{}: {}", name, message)};
        };
        if (m_rankOfStage.empty())
            return bad("no actions; expected a row of cells like 0F0,0B0 per rank");
        if (ranks > static_cast<std::size_t>(kMaximumRanks) ||
            m_rankOfStage.size() > static_cast<std::size_t>(kMaximumStages)) {
            return bad(
                fmt::format("{} rows and {} stages; at most {} ranks and {} stages are supported",
                            ranks, m_rankOfStage.size(), kMaximumRanks, kMaximumStages));
        }
        std::vector<std::int32_t> rankOfStage;
        std::vector<bool> hasStage(ranks);
        for (const auto& [stage, rank] : m_rankOfStage) {
            if (stage != static_cast<std::int32_t>(rankOfStage.size())) {
                return bad(fmt::format("no rank holds stage {}", rankOfStage.size()));
            }
            rankOfStage.push_back(rank);
            hasStage[static_cast<std::size_t>(rank)] = true;
        }
        const auto idle = std::find(hasStage.begin(), hasStage.end(), false);
        if (idle != hasStage.end())
            return bad(fmt::format("row {} has no actions", idle - hasStage.begin() + 1));
        // Each needs a forward and a backward. Tables are sized by this product, so a short file
        // must not name a large one.
        const std::int64_t pairs = static_cast<std::int64_t>(rankOfStage.size()) * m_microbatches;
        if (pairs > m_actions) {
            return bad(fmt::format(
                "{} stages x {} microbatches need at least {} actions, but there are only {}",
                rankOfStage.size(), m_microbatches, 2 * pairs, m_actions));
        }
        return Placement(static_cast<std::int32_t>(ranks), std::move(rankOfStage));
    }

  private:
    std::map<std::int32_t, std::int32_t> m_rankOfStage;
    std::int32_t m_microbatches = 0;
    std::int64_t m_actions = 0;
};

base::Result<std::vector<std::vector<Cell>>> splitRows(std::string_view text,
                                                       std::string_view name) {
    std::vector<std::vector<Cell>> rows;
    if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
    for (std::size_t row = 1; !text.empty(); ++row) {
        if (row > 2 * static_cast<std::size_t>(kMaximumRanks)) {
            return base::Error{base::ErrorCode::Input,
                               fmt::format("{}: more than {} lines; a schedule has one per "
                                           "pipeline rank, for at most {} ranks",
                                           name, row - 1, kMaximumRanks)};
        }
        const std::size_t end = text.find('\n');
        base::Result<std::vector<Cell>> cells = splitLine(text.substr(0, end), name, row);
        if (!cells) return cells.error();
        rows.push_back(std::move(*cells));
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    }
    while (!rows.empty() && rows.back().empty()) rows.pop_back();
    return rows;
}

}  // namespace

base::Result<CsvSchedule> readCsv(std::string_view text, std::string_view name) {
    const base::Result<std::vector<std::vector<Cell>>> rows = splitRows(text, name);
    if (!rows) return rows.error();
    const bool older = isOlderDialect(*rows);
    CsvSchedule result;
    Shape shape;
    for (std::size_t rank = 0; rank < rows->size(); ++rank) {
        std::vector<Action>& order = result.schedule.order.emplace_back();
        for (const Cell& cell : (*rows)[rank]) {
            const std::string spelling = older ? currentSpelling(cell.text) : cell.text;
            if (older && spelling != cell.text) {
                result.diagnostics.add("older_dialect",
                                       fmt::format("{}: row {}, cell {}: read \"{}\" as {}", name,
                                                   rank + 1, cell.number, cell.text, spelling));
            }
            base::Result<Action> action = parseAction(spelling);
            if (!action) return at(name, rank + 1, cell.number, action.error().message);
            if (const auto added = shape.add(*action, static_cast<std::int32_t>(rank)); !added) {
                return at(name, rank + 1, cell.number, added.error().message);
            }
            order.push_back(std::move(*action));
        }
    }
    base::Result<Placement> placement = shape.placement(rows->size(), name);
    if (!placement) return placement.error();
    result.schedule.placement = std::move(*placement);
    result.schedule.microbatches = shape.microbatches();
    result.schedule.name = name;
    return result;
}

std::string writeCsv(const Schedule& schedule) {
    std::string text;
    for (const std::vector<Action>& order : schedule.order) {
        for (std::size_t i = 0; i < order.size(); ++i)
            text += (i > 0 ? "," : "") + toString(order[i]);
        text += "\n";
    }
    return text;
}

}  // namespace pleat::schedule
