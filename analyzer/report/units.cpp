#include "report/units.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/say.h"

namespace pleat::report {

std::string milliseconds(base::Duration duration) {
    const std::int64_t magnitude = duration.ns < 0 ? -duration.ns : duration.ns;
    const std::int64_t micros = (magnitude + 500) / 1000;
    return fmt::format("{}{}.{:03}", duration.ns < 0 && micros > 0 ? "-" : "", micros / 1000,
                       micros % 1000);
}

std::string percent(double fraction) { return fmt::format("{:.1f} %", fraction * 100); }

std::vector<std::int32_t> tenthsOfPercent(std::span<const base::Duration> parts) {
    std::vector<std::int32_t> tenths(parts.size(), 0);
    long double whole = 0;
    for (const base::Duration part : parts) whole += static_cast<long double>(part.ns);
    if (whole <= 0) return tenths;
    std::vector<long double> remainders;
    std::int32_t given = 0;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        const long double exact = static_cast<long double>(parts[i].ns) * 1000 / whole;
        tenths[i] = static_cast<std::int32_t>(exact);
        remainders.push_back(exact - static_cast<long double>(tenths[i]));
        given += tenths[i];
    }
    std::vector<std::size_t> order(parts.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return remainders[a] > remainders[b]; });
    for (std::size_t i = 0; given < 1000; ++i, ++given) ++tenths[order[i % order.size()]];
    return tenths;
}

std::string wrapped(std::string_view prefix, std::string_view text) {
    std::string result(prefix);
    const std::size_t room = kTextWidth - std::min(prefix.size(), kTextWidth / 2);
    while (text.size() > room) {
        std::size_t cut = text.rfind(' ', room);
        if (cut == std::string_view::npos || cut == 0) cut = text.find(' ');
        if (cut == std::string_view::npos) break;
        result += fmt::format("{}\n{}", text.substr(0, cut), std::string(prefix.size(), ' '));
        text.remove_prefix(cut + 1);
    }
    return result.append(text).append("\n");
}

std::string renderDiagnostics(const base::Diagnostics& diagnostics, std::string_view of) {
    if (diagnostics.empty()) return {};
    std::vector<base::Diagnostic> entries(diagnostics.entries().begin(),
                                          diagnostics.entries().end());
    std::stable_sort(entries.begin(), entries.end(),
                     [](const auto& a, const auto& b) { return a.severity > b.severity; });
    std::string text = fmt::format(
        "\nNotes on {} (error: figures may be wrong; loss: something missing; info: repaired or "
        "guessed)\n",
        of);
    for (const base::Diagnostic& entry : entries) {
        const std::string_view word = entry.severity == base::Severity::Error      ? "error"
                                      : entry.severity == base::Severity::DataLoss ? "loss"
                                                                                   : "info";
        text += wrapped(fmt::format("  {:<8}", word),
                        fmt::format("{} ({}x): {}", entry.code, entry.count,
                                    base::printable(entry.example, 600)));
    }
    return text;
}

}  // namespace pleat::report
