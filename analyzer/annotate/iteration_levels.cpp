#include "annotate/iteration_levels.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <unordered_set>
#include <vector>

#include "base/say.h"

namespace pleat::annotate {
namespace {

constexpr std::size_t kNoRange = static_cast<std::size_t>(-1);

struct Range {
    trace::IterationSpan span;
    std::size_t family = 0;
    bool kept = true;
};

// The names that are alike but for their numbers.
struct Family {
    bool kept = true;
    std::size_t count = 0, inside = 0;  // of its ranges; within ranges of other families
    std::size_t mostOfARank = 0;
    double time = 0;
};

class Levels {
  public:
    explicit Levels(Draft& draft) : m_draft(draft) {
        std::map<std::string, std::size_t> known;
        for (const trace::IterationSpan& span : draft.enclosing) {
            const std::string name = withoutNumbers(draft.events.name(span.event));
            const std::size_t family = known.try_emplace(name, known.size()).first->second;
            m_ranges.push_back({span, family});
        }
        m_families.resize(known.size());
        std::sort(m_ranges.begin(), m_ranges.end(), [](const Range& a, const Range& b) {
            return std::tuple(a.span.rank, a.span.span.begin, b.span.span.end, a.span.event) <
                   std::tuple(b.span.rank, b.span.span.begin, a.span.span.end, b.span.event);
        });
    }

    void choose() {
        look();
        while (!repeats(true) && repeats(false)) {
            for (Family& family : m_families) family.kept = family.kept && isInside(family);
            look();
        }
        std::vector<std::size_t> outer;
        for (std::size_t i = 0; i < m_families.size(); ++i) {
            Family& family = m_families[i];
            family.kept = family.kept && !isInside(family);
            if (family.kept) outer.push_back(i);
        }
        look();
        dropRivals(outer);
        drop();
    }

  private:
    static std::string withoutNumbers(std::string_view name) {
        std::string text;
        for (const char c : name) {
            const bool digit = c >= '0' && c <= '9';
            if (!digit) text += c;
            if (digit && (text.empty() || text.back() != '#')) text += '#';
        }
        return text;
    }

    static bool isInside(const Family& family) { return 2 * family.inside > family.count; }

    // Among the families kept: do any on the outside repeat, or any inside them?
    [[nodiscard]] bool repeats(bool outside) const {
        return std::any_of(m_families.begin(), m_families.end(), [&](const Family& family) {
            return family.kept && isInside(family) != outside && family.mostOfARank > 1;
        });
    }

    // Counts over the families kept, and leaves out a range within one of its own family: it was
    // written twice.
    void look() {
        for (Family& family : m_families) family = {family.kept};
        std::vector<std::size_t> open, ofRank(m_families.size(), 0);
        trace::RankId rank;
        for (std::size_t i = 0; i < m_ranges.size(); ++i) {
            Range& range = m_ranges[i];
            Family& family = m_families[range.family];
            range.kept = family.kept;
            if (!family.kept) continue;
            if (range.span.rank != rank) {
                open.clear();
                std::fill(ofRank.begin(), ofRank.end(), 0);
            }
            rank = range.span.rank;
            const std::size_t around = enclosing(open, range);
            open.push_back(i);
            if (around != kNoRange && m_ranges[around].family == range.family) {
                range.kept = false;
                continue;
            }
            ++family.count;
            family.inside += around != kNoRange;
            family.time += static_cast<double>(range.span.span.length().ns);
            family.mostOfARank = std::max(family.mostOfARank, ++ofRank[range.family]);
        }
    }

    // What does not reach as far as the range can hold nothing that follows it either.
    [[nodiscard]] std::size_t enclosing(std::vector<std::size_t>& open, const Range& range) const {
        while (!open.empty()) {
            const base::Interval last = m_ranges[open.back()].span.span;
            if (last.end >= range.span.span.end && last.end > range.span.span.begin)
                return open.back();
            open.pop_back();
        }
        return kNoRange;
    }

    // Of families side by side in the same stretch of a rank's time the one with the most time is
    // the training; others count something else (evaluation) or the same once more.
    void dropRivals(const std::vector<std::size_t>& outer) {
        if (outer.size() < 2) return;
        std::vector<std::map<trace::RankId, base::Interval>> extents(m_families.size());
        for (const Range& range : m_ranges) {
            if (!range.kept) continue;
            const base::Interval span = range.span.span;
            base::Interval& extent =
                extents[range.family].try_emplace(range.span.rank, span).first->second;
            extent = {std::min(extent.begin, span.begin), std::max(extent.end, span.end)};
        }
        std::vector<std::size_t> byTime = outer;
        std::stable_sort(byTime.begin(), byTime.end(), [&](std::size_t a, std::size_t b) {
            return m_families[a].time > m_families[b].time;
        });
        std::map<trace::RankId, std::vector<base::Interval>> taken;
        for (const std::size_t family : byTime) {
            const bool rival = std::any_of(
                extents[family].begin(), extents[family].end(), [&](const auto& extent) {
                    const auto& others = taken[extent.first];
                    return std::any_of(others.begin(), others.end(), [&](base::Interval other) {
                        return !intersect(other, extent.second).empty();
                    });
                });
            m_families[family].kept = !rival;
            if (rival) continue;
            for (const auto& [rank, extent] : extents[family]) taken[rank].push_back(extent);
        }
    }

    void drop() {
        std::unordered_set<trace::EventId> dropped;
        const Range* example = nullptr;
        for (const Range& range : m_ranges) {
            if (range.kept && m_families[range.family].kept) continue;
            dropped.insert(range.span.event);
            if (example == nullptr) example = &range;
        }
        if (dropped.empty()) return;
        const auto isDropped = [&](const trace::IterationSpan& span) {
            return dropped.contains(span.event);
        };
        std::erase_if(m_draft.enclosing, isDropped);
        std::erase_if(m_draft.found.iterations, isDropped);
        m_draft.diagnostics.add(
            "iteration_ranges_nested",
            fmt::format("\"{}\" of rank {} at {} ns is not an iteration: iterations are the "
                        "outermost numbered ranges that repeat{}",
                        base::printable(m_draft.events.name(example->span.event), 80),
                        m_draft.ranks[example->span.rank].number, example->span.span.begin.ns,
                        nameOfKept()),
            static_cast<std::int64_t>(dropped.size()));
    }

    [[nodiscard]] std::string nameOfKept() const {
        for (const Range& range : m_ranges) {
            if (range.kept && m_families[range.family].kept)
                return fmt::format(" (\"{}\")",
                                   base::printable(m_draft.events.name(range.span.event), 80));
        }
        return {};
    }

    Draft& m_draft;
    std::vector<Range> m_ranges;  // by rank and begin, the longer first
    std::vector<Family> m_families;
};

}  // namespace

void keepOutermostIterations(Draft& draft) {
    if (draft.enclosing.size() > 1) Levels(draft).choose();
}

}  // namespace pleat::annotate
