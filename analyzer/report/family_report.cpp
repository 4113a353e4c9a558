#include "report/family_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

namespace pleat::report {
namespace {

using Json = nlohmann::ordered_json;

Json textOrNull(std::string_view text) { return text.empty() ? Json(nullptr) : Json(text); }

void addLine(std::string& text, std::string_view title, std::string_view value) {
    if (!value.empty()) text += fmt::format("  {:<18}{}\n", title, value);
}

std::string parametersOf(const schedule::Family& family) {
    const std::string chunks = family.chunks > 0 ? fmt::format("v = {}", family.chunks) : "v >= 1";
    return fmt::format("p, M, {}{}", chunks, family.takesGroup ? ", g" : "");
}

}  // namespace

std::string renderText(std::span<const schedule::Family> families) {
    std::string text =
        "p ranks, v chunks per rank, M microbatches, g microbatches per group, r a rank; t_f, t_b, "
        "t_w the time of one\nmicrobatch over all chunks of a rank; peak in activations of one "
        "microbatch over all chunks of a rank.\n";
    for (const schedule::Family& family : families) {
        text += fmt::format("\n{}\n", family.name);
        addLine(text, "aliases", fmt::format("{}", fmt::join(family.aliases, ", ")));
        addLine(text, "parameters", parametersOf(family));
        addLine(text, "needs", family.constraint);
        addLine(text, "order", family.order);
        addLine(text, "placement", family.placement);
        addLine(text, "weight copies", fmt::format("{}", family.weightCopies));
        addLine(text, "activations", family.splitsBackward ? "from F to W" : "from F to B");
        addLine(text, "peak activations", family.forms.peak);
        if (!family.forms.idle.empty()) {
            addLine(text, "idle per rank",
                    fmt::format("{} over {}", family.forms.idle,
                                family.forms.window == schedule::IdleWindow::Common
                                    ? "the common window"
                                    : "the rank's own span"));
        }
        addLine(text, "source", family.source);
    }
    return text;
}

std::string renderJson(std::span<const schedule::Family> families) {
    Json json{{"schema", "pleat-schedule-families/1"}, {"families", Json::array()}};
    for (const schedule::Family& family : families) {
        json["families"].push_back(
            {{"name", family.name},
             {"aliases", family.aliases},
             {"chunks", family.chunks > 0 ? Json(family.chunks) : Json(nullptr)},
             {"takes_group", family.takesGroup},
             {"constraint", textOrNull(family.constraint)},
             {"order", family.order},
             {"placement", family.placement},
             {"weight_copies", family.weightCopies},
             {"splits_backward", family.splitsBackward},
             {"peak_activations", textOrNull(family.forms.peak)},
             {"idle_per_rank", textOrNull(family.forms.idle)},
             {"idle_window",
              family.forms.idle.empty() ? Json(nullptr) : Json(toString(family.forms.window))},
             {"source", family.source}});
    }
    return json.dump(2) + "\n";
}

}  // namespace pleat::report
