#include "report/device_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/say.h"
#include "report/units.h"

namespace pleat::report {
namespace {

using analysis::DeviceWork;

constexpr std::size_t kMostKernels = 10;
constexpr std::size_t kNameWidth = 52;

double microseconds(base::Duration time) { return static_cast<double>(time.ns) / 1'000; }

std::string gigabytes(const std::optional<double>& perSecond) {
    return perSecond ? fmt::format("{:.2f} GB/s", *perSecond / 1e9) : std::string("not known");
}

std::string renderKernels(const std::vector<analysis::KernelFigures>& kernels) {
    base::Duration all;
    for (const analysis::KernelFigures& kernel : kernels) all += kernel.total;
    std::string text = fmt::format(
        "\nDevice work by name (all ranks, the whole trace)\n{:>7} {:>9} {:>11} {:>9} {:>9}  "
        "name\n",
        "share", "count", "total ms", "mean us", "most us");
    for (std::size_t i = 0; i < std::min(kernels.size(), kMostKernels); ++i) {
        const analysis::KernelFigures& kernel = kernels[i];
        text += fmt::format(
            "{:>7} {:>9} {:>11} {:>9.1f} {:>9.1f}  {}\n",
            percent(all.ns > 0 ? static_cast<double>(kernel.total.ns) / static_cast<double>(all.ns)
                               : 0),
            kernel.count, milliseconds(kernel.total),
            microseconds(kernel.total) / static_cast<double>(kernel.count),
            microseconds(kernel.longest), base::printable(kernel.name, kNameWidth));
    }
    if (kernels.size() > kMostKernels)
        text += fmt::format("  and {} other names\n", kernels.size() - kMostKernels);
    return text;
}

std::string renderLaunches(const analysis::LaunchFigures& launches) {
    if (launches.count == 0) return {};
    return wrapped(
        "Launches: ",
        fmt::format(
            "{} with a recorded call, {} shorter than 10 us; call to start {:.1f} us "
            "median, {:.1f} us p90",
            launches.count,
            percent(static_cast<double>(launches.shortOnes) / static_cast<double>(launches.count)),
            microseconds(launches.medianDelay), microseconds(launches.p90Delay)));
}

// A character for a queue's depth, on a scale of powers of four.
char depthSign(double depth) {
    constexpr std::string_view kSigns = " .:-=+*#%@";
    std::size_t sign = 0;
    for (double step = 0.05; sign + 1 < kSigns.size() && depth > step; step *= 4) ++sign;
    return kSigns[sign];
}

std::string renderQueues(const std::vector<analysis::DeviceQueue>& queues) {
    constexpr std::size_t kMostQueues = 16;
    std::string text =
        "Devices, first to last work: what they waited for when idle, and how many launched "
        "pieces were queued\n";
    const bool withDevice = std::any_of(queues.begin(), queues.end(),
                                        [](const auto& queue) { return !queue.device.empty(); });
    text += fmt::format(
        "rank{}    busy   host called late  between work    other  deepest  mean   empty  depth "
        "over time, \" .:-=+*#%@\"\n",
        withDevice ? " device  " : "");
    for (std::size_t i = 0; i < std::min(queues.size(), kMostQueues); ++i) {
        const analysis::DeviceQueue& queue = queues[i];
        const analysis::DeviceIdle& idle = queue.idle;
        const auto whole =
            static_cast<double>((idle.busy + idle.hostWait + idle.betweenWork + idle.other).ns);
        const auto share = [&](base::Duration part) {
            return percent(whole > 0 ? static_cast<double>(part.ns) / whole : 0);
        };
        text += fmt::format("{:>4}", queue.rank);
        if (withDevice) text += fmt::format(" {:<8}", base::printable(queue.device));
        text += fmt::format(" {:>7} {:>18} {:>13} {:>8}", share(idle.busy), share(idle.hostWait),
                            share(idle.betweenWork), share(idle.other));
        if (queue.depthOverTime.empty()) {
            text += "  no calls recorded\n";
            continue;
        }
        text += fmt::format(" {:>8} {:>5.1f} {:>7}  |", queue.deepest, queue.meanDepth,
                            percent(queue.emptyFraction));
        for (const double depth : queue.depthOverTime) text += depthSign(depth);
        text += "|\n";
    }
    if (queues.size() > kMostQueues)
        text += fmt::format("  and {} more ranks\n", queues.size() - kMostQueues);
    return text;
}

std::string renderRates(const analysis::DeviceCatalogue& catalogue) {
    std::string text;
    for (const analysis::CopyFigures& copy : catalogue.copies) {
        text += fmt::format("  {:<34} {:>9} times {:>11} ms {:>14} bytes  {}\n",
                            base::printable(copy.name, 34), copy.count, milliseconds(copy.total),
                            copy.bytes, gigabytes(copy.bytesPerSecond));
    }
    for (const analysis::CommunicatorFigures& group : catalogue.communicators) {
        if (!group.algorithmBandwidth) continue;
        text += fmt::format("  {:<34} {:>9} times {:>11} ms {:>14} bytes  {} algorithm, {} bus\n",
                            fmt::format("{} {} of {}", toString(group.dimension),
                                        toString(group.operation), group.members),
                            group.count, milliseconds(group.moving), group.bytes,
                            gigabytes(group.algorithmBandwidth), gigabytes(group.busBandwidth));
    }
    return text.empty() ? text : "Copies and communication, while data moves\n" + text;
}

}  // namespace

std::string renderText(const analysis::DeviceCatalogue& catalogue) {
    return renderKernels(catalogue.kernels) + renderLaunches(catalogue.launches) +
           renderQueues(catalogue.queues) + renderRates(catalogue);
}

}  // namespace pleat::report
