#include "annotate/order_alignment.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "annotate/clock_fit.h"
#include "base/statistics.h"

namespace pleat::annotate {
namespace {

using Parts = std::span<const OrderedPart>;

constexpr double kUsuallyPaired = 0.8;  // of what both recorded, else they are different ones

// What must be added to the other's ends to get the reference's, and how far single pairs stray
// from that.
struct EndsDiffer {
    double by = 0, strays = kEndSpreadNs;
    bool sure = true;
};

constexpr double kFar = 8;            // times as far as pairs usually stray
constexpr std::size_t kOfTwenty = 9;  // that many are right, whatever was lost

// Half the width of the narrowest stretch that holds 45 % of the values, ascending.
double spreadOf(const std::vector<double>& sorted, std::size_t wanted) {
    double narrowest = std::numeric_limits<double>::max();
    for (std::size_t i = 0; i + wanted <= sorted.size(); ++i)
        narrowest = std::min(narrowest, sorted[i + wanted - 1] - sorted[i]);
    return narrowest / 2;
}

// Differences of all ends that may belong together: those that do lie close, the others anywhere.
std::vector<double> candidateDifferences(Parts reference, Parts other, std::size_t samples,
                                         std::size_t& sampled) {
    constexpr std::ptrdiff_t kNear = 256;
    const std::size_t step = std::max<std::size_t>(1, other.size() / samples);
    const auto missing = static_cast<std::ptrdiff_t>(reference.size() > other.size()
                                                         ? reference.size() - other.size()
                                                         : other.size() - reference.size());
    const std::ptrdiff_t near = std::min<std::ptrdiff_t>(kNear, missing + 32);
    std::vector<double> differences;
    sampled = 0;
    for (std::size_t i = 0; i < other.size(); i += step) {
        ++sampled;
        const auto at = static_cast<std::ptrdiff_t>(i);
        const auto last = std::min(at + near + 1, static_cast<std::ptrdiff_t>(reference.size()));
        for (auto r = std::max<std::ptrdiff_t>(0, at - near); r < last; ++r) {
            const OrderedPart& part = reference[static_cast<std::size_t>(r)];
            if (part.kind == other[i].kind)
                differences.push_back(static_cast<double>(part.endNs - other[i].endNs));
        }
    }
    std::sort(differences.begin(), differences.end());
    return differences;
}

// What lies between two communications, usually: no more than a part of it are ends apart that
// belong together.
double usualGap(Parts reference) {
    std::vector<double> gaps;
    for (std::size_t i = 1; i < reference.size(); ++i)
        gaps.push_back(std::abs(static_cast<double>(reference[i].endNs - reference[i - 1].endNs)));
    return base::medianOf(gaps);
}

// The narrowest stretch that holds as many differences as there are true pairs. Where everything
// repeats, one without a difference (one clock), else the one with the most.
std::optional<EndsDiffer> differenceOfEnds(Parts reference, Parts other, std::size_t samples) {
    std::size_t sampled = 0;
    const std::vector<double> all = candidateDifferences(reference, other, samples, sampled);
    const std::size_t wanted =
        std::max(std::min<std::size_t>(3, sampled), sampled * kOfTwenty / 20);
    if (all.size() < wanted) return std::nullopt;
    const double spread = spreadOf(all, wanted);
    const double reach = 4 * spread + kEndSpreadNs;
    EndsDiffer best{0, std::max(spread + kEndSpreadNs, usualGap(reference) / 32), true};
    std::size_t most = 0, second = 0;
    bool onOneClock = false;
    std::size_t last = 0;
    for (std::size_t i = 0; i + wanted <= all.size(); ++i) {
        if (all[i + wanted - 1] - all[i] > reach) continue;
        const double middle = all[i + wanted / 2];
        last = std::max(last, i);
        while (last < all.size() && all[last] - all[i] <= reach) ++last;
        const std::size_t count = last - i;
        const bool near = std::abs(middle) <= 2 * kEndSpreadNs + spread;
        const bool same = most > 0 && std::abs(middle - best.by) <= 2 * reach;
        if ((near && !onOneClock) || (near == onOneClock && count > most)) {
            if (!same) second = std::max(second, most);
            best.by = middle;
            most = count;
            onOneClock = near;
        } else if (!same) {
            second = std::max(second, count);
        }
    }
    best.sure = onOneClock || second * 10 < most * 9;
    return best;
}

// As one shift has it. `whole`: it explains every pair, so nothing is missing in the middle.
std::optional<OrderAlignment> shiftedAsOne(Parts reference, Parts other, bool& whole) {
    whole = false;
    const auto found = findShift(reference, other);
    if (!found) return std::nullopt;
    OrderAlignment alignment;
    alignment.sure = found->sure;
    alignment.partners.assign(other.size(), kNoPartner);
    std::vector<double> differences;
    for (std::size_t i = 0; i < other.size(); ++i) {
        const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(i) + found->shift;
        if (at < 0 || at >= static_cast<std::ptrdiff_t>(reference.size())) continue;
        alignment.partners[i] = at;
        differences.push_back(
            static_cast<double>(reference[static_cast<std::size_t>(at)].endNs - other[i].endNs));
    }
    std::vector<double> sorted = differences;
    std::sort(sorted.begin(), sorted.end());
    alignment.difference = sorted[sorted.size() / 2];
    constexpr std::size_t kFewSamples = 128;
    const auto usual = differenceOfEnds(reference, other, kFewSamples);
    // Behind a loss all pairs stray by the time between two communications.
    const double far = kFar * (usual ? usual->strays : kEndSpreadNs);
    std::size_t strays = 0, inARow = 0, most = 0;
    for (const double difference : differences) {
        const bool stray = std::abs(difference - alignment.difference) > far;
        strays += stray ? 1 : 0;
        inARow = stray ? inARow + 1 : 0;
        most = std::max(most, inARow);
    }
    // One alone may just have ended late, unless there is one that may be missing.
    whole = alignment.pairs() == std::min(reference.size(), other.size()) &&
            (strays == 0 || (most < 2 && reference.size() == other.size()));
    return alignment;
}

// The table of all pairs of prefixes, of which only a band is worked out: row i is the first i
// parts of the other's, its columns prefixes of the reference that end at about the same time.
class Table {
  public:
    Table(Parts reference, Parts other, const EndsDiffer& differ)
        : m_reference(reference), m_other(other), m_differ(differ) {
        for (const OrderedPart& part : reference) m_ends.push_back(part.endNs);
        std::sort(m_ends.begin(), m_ends.end());
    }

    std::vector<std::ptrdiff_t> partners() {
        Row before{0, std::vector<double>(m_reference.size() + 1, 0)};  // nothing of the other's
        Cell best;
        m_steps.push_back({});
        for (std::size_t i = 1; i <= m_other.size(); ++i) {
            before = rowAfter(before, i);
            // What lies beyond the end of either list was not recorded; it costs nothing.
            const std::size_t end = before.low + before.scores.size() - 1;
            if (end == m_reference.size()) best.improve({i, end, before.scores.back()});
        }
        for (std::size_t c = 0; c < before.scores.size(); ++c)
            best.improve({m_other.size(), before.low + c, before.scores[c]});
        return walkBack(best);
    }

  private:
    enum class Step : std::uint8_t { Pair, OtherAlone, ReferenceAlone };
    struct Row {
        std::size_t low = 0;
        std::vector<double> scores;
    };
    struct Steps {
        std::size_t low = 0;
        std::vector<Step> steps;
    };
    struct Cell {
        std::size_t other = 0, reference = 0;
        double score = 0;
        void improve(const Cell& cell) {
            if (cell.score > score) *this = cell;
        }
    };

    static constexpr double kAlone = -0.6;
    static constexpr double kFarApart = 2.15;
    static constexpr std::size_t kHalfWidth = 12;
    static constexpr double kNever = -1e18;

    // Two that are farther apart than communications stray are no pair, unless neither has another:
    // that is a little better than two that stand alone.
    [[nodiscard]] double scoreOf(const OrderedPart& other, const OrderedPart& reference) const {
        if (other.kind != reference.kind) return kNever;
        const double stray =
            std::abs(static_cast<double>(reference.endNs - other.endNs) - m_differ.by);
        return 1 - kFarApart * std::min(1.0, stray / (4 * m_differ.strays));
    }

    // Left of a row's band nothing can lead on; right of it parts of the reference stand alone.
    static double scoreAt(const Row& row, std::size_t column) {
        if (column < row.low) return kNever;
        const std::size_t at = column - row.low;
        if (at < row.scores.size()) return row.scores[at];
        return row.scores.back() + kAlone * static_cast<double>(at + 1 - row.scores.size());
    }

    [[nodiscard]] Steps stepsOf(std::size_t i, std::size_t lowest) {
        const double expected = static_cast<double>(m_other[i - 1].endNs) + m_differ.by;
        while (m_near < m_ends.size() && static_cast<double>(m_ends[m_near]) < expected) ++m_near;
        const std::size_t low = std::max(lowest, m_near - std::min(m_near, kHalfWidth));
        const std::size_t high = std::max(low, std::min(m_ends.size(), m_near + kHalfWidth));
        return {low, std::vector<Step>(high - low + 1, Step::OtherAlone)};
    }

    Row rowAfter(const Row& before, std::size_t i) {
        Steps steps = stepsOf(i, before.low);
        Row row{steps.low, {}};
        for (std::size_t c = 0; c < steps.steps.size(); ++c) {
            const std::size_t column = steps.low + c;
            if (column == 0) {  // the other's first ones were recorded before the reference began
                row.scores.push_back(0);
                continue;
            }
            double best = scoreAt(before, column) + kAlone;
            const double pair =
                scoreAt(before, column - 1) + scoreOf(m_other[i - 1], m_reference[column - 1]);
            if (pair > best) {
                best = pair;
                steps.steps[c] = Step::Pair;
            }
            if (c > 0 && row.scores.back() + kAlone > best) {
                best = row.scores.back() + kAlone;
                steps.steps[c] = Step::ReferenceAlone;
            }
            row.scores.push_back(best);
        }
        m_steps.push_back(std::move(steps));
        return row;
    }

    [[nodiscard]] std::vector<std::ptrdiff_t> walkBack(const Cell& from) const {
        std::vector<std::ptrdiff_t> partners(m_other.size(), kNoPartner);
        std::size_t i = from.other, column = from.reference;
        while (i > 0 && column > 0) {
            const Steps& row = m_steps[i];
            if (column < row.low) break;
            const std::size_t at = column - row.low;
            const Step step = at < row.steps.size() ? row.steps[at] : Step::ReferenceAlone;
            if (step == Step::Pair) partners[i - 1] = static_cast<std::ptrdiff_t>(column) - 1;
            if (step != Step::ReferenceAlone) --i;
            if (step != Step::OtherAlone) --column;
        }
        return partners;
    }

    const Parts m_reference, m_other;
    const EndsDiffer m_differ;
    std::vector<std::int64_t> m_ends;  // the reference's, ascending
    std::size_t m_near = 0;            // how many of them lie before what was asked for last
    std::vector<Steps> m_steps;
};

}  // namespace

std::size_t OrderAlignment::pairs() const {
    return partners.size() -
           static_cast<std::size_t>(std::count(partners.begin(), partners.end(), kNoPartner));
}

namespace {

// Enough pairs among what both recorded, which is from the first pair to the last?
bool areTheSame(const OrderAlignment& alignment, std::size_t reference) {
    const auto paired = [](std::ptrdiff_t partner) { return partner != kNoPartner; };
    const auto& partners = alignment.partners;
    const auto first = std::find_if(partners.begin(), partners.end(), paired);
    if (first == partners.end()) return false;
    const auto last = std::find_if(partners.rbegin(), partners.rend(), paired);
    const auto shared = std::min(last.base() - first, *last - *first + 1);
    const auto pairs = static_cast<double>(alignment.pairs());
    return pairs >= kUsuallyPaired * static_cast<double>(shared) &&
           pairs * 2 >= static_cast<double>(std::min(partners.size(), reference));
}

}  // namespace

std::optional<OrderAlignment> alignOrders(Parts reference, Parts other) {
    if (reference.empty() || other.empty()) return std::nullopt;
    bool whole = false;
    auto shifted = shiftedAsOne(reference, other, whole);
    if (whole) return shifted;
    if (shifted) shifted->sure = false;
    constexpr std::size_t kManySamples = 1'024;
    const auto differ = differenceOfEnds(reference, other, kManySamples);
    if (!differ) return shifted;
    OrderAlignment alignment{Table(reference, other, *differ).partners(), differ->by, differ->sure};
    const auto fitting = [&](const OrderAlignment& one) {
        std::size_t count = 0;
        for (std::size_t i = 0; i < other.size(); ++i) {
            if (one.partners[i] == kNoPartner) continue;
            const OrderedPart& part = reference[static_cast<std::size_t>(one.partners[i])];
            const auto difference = static_cast<double>(part.endNs - other[i].endNs);
            count += std::abs(difference - one.difference) <= kFar * differ->strays ? 1 : 0;
        }
        return count;
    };
    const bool better = !shifted || fitting(alignment) > fitting(*shifted);
    return better && areTheSame(alignment, reference.size()) ? alignment : shifted;
}

}  // namespace pleat::annotate
