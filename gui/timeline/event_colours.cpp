#include "timeline/event_colours.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "trace/called_work.h"
#include "trace/categories.h"

namespace pleat::timeline {
namespace {

using trace::EventId;
namespace categories = trace::categories;

constexpr std::uint8_t colourOf(std::size_t hue, std::size_t shade) {
    return static_cast<std::uint8_t>(1 + shade * kHues + hue);
}
// Neighbouring numbers get different hues; after the hues come the shades, then it repeats.
constexpr std::uint8_t numbered(std::int64_t number) {
    if (number < 0) return 0;
    return static_cast<std::uint8_t>(1 + number % static_cast<std::int64_t>(kHues * kShades));
}

struct KindColour {
    std::uint8_t colour;
    std::string_view text;
};
constexpr KindColour kForward{colourOf(0, 0), "forward"}, kBackward{colourOf(1, 0), "backward"},
    kInputBackward{colourOf(1, 1), "input backward"},
    kWeightBackward{colourOf(1, 2), "weight backward"},
    kOverlapped{colourOf(2, 1), "forward and backward as one"},
    kMessage{colourOf(2, 0), "send, receive"}, kCollective{colourOf(3, 0), "collective"},
    kOptimizer{colourOf(3, 2), "optimizer"}, kData{colourOf(6, 0), "data loading"},
    kKernel{colourOf(5, 0), "kernel"}, kCopy{colourOf(0, 2), "copy, set"},
    kCall{colourOf(4, 2), "device runtime call"}, kOther{0, "other"};
constexpr std::array kKinds = {kForward, kBackward,   kInputBackward, kWeightBackward, kOverlapped,
                               kMessage, kCollective, kOptimizer,     kData,           kKernel,
                               kCopy,    kCall,       kOther};

KindColour kindOf(schedule::ActionKind kind) {
    using schedule::ActionKind;
    switch (kind) {
        case ActionKind::Forward:
            return kForward;
        case ActionKind::FullBackward:
            return kBackward;
        case ActionKind::InputBackward:
            return kInputBackward;
        case ActionKind::WeightBackward:
            return kWeightBackward;
        case ActionKind::OverlapForwardBackward:
            return kOverlapped;
        case ActionKind::SendForward:
        case ActionKind::ReceiveForward:
        case ActionKind::SendBackward:
        case ActionKind::ReceiveBackward:
            return kMessage;
        case ActionKind::Unshard:
        case ActionKind::Reshard:
        case ActionKind::ReduceGradient:
            return kCollective;
    }
    return kOther;
}

std::uint8_t taskColour(ColourMode mode, const trace::Task& task) {
    switch (mode) {
        case ColourMode::Kind:
            return kindOf(task.kind).colour;
        case ColourMode::Microbatch:
            return numbered(task.microbatch);
        case ColourMode::Stage:
            return numbered(task.stage);
        default:
            return 0;
    }
}

std::uint8_t transferColour(ColourMode mode, const trace::Transfer& transfer) {
    switch (mode) {
        case ColourMode::Kind:
            return (trace::isMessage(transfer.operation) ? kMessage : kCollective).colour;
        case ColourMode::Microbatch:
            return numbered(transfer.microbatch);
        case ColourMode::Stage:
            return numbered(transfer.stage);
        case ColourMode::Dimension:
            return numbered(static_cast<std::int64_t>(transfer.dimension));
        default:
            return 0;
    }
}

// FNV-1a: the same name has the same colour in every trace.
std::uint8_t nameColour(std::string_view name) {
    std::uint64_t hash = 0xcbf29ce484222325U;
    for (const char character : name)
        hash = (hash ^ static_cast<unsigned char>(character)) * 0x100000001b3U;
    return static_cast<std::uint8_t>(1 + (hash >> 32) % (kHues * kShades));
}

std::uint8_t domainColour(std::string_view domain) {
    if (domain == categories::kKernel || domain == categories::kGraph) return kKernel.colour;
    if (domain == categories::kCopy || domain == categories::kSet) return kCopy.colour;
    if (domain == categories::kRuntimeCall || domain == categories::kDriverCall)
        return kCall.colour;
    return 0;
}

// Fills by string: each is looked at once, then events look their string up.
void fillFromStrings(const trace::Trace& trace, ColourMode mode, WorkerPool& pool,
                     std::vector<std::uint8_t>& colours) {
    const trace::EventColumns& columns = trace.columns();
    const bool byName = mode == ColourMode::Name;
    if (!byName && mode != ColourMode::Kind) return;
    std::vector<std::uint8_t> ofString(columns.strings.size());
    for (std::size_t i = 0; i < ofString.size(); ++i) {
        const std::string_view text = columns.strings.text(base::StringId::at(i));
        ofString[i] = byName ? nameColour(text) : domainColour(text);
    }
    const std::vector<base::StringId>& ids = byName ? columns.name : columns.domain;
    constexpr std::size_t kPiece = 1 << 18;
    pool.forEach((colours.size() + kPiece - 1) / kPiece, [&](std::size_t piece) {
        const std::size_t last = std::min((piece + 1) * kPiece, colours.size());
        for (std::size_t i = piece * kPiece; i < last; ++i)
            if (ids[i].valid()) colours[i] = ofString[ids[i].index()];
    });
}

// Work has the colour of the task that called it: of the one that began last, where tasks nest.
void fillLaunched(const trace::Trace& trace, std::vector<std::uint8_t>& colours) {
    std::vector<const trace::Task*> onHost;
    for (const trace::Task& task : trace.annotations().tasks) {
        if (!task.event.valid() || colours[task.event.index()] == 0) continue;
        const trace::Event event = trace.event(task.event);
        if (trace.lanes()[event.lane].kind == trace::LaneKind::HostThread) onHost.push_back(&task);
    }
    if (onHost.empty()) return;
    std::stable_sort(onHost.begin(), onHost.end(), [&](const trace::Task* a, const trace::Task* b) {
        return trace.event(a->event).span.begin < trace.event(b->event).span.begin;
    });
    const trace::CalledWorkIndex called(trace);
    for (const trace::Task* task : onHost) {
        const trace::Event event = trace.event(task->event);
        for (const trace::CalledWork& one :
             called.within(trace.lanes()[event.lane].rank, event.span))
            colours[one.work.index()] = colours[task->event.index()];
    }
}

void fillFromAnnotations(const trace::Trace& trace, ColourMode mode,
                         std::vector<std::uint8_t>& colours) {
    const trace::Annotations& annotations = trace.annotations();
    const auto set = [&](EventId event, std::uint8_t colour) {
        if (event.valid()) colours[event.index()] = colour;
    };
    for (const trace::Phase& phase : annotations.phases) {
        const KindColour kind = phase.kind == trace::PhaseKind::Optimizer ? kOptimizer : kData;
        if (mode == ColourMode::Kind) set(phase.event, kind.colour);
    }
    for (const trace::Task& task : annotations.tasks) set(task.event, taskColour(mode, task));
    fillLaunched(trace, colours);
    for (const trace::Transfer& transfer : annotations.transfers)
        set(transfer.event, transferColour(mode, transfer));
}

std::vector<LegendEntry> kindLegend(const std::vector<std::uint8_t>& colours) {
    std::array<bool, kColours> used{};
    for (const std::uint8_t colour : colours) used[colour] = true;
    std::vector<LegendEntry> legend = allKinds();
    std::erase_if(legend, [&](const LegendEntry& kind) { return !used[kind.colour]; });
    return legend;
}

std::vector<LegendEntry> numberLegend(const trace::Annotations& annotations, ColourMode mode) {
    std::set<std::int32_t> numbers;
    const auto note = [&](std::int32_t microbatch, std::int32_t stage) {
        const std::int32_t number = mode == ColourMode::Stage ? stage : microbatch;
        if (number >= 0) numbers.insert(number);
    };
    for (const trace::Task& task : annotations.tasks) note(task.microbatch, task.stage);
    for (const trace::Transfer& part : annotations.transfers) note(part.microbatch, part.stage);
    std::vector<LegendEntry> legend;
    for (const std::int32_t number : numbers)
        legend.push_back({numbered(number), fmt::format("{} {}", toString(mode), number)});
    return legend;
}

std::vector<LegendEntry> dimensionLegend(const trace::Annotations& annotations) {
    std::set<trace::Dimension> dimensions;
    for (const trace::Transfer& part : annotations.transfers) dimensions.insert(part.dimension);
    std::vector<LegendEntry> legend;
    for (const trace::Dimension dimension : dimensions)
        legend.push_back({numbered(static_cast<std::int64_t>(dimension)),
                          std::string(trace::toString(dimension))});
    return legend;
}

}  // namespace

std::vector<LegendEntry> allKinds() {
    std::vector<LegendEntry> kinds;
    for (const KindColour& kind : kKinds) kinds.push_back({kind.colour, std::string(kind.text)});
    return kinds;
}

std::string_view toString(ColourMode mode) {
    switch (mode) {
        case ColourMode::Kind:
            return "kind";
        case ColourMode::Microbatch:
            return "microbatch";
        case ColourMode::Stage:
            return "stage";
        case ColourMode::Dimension:
            return "dimension";
        case ColourMode::Name:
            return "name";
    }
    return "";
}

EventColours::EventColours(const trace::Trace& trace, ColourMode mode, WorkerPool& pool)
    : m_mode(mode), m_colours(trace.eventCount(), 0) {
    fillFromStrings(trace, mode, pool, m_colours);
    if (mode == ColourMode::Name) return;
    fillFromAnnotations(trace, mode, m_colours);
    if (mode == ColourMode::Kind) {
        m_legend = kindLegend(m_colours);
    } else if (mode == ColourMode::Dimension) {
        m_legend = dimensionLegend(trace.annotations());
    } else {
        m_legend = numberLegend(trace.annotations(), mode);
    }
}

}  // namespace pleat::timeline
