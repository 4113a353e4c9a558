#include "support/naive_accounting.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

namespace pleat::testing {
namespace {

using base::Duration;
using base::Interval;
using base::TraceTime;
using schedule::ActionKind;

struct Work {
    Interval span;
    bool backward = false;
    TraceTime called;  // with devices
};

// Everything one rank did, unclipped.
struct Done {
    std::vector<Work> work;  // in order
    std::vector<Interval> data, moving, waiting;
};

bool covered(const std::vector<Interval>& intervals, TraceTime time) {
    return std::any_of(intervals.begin(), intervals.end(), [&](const Interval& interval) {
        return interval.begin <= time && time < interval.end;
    });
}

Done doneBy(const SyntheticRun& run, std::int32_t rank) {
    Done done;
    for (const SyntheticTask& task : run.tasks) {
        if (task.rank == rank)
            done.work.push_back({task.span, task.action.kind != ActionKind::Forward, {}});
    }
    for (const SyntheticPhase& phase : run.phases) {
        if (phase.rank != rank) continue;
        if (phase.optimizer) {
            done.work.push_back({phase.span, false, {}});
        } else {
            done.data.push_back(phase.span);
        }
    }
    for (const SyntheticTransfer& transfer : run.transfers) {
        if (transfer.rank != rank) continue;
        done.moving.push_back({transfer.ready, transfer.span.end});
        if (transfer.peer < 0) done.waiting.push_back({transfer.span.begin, transfer.ready});
    }
    std::stable_sort(done.work.begin(), done.work.end(),
                     [](const Work& a, const Work& b) { return a.span.begin < b.span.begin; });
    for (const SyntheticEvent& event : run.events) {
        if (event.rank != rank || event.launchedBy < 0) continue;
        for (Work& work : done.work) {
            if (work.span == event.span)
                work.called = run.events[static_cast<std::size_t>(event.launchedBy)].span.begin;
        }
    }
    return done;
}

// A stretch of idle time outside data loading, in front of work `gap` (the last: behind all).
struct Idle {
    Interval span;
    std::size_t gap = 0;
};

struct Account {
    NaiveRank sums;
    std::int64_t data_ns = 0;  // of the bubble
    std::vector<Idle> idle;    // whole stretches, cut at the begins of work
};

Account accountOf(const Done& done, Interval window) {
    std::set<TraceTime> cuts = {window.begin, window.end};
    std::vector<Interval> work;
    for (const Work& w : done.work) work.push_back(w.span);
    for (const std::vector<Interval>* list :
         {&std::as_const(work), &done.data, &done.moving, &done.waiting}) {
        for (const Interval& interval : *list) {
            for (const TraceTime time : {interval.begin, interval.end}) {
                if (window.begin < time && time < window.end) cuts.insert(time);
            }
        }
    }
    Account account;
    for (auto cut = cuts.begin(); std::next(cut) != cuts.end(); ++cut) {
        const Interval piece{*cut, *std::next(cut)};
        const std::int64_t ns = piece.length().ns;
        if (covered(work, piece.begin)) {
            account.sums.compute_ns += ns;
        } else if (covered(done.moving, piece.begin)) {
            account.sums.moving_ns += ns;
        } else if (covered(done.waiting, piece.begin)) {
            account.sums.waiting_ns += ns;
        } else {
            account.sums.bubble_ns += ns;
            if (covered(done.data, piece.begin)) {
                account.data_ns += ns;
                continue;
            }
            const auto gap = static_cast<std::size_t>(
                std::count_if(work.begin(), work.end(),
                              [&](const Interval& w) { return w.begin <= piece.begin; }));
            auto& idle = account.idle;
            if (!idle.empty() && idle.back().span.end == piece.begin && idle.back().gap == gap) {
                idle.back().span.end = piece.end;
            } else {
                idle.push_back({piece, gap});
            }
        }
    }
    return account;
}

std::vector<std::int64_t> byGap(const std::vector<Idle>& idle, std::size_t gaps) {
    std::vector<std::int64_t> sums(gaps, 0);
    for (const Idle& piece : idle) sums[piece.gap] += piece.span.length().ns;
    return sums;
}

// The measured costs of the run's tasks, and what is typical of them.
class Costs {
  public:
    explicit Costs(const SyntheticRun& run) {
        for (const SyntheticTask& task : run.tasks) {
            const Duration cost = task.span.length();
            m_measured[{task.rank, toString(task.action)}] = cost;
            m_ofKind[task.action.kind].push_back(cost);
            m_ofStage[{task.action.kind, task.rank, task.action.stage}].push_back(cost);
        }
        for (auto& [key, costs] : m_ofStage) std::sort(costs.begin(), costs.end());
    }
    [[nodiscard]] Duration mean(const schedule::Action& action) const {
        const auto& costs = m_ofKind.at(action.kind);
        Duration sum;
        for (const Duration cost : costs) sum += cost;
        return {sum.ns / static_cast<std::int64_t>(costs.size())};
    }
    [[nodiscard]] Duration usual(std::int32_t rank, const schedule::Action& action) const {
        const auto& costs = m_ofStage.at({action.kind, rank, action.stage});
        return costs[(costs.size() - 1) / 2];
    }
    [[nodiscard]] Duration measured(std::int32_t rank, const schedule::Action& action) const {
        return m_measured.at({rank, toString(action)});
    }

  private:
    std::map<std::pair<std::int32_t, std::string>, Duration> m_measured;
    std::map<ActionKind, std::vector<Duration>> m_ofKind;
    std::map<std::tuple<ActionKind, std::int32_t, std::int32_t>, std::vector<Duration>> m_ofStage;
};

// A replay, in which replicas may run apart: each is a run of its own then.
struct NaiveReplay {
    std::string cause;
    std::vector<SyntheticRun> runs;  // one for each replica, or one for all

    [[nodiscard]] Account accountOfRank(std::int32_t rank) const {
        const std::int32_t ranks = runs.front().ranks;
        const SyntheticRun& run = runs[static_cast<std::size_t>(rank / ranks)];
        TraceTime end;
        for (const Interval& whole : run.iterations.front()) end = std::max(end, whole.end);
        return accountOf(doneBy(run, rank % ranks), {{}, end});
    }
};

// The replays of docs/analysis.md, each with one imperfection more.
std::vector<NaiveReplay> replaysOf(const SyntheticOptions& options, const Costs& costs) {
    SyntheticOptions replay = options;
    replay.skew = replay.link = replay.sync = replay.data = {};
    replay.slowLinks.clear();
    replay.launchDelays.clear();
    replay.devices = false;
    std::vector<NaiveReplay> replays;
    const auto addApart = [&](std::string cause, auto costOf) {
        NaiveReplay all{std::move(cause), {}};
        SyntheticOptions one = replay;
        one.dp = 1;
        for (std::int32_t replica = 0; replica < options.dp; ++replica) {
            const std::int32_t first = replica * options.schedule.ranks();
            one.cost = [&, first](std::int32_t rank, const schedule::Action& action) {
                return costOf(first + rank, action);
            };
            all.runs.push_back(makeSyntheticRun(one));
        }
        replays.push_back(std::move(all));
    };
    const auto add = [&](std::string cause) {
        replays.push_back({std::move(cause), {makeSyntheticRun(replay)}});
    };
    addApart("fill or drain",
             [&](std::int32_t, const schedule::Action& action) { return costs.mean(action); });
    addApart("imbalance", [&](std::int32_t rank, const schedule::Action& action) {
        return costs.usual(rank, action);
    });
    replay.cost = [&](std::int32_t rank, const schedule::Action& action) {
        return costs.measured(rank, action);
    };
    addApart("late_peer", replay.cost);
    add("replica_imbalance");
    replay.link = options.link;
    replay.slowLinks = options.slowLinks;
    add("p2p_latency");
    replay.sync = options.sync;
    add("gradient_sync");
    replay.data = options.data;
    add("data_loading");
    return replays;
}

Interval windowOf(const SyntheticRun& run) {
    const auto first = std::min_element(
        run.tasks.begin(), run.tasks.end(), [](const SyntheticTask& a, const SyntheticTask& b) {
            return std::pair(a.span.begin, a.rank) < std::pair(b.span.begin, b.rank);
        });
    const std::vector<Interval>& ranks = run.iterations.front();
    Interval window = ranks[static_cast<std::size_t>(first->rank)];
    for (const Interval& rank : ranks) window.end = std::max(window.end, rank.end);
    return window;
}

// What no replay explains of each gap, where its call says why.
std::vector<std::int64_t> calledLate(const Done& done, const Account& account) {
    std::vector<Idle> late;
    for (const Idle& idle : account.idle) {
        if (idle.gap < done.work.size() && done.work[idle.gap].called >= idle.span.begin)
            late.push_back(idle);
    }
    return byGap(late, done.work.size() + 1);
}

// How long each piece of work began after all it waited for on its own rank had ended: the work
// before it, its data, its message, and for the optimizer the syncs.
std::vector<std::int64_t> ownPauses(const SyntheticRun& run, const Done& done, Interval window,
                                    std::int32_t rank) {
    std::vector<std::int64_t> pauses;
    TraceTime before = window.begin;
    for (const Work& work : done.work) {
        TraceTime free = before;
        const auto wait = [&](const Interval& span) {
            if (span.end <= work.span.begin) free = std::max(free, span.end);
        };
        for (const Interval& data : done.data) wait(data);
        const auto task = std::find_if(
            run.tasks.begin(), run.tasks.end(),
            [&](const SyntheticTask& each) { return each.rank == rank && each.span == work.span; });
        for (const SyntheticTransfer& transfer : run.transfers) {
            if (transfer.rank != rank) continue;
            if (task == run.tasks.end() && transfer.action.kind == ActionKind::ReduceGradient)
                wait(transfer.span);
            const bool forward =
                task != run.tasks.end() && task->action.kind == ActionKind::Forward;
            if (task != run.tasks.end() && transfer.action.stage == task->action.stage &&
                transfer.action.microbatch == task->action.microbatch &&
                transfer.action.kind ==
                    (forward ? ActionKind::ReceiveForward : ActionKind::ReceiveBackward))
                wait(transfer.span);
        }
        pauses.push_back((work.span.begin - free).ns);
        for (const Interval& data : done.data) {
            if (data.end == free && data.begin > before) pauses.back() += (data.begin - before).ns;
        }
        before = work.span.end;
    }
    pauses.push_back(0);
    return pauses;
}

std::map<std::string, std::int64_t> causesOf(const SyntheticRun& measuredRun, const Done& done,
                                             const Account& account, Interval window, bool devices,
                                             const std::vector<NaiveReplay>& replays,
                                             std::int32_t rank) {
    const std::size_t gaps = done.work.size() + 1;
    const auto backward = static_cast<std::size_t>(
        std::find_if(done.work.begin(), done.work.end(), [](const Work& w) { return w.backward; }) -
        done.work.begin());
    const std::vector<std::int64_t> measured = byGap(account.idle, gaps);
    std::vector<std::int64_t> explained(gaps, 0);
    std::map<std::string, std::int64_t> causes = {{"data_loading", account.data_ns}};
    for (const NaiveReplay& replay : replays) {
        const std::vector<std::int64_t> idle = byGap(replay.accountOfRank(rank).idle, gaps);
        for (std::size_t gap = 0; gap < gaps; ++gap) {
            const std::int64_t reached =
                std::max(explained[gap], std::min(measured[gap], idle[gap]));
            const std::string ofGap = replay.cause != "fill or drain" ? replay.cause
                                      : gap <= backward               ? "fill"
                                                                      : "drain";
            causes[ofGap] += reached - explained[gap];
            explained[gap] = reached;
        }
    }
    const std::vector<std::int64_t> late =
        devices ? calledLate(done, account) : std::vector<std::int64_t>(gaps, 0);
    const std::vector<std::int64_t> paused = ownPauses(measuredRun, done, window, rank);
    for (std::size_t gap = 0; gap < gaps; ++gap) {
        const std::int64_t rest = measured[gap] - explained[gap];
        const std::int64_t host = std::min(rest, late[gap]);
        const std::int64_t own =
            std::clamp<std::int64_t>(std::min(rest, paused[gap]) - host, 0, rest - host);
        causes["host_late"] += host;
        causes["unknown"] += own;
        causes["late_peer"] += rest - host - own;
    }
    std::erase_if(causes, [](const auto& cause) { return cause.second == 0; });
    return causes;
}

}  // namespace

NaiveAccount naiveAccount(const SyntheticOptions& options, const SyntheticRun& run) {
    const Costs costs(run);
    const auto replays = replaysOf(options, costs);
    NaiveAccount result{windowOf(run), {}};
    for (std::int32_t rank = 0; rank < run.ranks; ++rank) {
        const Done done = doneBy(run, rank);
        const Account account = accountOf(done, result.window);
        result.ranks.push_back(account.sums);
        result.ranks.back().causes =
            causesOf(run, done, account, result.window, options.devices, replays, rank);
    }
    return result;
}

}  // namespace pleat::testing
