#include "schedule/validate.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "schedule/in_order_run.h"

namespace pleat::schedule {
namespace {

base::Error invalid(std::string message) { return {base::ErrorCode::Input, std::move(message)}; }

std::string place(Position position, const Action& action) {
    return fmt::format("rank {}, position {}, {}", position.rank, position.index, toString(action));
}

const Action& actionAt(const Schedule& schedule, Position position) {
    return schedule
        .order[static_cast<std::size_t>(position.rank)][static_cast<std::size_t>(position.index)];
}

// Every action is of a stage of its own rank and of a known microbatch.
base::Result<void> checkCell(const Schedule& schedule, Position position, const Action& action) {
    for (const Action& part : action.parts) {
        if (const auto checked = checkCell(schedule, position, part); !checked) return checked;
    }
    if (action.parts.size() == 2 && action.parts[0].microbatch == action.parts[1].microbatch) {
        return invalid(
            fmt::format("{}: overlaps two actions of one microbatch", place(position, action)));
    }
    if (!action.parts.empty()) return {};
    if (action.stage < 0 || action.stage >= schedule.placement.stages()) {
        return invalid(fmt::format("{}: there are only {} stages", place(position, action),
                                   schedule.placement.stages()));
    }
    const bool hasMicrobatch = isCompute(action.kind) || isCommunication(action.kind);
    if (action.microbatch >= schedule.microbatches || (hasMicrobatch && action.microbatch < 0)) {
        return invalid(fmt::format("{}: there are only {} microbatches", place(position, action),
                                   schedule.microbatches));
    }
    if (schedule.placement.rankOf(action.stage) != position.rank) {
        return invalid(fmt::format("{}: stage {} is assigned to rank {}", place(position, action),
                                   action.stage, schedule.placement.rankOf(action.stage)));
    }
    return {};
}

base::Result<void> checkCells(const Schedule& schedule) {
    if (schedule.order.size() != static_cast<std::size_t>(schedule.ranks()) ||
        schedule.order.empty()) {
        return invalid(
            fmt::format("{} rows for {} ranks", schedule.order.size(), schedule.ranks()));
    }
    if (schedule.microbatches < 1) return invalid("no rank computes a microbatch");
    for (std::int32_t rank = 0; rank < schedule.ranks(); ++rank) {
        const auto& order = schedule.order[static_cast<std::size_t>(rank)];
        if (schedule.placement.stagesOf(rank).empty())
            return invalid(fmt::format("rank {} has no stage", rank));
        for (std::size_t i = 0; i < order.size(); ++i) {
            const Position position{rank, static_cast<std::int32_t>(i)};
            if (const auto checked = checkCell(schedule, position, order[i]); !checked)
                return checked;
        }
    }
    return {};
}

// Every microbatch passes every stage once each way; B, or I and W.
base::Result<void> checkComplete(const Schedule& schedule, const ActionIndex& index) {
    for (std::int32_t stage = 0; stage < schedule.placement.stages(); ++stage) {
        const std::int32_t rank = schedule.placement.rankOf(stage);
        for (std::int32_t m = 0; m < schedule.microbatches; ++m) {
            const auto has = [&](ActionKind kind) {
                return index.find({stage, kind, m, {}}).has_value();
            };
            const auto missing = [&](std::string_view what) {
                return invalid(fmt::format("rank {}: microbatch {} has no {} on stage {}", rank, m,
                                           what, stage));
            };
            if (!has(ActionKind::Forward)) return missing("forward (F)");
            const bool full = has(ActionKind::FullBackward), input = has(ActionKind::InputBackward);
            if (!full && !input) return missing("backward (B, or I and W)");
            if (full && (input || has(ActionKind::WeightBackward))) {
                return invalid(fmt::format("rank {}: microbatch {} has B and I or W on stage {}",
                                           rank, m, stage));
            }
            if (input && !has(ActionKind::WeightBackward)) return missing("weight gradient (W)");
        }
    }
    return {};
}

// What a rank sends over a link, in order, is what the other end receives, in order.
base::Result<void> checkLinks(const Schedule& schedule) {
    struct Link {
        std::int32_t from, to;
        bool forward;
        auto operator<=>(const Link&) const = default;
    };
    using Messages = std::vector<Action>;  // named as the receiver names them
    std::map<Link, std::pair<Messages, Messages>> links;
    for (std::int32_t rank = 0; rank < schedule.ranks(); ++rank) {
        for (const Action& action : schedule.order[static_cast<std::size_t>(rank)]) {
            if (!isCommunication(action.kind)) continue;
            const bool forward =
                action.kind == ActionKind::SendForward || action.kind == ActionKind::ReceiveForward;
            const bool sends =
                action.kind == ActionKind::SendForward || action.kind == ActionKind::SendBackward;
            const std::int32_t other = action.stage + (forward == sends ? 1 : -1);
            if (other < 0 || other >= schedule.placement.stages()) {
                return invalid(fmt::format("rank {}: {} has no stage to exchange it with", rank,
                                           toString(action)));
            }
            const std::int32_t peer = schedule.placement.rankOf(other);
            if (peer == rank) {
                return invalid(
                    fmt::format("rank {}: {} needs no message: stage {} is on the same rank", rank,
                                toString(action), other));
            }
            if (sends) {
                const ActionKind received =
                    forward ? ActionKind::ReceiveForward : ActionKind::ReceiveBackward;
                links[{rank, peer, forward}].first.push_back(
                    {other, received, action.microbatch, {}});
            } else {
                links[{peer, rank, forward}].second.push_back(action);
            }
        }
    }
    for (const auto& [link, messages] : links) {
        const auto& [sent, received] = messages;
        const auto [wrong, got] =
            std::mismatch(sent.begin(), sent.end(), received.begin(), received.end());
        if (wrong == sent.end() && got == received.end()) continue;
        return invalid(fmt::format(
            "link from rank {} to rank {}: message {} is sent for {} but received as {}", link.from,
            link.to, wrong - sent.begin(), wrong == sent.end() ? "nothing" : toString(*wrong),
            got == received.end() ? "nothing" : toString(*got)));
    }
    return {};
}

}  // namespace

base::Result<void> validate(const Schedule& schedule) {
    const base::Result<ActionIndex> index = validatedIndex(schedule);
    return index ? base::Result<void>() : index.error();
}

base::Result<ActionIndex> validatedIndex(const Schedule& schedule) {
    if (const auto cells = checkCells(schedule); !cells) return cells.error();
    base::Result<ActionIndex> index = ActionIndex::build(schedule);
    if (!index) return index.error();
    if (const auto complete = checkComplete(schedule, *index); !complete) return complete.error();
    if (const auto links = checkLinks(schedule); !links) return links.error();

    const InOrderRun run = runInOrder(schedule, *index);
    if (run.stuck.empty()) return index;
    // Name what the first stuck action waits for: an action further down its own list, or on a rank
    // that is stuck too.
    const Position first = run.stuck.front();
    std::string waitsFor = "an action that never runs";
    forEachDependency(
        actionAt(schedule, first), index->context(schedule), [&](const Action& needed) {
            const std::optional<Position> position = index->find(needed);
            const bool ran = position && run.start[static_cast<std::size_t>(position->rank)]
                                                  [static_cast<std::size_t>(position->index)] >= 0;
            if (ran) return;
            waitsFor = position
                           ? fmt::format("{} (rank {}, position {}), which cannot run before it",
                                         toString(needed), position->rank, position->index)
                           : fmt::format("{}, which is not in the schedule", toString(needed));
        });
    return invalid(
        fmt::format("{} waits for {}", place(first, actionAt(schedule, first)), waitsFor));
}

std::string drawGrid(const Schedule& schedule) {
    const bool drawable = checkCells(schedule).ok();
    const base::Result<ActionIndex> index =
        drawable ? ActionIndex::build(schedule) : base::Result<ActionIndex>(invalid("cells"));
    std::vector<std::vector<std::string>> rows(schedule.order.size());
    std::vector<Position> stuck;
    InOrderRun run;
    if (index) run = runInOrder(schedule, *index);
    std::size_t cellWidth = 4;
    for (std::size_t rank = 0; rank < schedule.order.size(); ++rank) {
        for (std::size_t i = 0; i < schedule.order[rank].size(); ++i) {
            const Action& action = schedule.order[rank][i];
            if (!isCompute(action.kind)) continue;
            const bool ran = index && run.start[rank][i] >= 0;
            const std::size_t column =
                ran ? static_cast<std::size_t>(run.start[rank][i]) : rows[rank].size();
            if (rows[rank].size() <= column) rows[rank].resize(column + 1);
            const bool blocked =
                index && !ran &&
                std::find(run.stuck.begin(), run.stuck.end(),
                          Position{static_cast<std::int32_t>(rank),
                                   static_cast<std::int32_t>(i)}) != run.stuck.end();
            rows[rank][column] = (blocked ? "!" : "") + toString(action);
            cellWidth = std::max(cellWidth, rows[rank][column].size());
            if (blocked) break;
        }
    }
    std::string grid;
    for (std::size_t rank = 0; rank < rows.size(); ++rank) {
        std::string line = fmt::format("rank {:<3}", rank);
        for (const std::string& cell : rows[rank]) line += fmt::format(" {:<{}}", cell, cellWidth);
        line.erase(line.find_last_not_of(' ') + 1);
        grid += line + "\n";
    }
    return grid;
}

}  // namespace pleat::schedule
