#include "annotate/rule_marks.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "base/say.h"

namespace pleat::annotate {
namespace {

// Begins that may still find their end; older ones have lost it.
constexpr std::size_t kMostOpen = 256;

// What two marks of one range have in common, besides their rank.
using Meaning = std::tuple<RuleKind, schedule::ActionKind, trace::Operation, trace::PhaseKind>;

Meaning meaningOf(const Rule& rule) {
    const trace::Operation operation =
        rule.messages.empty() ? trace::Operation::Other : rule.messages.front().operation;
    return {rule.kind, rule.action, operation, rule.phase};
}

bool contradict(const RuleNumbers& a, const RuleNumbers& b) {
    for (std::size_t i = 0; i < a.size(); ++i)
        if (a[i] >= 0 && b[i] >= 0 && a[i] != b[i]) return true;
    return false;
}

RuleNumbers joined(RuleNumbers a, const RuleNumbers& b) {
    for (std::size_t i = 0; i < a.size(); ++i)
        if (a[i] < 0) a[i] = b[i];
    return a;
}

}  // namespace

// Of one rank.
class RuleMarks::Pairing {
  public:
    Pairing(Draft& draft, std::vector<RuleMatch>& ranges, bool iterationsHaveEnds)
        : m_draft(draft), m_ranges(ranges), m_iterationsHaveEnds(iterationsHaveEnds) {}

    void take(const RuleMatch& mark) {
        std::vector<RuleMatch>& open = m_open[meaningOf(*mark.rule)];
        if (mark.rule->edge == RuleEdge::End) return end(mark, open);
        if (mark.rule->kind == RuleKind::Iteration && !open.empty()) {
            close(open.back(), mark.span.begin);
            open.clear();
        }
        if (open.size() == kMostOpen) {
            lost(open.front());
            open.erase(open.begin());
        }
        open.push_back(mark);
    }

    // `last`: the rank's last moment.
    void finish(base::TraceTime last) {
        for (auto& [meaning, open] : m_open) {
            for (RuleMatch& mark : open) {
                if (mark.rule->kind != RuleKind::Iteration) {
                    lost(mark);
                    continue;
                }
                // Where ends are marked, one that is missing was cut off.
                mark.open = m_iterationsHaveEnds;
                close(mark, last);
            }
        }
    }

  private:
    void end(const RuleMatch& mark, std::vector<RuleMatch>& open) {
        const auto begin = std::find_if(open.rbegin(), open.rend(), [&](const RuleMatch& other) {
            return !contradict(other.numbers, mark.numbers);
        });
        if (begin == open.rend()) {
            if (mark.rule->kind == RuleKind::Iteration && m_lastEnd) {
                RuleMatch range = mark;
                range.span.begin = *m_lastEnd;
                close(range, mark.span.begin);
            } else {
                lost(mark);
            }
        } else {
            begin->numbers = joined(begin->numbers, mark.numbers);
            close(*begin, mark.span.begin);
            open.erase(std::next(begin).base());
        }
        if (mark.rule->kind == RuleKind::Iteration) m_lastEnd = mark.span.begin;
    }

    void close(RuleMatch& range, base::TraceTime end) {
        range.span.end = std::max(range.span.begin, end);
        m_ranges.push_back(range);
    }

    void lost(const RuleMatch& mark) {
        m_draft.diagnostics.add("mark_without_partner", [&] {
            return fmt::format(
                "\"{}\" at {} ns marks the {} of a range, but its counterpart is missing",
                base::printable(m_draft.events.name(mark.event), 80), mark.span.begin.ns,
                mark.rule->edge == RuleEdge::Begin ? "begin" : "end");
        });
    }

    Draft& m_draft;
    std::vector<RuleMatch>& m_ranges;
    const bool m_iterationsHaveEnds;
    std::map<Meaning, std::vector<RuleMatch>> m_open;
    std::optional<base::TraceTime> m_lastEnd;  // of an iteration
};

std::vector<RuleMatch> RuleMarks::ranges() {
    std::vector<RuleMatch> ranges;
    if (m_marks.empty()) return ranges;
    const auto rankOf = [&](const RuleMatch& mark) {
        return m_draft.rankOf(m_draft.events.event(mark.event));
    };
    std::stable_sort(m_marks.begin(), m_marks.end(), [&](const auto& a, const auto& b) {
        return std::tuple(rankOf(a), a.span.begin, a.event) <
               std::tuple(rankOf(b), b.span.begin, b.event);
    });
    const bool iterationsHaveEnds =
        std::any_of(m_rules.begin(), m_rules.end(), [](const Rule& rule) {
            return rule.kind == RuleKind::Iteration && rule.edge == RuleEdge::End;
        });
    std::map<trace::RankId, base::TraceTime> last;
    for (std::size_t i = 0; i < m_draft.events.eventCount(); ++i) {
        const trace::Event event = m_draft.events.event(trace::EventId::at(i));
        base::TraceTime& end =
            last.try_emplace(m_draft.rankOf(event), event.span.end).first->second;
        end = std::max(end, event.span.end);
    }
    for (std::size_t first = 0; first < m_marks.size();) {
        const trace::RankId rank = rankOf(m_marks[first]);
        Pairing pairing(m_draft, ranges, iterationsHaveEnds);
        for (; first < m_marks.size() && rankOf(m_marks[first]) == rank; ++first)
            pairing.take(m_marks[first]);
        pairing.finish(last[rank]);
    }
    return ranges;
}

}  // namespace pleat::annotate
