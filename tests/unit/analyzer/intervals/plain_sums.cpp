#include "unit/analyzer/intervals/plain_sums.h"

#include <algorithm>
#include <limits>

namespace pleat::testing {
namespace {

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kAlways = std::numeric_limits<std::int64_t>::min();

// Sorted and merged.
PlainSpans merged(PlainSpans spans) {
    std::sort(spans.begin(), spans.end(),
              [](const PlainSpan& a, const PlainSpan& b) { return a.begin < b.begin; });
    PlainSpans result;
    for (const PlainSpan& span : spans) {
        if (span.end <= span.begin) continue;
        if (!result.empty() && span.begin <= result.back().end)
            result.back().end = std::max(result.back().end, span.end);
        else
            result.push_back(span);
    }
    return result;
}

std::int64_t lengthOf(const PlainSpans& spans) {
    std::int64_t sum = 0;
    for (const PlainSpan& span : merged(spans)) sum += span.end - span.begin;
    return sum;
}

PlainSpans within(const PlainSpans& spans, PlainSpan window) {
    PlainSpans result;
    for (const PlainSpan& span : spans) {
        const PlainSpan part{std::max(span.begin, window.begin), std::min(span.end, window.end)};
        if (part.begin < part.end) result.push_back(part);
    }
    return result;
}

PlainSpans together(PlainSpans a, const PlainSpans& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
}

std::int64_t trainingStream(const PlainRank& rank) {
    std::map<std::int64_t, std::int64_t> compute;
    for (const PlainWork& work : rank.work) {
        if (work.kind == PlainKind::Compute && work.called >= 0)
            compute[work.stream] += work.span.end - work.span.begin;
    }
    std::int64_t best = -1, most = -1;
    for (const auto& [stream, time] : compute) {
        if (time > most) {
            most = time;
            best = stream;
        }
    }
    return best;
}

// The iterations of one rank, by the numbers of its ranges.
std::map<std::int32_t, PlainSpan> ownIterations(const PlainRank& rank) {
    const std::int64_t stream = trainingStream(rank);
    std::map<std::int32_t, PlainSpan> result;
    for (auto step = rank.steps.begin(); step != rank.steps.end(); ++step) {
        const auto next = std::next(step);
        const std::int64_t from = step->second.begin;
        const std::int64_t to = next == rank.steps.end() ? step->second.end : next->second.begin;
        std::int64_t before = kAlways, first = kNever, end = step->second.end;
        std::int64_t near = kAlways;  // call of the work before on the stream
        for (const PlainWork& work : rank.work) {
            if (work.stream == stream && work.called >= 0) near = work.called;
            const std::int64_t called = work.called >= 0        ? work.called
                                        : work.stream == stream ? near
                                                                : kAlways;
            const bool here = called >= from && called < to;
            if (work.stream == stream && called < from) before = std::max(before, work.span.end);
            if (work.stream == stream && here) first = std::min(first, work.span.begin);
            if (here && work.kind != PlainKind::Copy) end = std::max(end, work.span.end);
        }
        result[step->first] = {std::min(std::max(from, before), first), end};
    }
    return result;
}

}  // namespace

std::vector<PlainSpan> iterationsOf(const std::vector<PlainRank>& ranks) {
    std::map<std::int32_t, PlainSpan> all;
    PlainSpan whole{kNever, kAlways};
    for (const PlainRank& rank : ranks) {
        for (const PlainWork& work : rank.work)
            whole = {std::min(whole.begin, work.span.begin), std::max(whole.end, work.span.end)};
        for (const auto& [step, span] : ownIterations(rank)) {
            const auto [known, isNew] = all.try_emplace(step, span);
            if (!isNew)
                known->second = {std::min(known->second.begin, span.begin),
                                 std::max(known->second.end, span.end)};
        }
    }
    if (whole.end < whole.begin) return {};
    if (all.empty()) return {whole};
    std::vector<PlainSpan> iterations;
    for (const auto& [step, span] : all) {
        if (!iterations.empty()) iterations.back().end = span.begin;
        iterations.push_back(span);
    }
    return iterations;
}

PlainSums sumsOf(const std::vector<PlainRank>& ranks, const std::vector<PlainSpan>& iterations) {
    PlainSums sums;
    for (const PlainSpan& window : iterations)
        sums.iteration += static_cast<double>(window.end - window.begin);
    for (const PlainRank& rank : ranks) {
        PlainSpans compute, moving, copies, waiting;
        for (const PlainWork& work : rank.work) {
            const std::int64_t ready = work.ready < 0
                                           ? work.span.begin
                                           : std::clamp(work.ready, work.span.begin, work.span.end);
            if (work.kind == PlainKind::Compute) compute.push_back(work.span);
            if (work.kind == PlainKind::Copy) copies.push_back(work.span);
            if (work.kind != PlainKind::Communication) continue;
            moving.push_back({ready, work.span.end});
            if (!work.receives) waiting.push_back({work.span.begin, ready});
        }
        for (PlainSpans* spans : {&compute, &moving, &copies, &waiting}) *spans = merged(*spans);
        for (const PlainSpan& window : iterations) {
            const PlainSpans c = within(compute, window), m = within(moving, window);
            const PlainSpans busy = together(together(c, m), within(copies, window));
            const std::int64_t waited =
                lengthOf(together(busy, within(waiting, window))) - lengthOf(busy);
            sums.compute += static_cast<double>(lengthOf(c));
            sums.communication += static_cast<double>(lengthOf(m) + waited);
            sums.exposed += static_cast<double>(lengthOf(together(c, m)) - lengthOf(c) + waited);
        }
    }
    const auto count = static_cast<double>(std::max<std::size_t>(1, iterations.size()));
    const double places = count * static_cast<double>(std::max<std::size_t>(1, ranks.size()));
    return {sums.iteration / count, sums.compute / places, sums.communication / places,
            sums.exposed / places};
}

}  // namespace pleat::testing
