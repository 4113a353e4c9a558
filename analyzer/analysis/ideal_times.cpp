#include "analysis/ideal_times.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <utility>

namespace pleat::analysis {
namespace {

constexpr bool comparesRanks(SuspectKind kind) {
    return kind == SuspectKind::Rank || kind == SuspectKind::DpRank || kind == SuspectKind::Pause;
}

// Whether all that a cell (or pause cell) holds is part of the suspect.
template <class Cell>
bool isOf(const ReplayModel& model, const Suspect& suspect, const Cell& cell) {
    const ReplayRank* rank =
        cell.rank < 0 ? nullptr : &model.ranks[static_cast<std::size_t>(cell.rank)];
    switch (suspect.kind) {
        case SuspectKind::Rank:
        case SuspectKind::Pause:
            return rank != nullptr && isRank(*rank, suspect);
        case SuspectKind::DpRank:
            return rank != nullptr && rank->dp == suspect.number;
        case SuspectKind::Stage:
            return cell.stage == suspect.number;
        default:
            return false;
    }
}

bool isOfLink(const ReplayModel& model, const Suspect& suspect, const ReplayCell& cell) {
    return cell.link != kNone && model.links[cell.link] == std::pair(suspect.number, suspect.other);
}

// Of the cells that are not part of the suspect, ascending by their typical time, the one in the
// middle; of two the shorter, for of two that differ the longer one is the slow one.
template <class Cells>
std::optional<double> usualOutside(const Cells& cells, const std::vector<std::uint32_t>& ascending,
                                   const std::vector<bool>& inside) {
    const auto outside = static_cast<std::size_t>(
        std::count_if(ascending.begin(), ascending.end(), [&](auto at) { return !inside[at]; }));
    if (outside == 0) return std::nullopt;
    std::size_t before = (outside - 1) / 2;
    for (const std::uint32_t at : ascending) {
        if (inside[at]) continue;
        if (before-- == 0) return cells[at].typical;
    }
    return std::nullopt;
}

// Cells of one operation (of one kind of pause), all and by stage, ascending by typical time.
struct Group {
    std::vector<std::uint32_t> all;
    std::map<std::int32_t, std::vector<std::uint32_t>> byStage;
};

// A cell all of whose nodes are only in part in the windows says nothing of what is usual.
bool saysAnything(const ReplayCell& cell) { return cell.count > 0; }
bool saysAnything(const PauseCell&) { return true; }

template <class Cells, class KindOf>
std::vector<Group> groupsOf(const Cells& cells, std::size_t kinds, KindOf kindOf) {
    std::vector<Group> groups(kinds);
    std::vector<std::uint32_t> order(cells.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::uint32_t>(i);
    std::stable_sort(order.begin(), order.end(),
                     [&](auto a, auto b) { return cells[a].typical < cells[b].typical; });
    for (const std::uint32_t at : order) {
        if (!saysAnything(cells[at])) continue;
        Group& group = groups[kindOf(cells[at])];
        group.all.push_back(at);
        group.byStage[cells[at].stage].push_back(at);
    }
    return groups;
}

// Fills in what cells take by their peers outside.
template <class Cells>
void fillByPeers(const Cells& cells, const std::vector<Group>& groups,
                 const std::vector<bool>& inside, bool byStage, std::vector<double>& ideals) {
    for (const Group& group : groups) {
        const auto overall = usualOutside(cells, group.all, inside);
        for (const auto& [stage, members] : group.byStage) {
            const auto own =
                byStage ? usualOutside(cells, members, inside) : std::optional<double>{};
            for (const std::uint32_t at : members) {
                if (own || overall) ideals[at] = own ? *own : *overall;
            }
        }
    }
}

// A cell's mean without one microbatch; nothing where that is all there is.
std::optional<double> meanWithout(const ReplayCell& cell, std::int32_t microbatch) {
    const auto found = std::lower_bound(
        cell.microbatches.begin(), cell.microbatches.end(), microbatch,
        [](const MicrobatchTime& one, std::int32_t number) { return one.microbatch < number; });
    double sum = cell.sum;
    std::int64_t count = cell.count;
    if (found != cell.microbatches.end() && found->microbatch == microbatch) {
        sum -= found->sum;
        count -= found->count;
    }
    if (count <= 0) return std::nullopt;
    return sum / static_cast<double>(count);
}

double withoutMicrobatch(const ReplayModel& model, const ReplayCell& cell,
                         std::int32_t microbatch) {
    const ReplayOperation& operation = model.operations[cell.operation];
    if (operation.together) return cell.typical;
    return meanWithout(cell, microbatch).value_or(static_cast<double>(operation.ideal.ns));
}

class Peers {
  public:
    explicit Peers(const ReplayModel& model)
        : m_model(model),
          m_work(groupsOf(model.cells, model.operations.size(),
                          [](const ReplayCell& cell) { return cell.operation; })),
          m_pauses(groupsOf(model.pauseCells, model.usualPause.size(),
                            [](const PauseCell& cell) { return cell.kind; })) {}

    [[nodiscard]] IdealTable of(const Suspect& suspect) const {
        if (m_model.cells.empty() && m_model.pauseCells.empty()) return {};
        IdealTable table = usual();
        if (suspect.kind == SuspectKind::Microbatch) {
            for (std::size_t i = 0; i < table.cells.size(); ++i)
                table.cells[i] = withoutMicrobatch(m_model, m_model.cells[i], suspect.number);
        } else if (suspect.kind == SuspectKind::Link) {
            const auto inside = insideOf(m_model.cells, [&](const ReplayCell& cell) {
                return isOfLink(m_model, suspect, cell);
            });
            std::vector<double> byPeers = table.cells;
            fillByPeers(m_model.cells, m_work, inside, false, byPeers);
            for (std::size_t i = 0; i < byPeers.size(); ++i) {
                if (m_model.cells[i].link == kNone) continue;
                table.cells[i] = inside[i] && saysAnything(m_model.cells[i])
                                     ? std::min(byPeers[i], m_model.cells[i].typical)
                                     : byPeers[i];
            }
        } else if (suspect.number >= 0) {
            fillByRanks(suspect, table);
        }
        return table;
    }

  private:
    [[nodiscard]] IdealTable usual() const {
        IdealTable table;
        for (const ReplayCell& cell : m_model.cells)
            table.cells.push_back(static_cast<double>(m_model.operations[cell.operation].ideal.ns));
        for (const PauseCell& cell : m_model.pauseCells)
            table.pauses.push_back(m_model.usualPause[cell.kind]);
        return table;
    }

    template <class Cells, class Which>
    static std::vector<bool> insideOf(const Cells& cells, Which which) {
        std::vector<bool> inside;
        for (const auto& cell : cells) inside.push_back(which(cell));
        return inside;
    }

    void fillByRanks(const Suspect& suspect, IdealTable& table) const {
        const auto ofSuspect = [&](const auto& cell) { return isOf(m_model, suspect, cell); };
        const auto inside = insideOf(m_model.cells, ofSuspect);
        const bool byStage = comparesRanks(suspect.kind) && hasPeersOnItsStages(inside);
        fillByPeers(m_model.cells, m_work, inside, byStage, table.cells);
        // What is faster than its peers stays so.
        for (std::size_t i = 0; i < inside.size(); ++i) {
            if (inside[i] && saysAnything(m_model.cells[i]))
                table.cells[i] = std::min(table.cells[i], m_model.cells[i].typical);
        }
        fillByPeers(m_model.pauseCells, m_pauses, insideOf(m_model.pauseCells, ofSuspect), byStage,
                    table.pauses);
    }

    // Whether all it computes on a stage has the same of others beside it.
    [[nodiscard]] bool hasPeersOnItsStages(const std::vector<bool>& inside) const {
        for (std::size_t i = 0; i < inside.size(); ++i) {
            const ReplayCell& cell = m_model.cells[i];
            if (!inside[i] || cell.stage < 0 || !saysAnything(cell) ||
                m_model.operations[cell.operation].together)
                continue;
            const auto& members = m_work[cell.operation].byStage.at(cell.stage);
            if (std::all_of(members.begin(), members.end(), [&](auto at) { return inside[at]; }))
                return false;
        }
        return true;
    }

    const ReplayModel& m_model;
    std::vector<Group> m_work, m_pauses;
};

double shareOf(const ReplayIteration& iteration, std::size_t node) {
    return iteration.share.empty() ? 1 : iteration.share[node];
}

bool isFixed(const ReplayIteration& iteration, std::size_t node) {
    return !iteration.fixed.empty() && iteration.fixed[node];
}

base::Duration rounded(double ns) { return {std::llround(ns)}; }

NodeTime idealTime(const ReplayModel& model, const IdealTable& table,
                   const ReplayIteration& iteration, std::size_t node) {
    NodeTime time{{}, recordedTime(iteration, node).delay};
    const std::uint32_t operation = iteration.operation[node];
    if (isFixed(iteration, node)) {
        time.duration = recordedTime(iteration, node).duration;
    } else if (operation != kNone) {
        const double ns = table.cells.empty() || iteration.cell.empty()
                              ? static_cast<double>(model.operations[operation].ideal.ns)
                              : table.cells[iteration.cell[node]];
        time.duration = rounded(ns * shareOf(iteration, node));
    }
    if (iteration.pauseCell.empty() || iteration.pauseCell[node] == kNone || table.pauses.empty())
        return time;
    const base::Duration usual = rounded(table.pauses[iteration.pauseCell[node]]);
    // What cannot be told from the usual stays.
    if (time.delay > usual + model.resolution) time.delay = usual;
    return time;
}

}  // namespace

IdealTable idealTable(const ReplayModel& model, const Suspect& suspect) {
    return Peers(model).of(suspect);
}

TimeOf idealTimes(const ReplayModel& model, IdealTable table) {
    return [&model, table = std::make_shared<const IdealTable>(std::move(table))](
               const ReplayIteration& iteration, std::size_t node) {
        return idealTime(model, *table, iteration, node);
    };
}

TimeOf idealTimes(const ReplayModel& model, const Suspect& suspect) {
    return idealTimes(model, idealTable(model, suspect));
}

TimeOf idealTimes(const ReplayModel& model) { return idealTimes(model, Suspect{}); }

OwnIdeals::OwnIdeals(const ReplayModel& model, const std::vector<Suspect>& suspects)
    : m_model(model) {
    const Peers peers(model);
    m_byKind.fill(peers.of({}));
    if (model.cells.empty() && model.pauseCells.empty()) return;
    for (const Suspect& suspect : suspects) {
        if (suspect.number < 0 || suspect.kind == SuspectKind::Microbatch) continue;
        const IdealTable table = peers.of(suspect);
        IdealTable& own = m_byKind[static_cast<std::size_t>(suspect.kind)];
        for (std::size_t i = 0; i < model.cells.size(); ++i) {
            if (isOf(model, suspect, model.cells[i]) ||
                (suspect.kind == SuspectKind::Link && isOfLink(model, suspect, model.cells[i])))
                own.cells[i] = table.cells[i];
        }
        for (std::size_t i = 0; i < model.pauseCells.size(); ++i) {
            if (isOf(model, suspect, model.pauseCells[i])) own.pauses[i] = table.pauses[i];
        }
    }
}

NodeTime OwnIdeals::of(const Suspect& suspect, const ReplayIteration& iteration,
                       std::size_t node) const {
    // The pauses of the whole run are compared with the usual ones, not with those of other ranks.
    const auto kind = suspect.kind == SuspectKind::Pause && suspect.number < 0
                          ? SuspectKind::Everything
                          : suspect.kind;
    NodeTime time = idealTime(m_model, m_byKind[static_cast<std::size_t>(kind)], iteration, node);
    if (suspect.kind == SuspectKind::Microbatch && !isFixed(iteration, node) &&
        !iteration.cell.empty() && iteration.cell[node] != kNone) {
        const double ns =
            withoutMicrobatch(m_model, m_model.cells[iteration.cell[node]], suspect.number);
        time.duration = rounded(ns * shareOf(iteration, node));
    }
    return time;
}

}  // namespace pleat::analysis
