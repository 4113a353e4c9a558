#include "e2e/known_run/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>

#include "schedule/generators.h"
#include "schedule/lower.h"

namespace pleat::test::known {
namespace {

constexpr double kNsPerMs = 1e6;

struct EngineName {
    std::string_view name;
    Engine engine;
};
constexpr EngineName kEngines[] = {
    {"ahead", Engine::Ahead},     {"waitall", Engine::WaitAll},   {"inline", Engine::Inline},
    {"literal", Engine::Literal}, {"blocking", Engine::Blocking}, {"stream", Engine::Stream},
    {"batched", Engine::Batched}, {"nested", Engine::Nested},     {"posted", Engine::Posted},
};

base::Error usage(const std::string& what) { return {base::ErrorCode::Usage, what}; }

std::optional<double> number(const std::string& text) {
    char* end = nullptr;
    const double value = std::strtod(text.c_str(), &end);
    if (text.empty() || *end != '\0') return std::nullopt;
    return value;
}

std::vector<std::string> split(const std::string& text, char separator) {
    std::vector<std::string> parts(1);
    for (const char c : text) {
        if (c == separator) {
            parts.emplace_back();
        } else {
            parts.back() += c;
        }
    }
    return parts;
}

// "rank:1", "link:0-1" or an operation's name.
bool addCondition(Selector& selector, const std::string& text) {
    const std::size_t colon = text.find(':');
    if (colon == std::string::npos) {
        selector.operation = text;
        return true;
    }
    const std::string key = text.substr(0, colon);
    const auto values = split(text.substr(colon + 1), '-');
    std::vector<std::int32_t> numbers;
    for (const std::string& value : values) {
        const auto parsed = number(value);
        if (!parsed) return false;
        numbers.push_back(static_cast<std::int32_t>(*parsed));
    }
    if (key == "link") {
        if (numbers.size() != 2) return false;
        selector.link = std::minmax(numbers[0], numbers[1]);
        return true;
    }
    const std::map<std::string, std::optional<std::int32_t> Selector::*> conditions = {
        {"rank", &Selector::rank},
        {"stage", &Selector::stage},
        {"dp", &Selector::dp},
        {"microbatch", &Selector::microbatch},
        {"iteration", &Selector::iteration}};
    const auto found = conditions.find(key);
    if (found == conditions.end() || numbers.size() != 1) return false;
    selector.*found->second = numbers[0];
    return true;
}

// "rank:1,microbatch:2=1.5"
base::Result<Injection> parseInjection(const std::string& option, const std::string& text) {
    const std::size_t equals = text.rfind('=');
    const auto value = equals == std::string::npos ? std::nullopt : number(text.substr(equals + 1));
    Injection injection;
    bool ok = value.has_value();
    if (ok) {
        injection.value = *value;
        for (const std::string& condition : split(text.substr(0, equals), ','))
            ok = ok && addCondition(injection.where, condition);
    }
    if (!ok) return usage(fmt::format("{} {}: not WHERE=NUMBER", option, text));
    return injection;
}

// Repeatable jitter: the same work has the same length in every run.
double spread(const Work& work) {
    std::uint64_t hash = 0x9e3779b97f4a7c15U;
    const auto mix = [&](std::int64_t value) {
        hash ^=
            static_cast<std::uint64_t>(value) + 0x9e3779b97f4a7c15U + (hash << 6U) + (hash >> 2U);
        hash *= 0xbf58476d1ce4e5b9U;
        hash ^= hash >> 31U;
    };
    for (const std::int32_t part : {work.rank, work.stage, work.microbatch, work.iteration})
        mix(part);
    mix(work.operation.empty() ? 0 : work.operation[0]);
    return static_cast<double>(hash >> 11U) / 0x1p53 * 2 - 1;
}

class Parser {
  public:
    explicit Parser(const std::vector<std::string>& arguments) : m_arguments(arguments) {}

    base::Result<Plan> parse() {
        for (std::size_t i = 0; i < m_arguments.size(); i += 2) {
            if (i + 1 == m_arguments.size()) return usage(m_arguments[i] + ": value missing");
            if (auto taken = take(m_arguments[i], m_arguments[i + 1]); !taken) return taken.error();
        }
        auto made = schedule::makeSchedule(m_schedule, m_generator);
        if (!made) return made.error();
        auto lowered = schedule::lower(*made);
        if (!lowered) return lowered.error();
        m_plan.lowered = std::move(*lowered);
        return m_plan;
    }

  private:
    base::Result<void> take(const std::string& option, const std::string& text) {
        if (option == "--schedule") return m_schedule = text, base::Result<void>{};
        if (option == "--engine") return takeEngine(text);
        if (option == "--slow") return add(m_plan.slow, option, text);
        if (option == "--pause") return add(m_plan.pause, option, text);
        if (option == "--contend") return add(m_plan.contend, option, text);
        const auto value = number(text);
        if (!value) return usage(fmt::format("{} {}: not a number", option, text));
        return takeNumber(option, *value);
    }

    base::Result<void> takeEngine(const std::string& text) {
        const auto engine = parseEngine(text);
        if (!engine) return usage(fmt::format("--engine {}: no such engine", text));
        m_plan.engine = *engine;
        return {};
    }

    static base::Result<void> add(std::vector<Injection>& to, const std::string& option,
                                  const std::string& text) {
        auto injection = parseInjection(option, text);
        if (!injection) return injection.error();
        to.push_back(std::move(*injection));
        return {};
    }

    base::Result<void> takeNumber(const std::string& option, double value) {
        const std::map<std::string, std::int32_t*> counts = {
            {"--dp", &m_plan.dp},
            {"--iterations", &m_plan.iterations},
            {"--pp", &m_generator.ranks},
            {"--chunks", &m_generator.chunks},
            {"--microbatches", &m_generator.microbatches}};
        const std::map<std::string, std::int64_t*> times = {
            {"--forward", &m_plan.forward}, {"--backward", &m_plan.backward},
            {"--data", &m_plan.data},       {"--optimizer", &m_plan.optimizer},
            {"--sync", &m_plan.sync},       {"--latency", &m_plan.latency}};
        if (const auto count = counts.find(option); count != counts.end()) {
            *count->second = static_cast<std::int32_t>(value);
        } else if (const auto time = times.find(option); time != times.end()) {
            *time->second = std::llround(value * kNsPerMs);
        } else if (option == "--bytes") {
            m_plan.bytes = std::llround(value);
        } else if (option == "--bandwidth") {
            m_plan.bytesPerSecond = value;
        } else if (option == "--jitter") {
            m_plan.jitter = value;
        } else if (option == "--real-time") {
            m_plan.realTime = value != 0;
        } else {
            return usage(option + ": no such option");
        }
        return {};
    }

    const std::vector<std::string>& m_arguments;
    std::string m_schedule = "1f1b";
    schedule::GeneratorOptions m_generator{2, 4, 1, 0};
    Plan m_plan;
};

}  // namespace

std::optional<Engine> parseEngine(std::string_view text) {
    for (const EngineName& known : kEngines) {
        if (known.name == text) return known.engine;
    }
    return std::nullopt;
}

bool covers(const Selector& selector, const Work& work) {
    const bool isTask = work.operation == "F" || work.operation == "B";
    if (!selector.operation.empty()) {
        if (selector.operation != work.operation) return false;
    } else if (selector.link ? work.operation != "send" : !isTask) {
        return false;
    }
    const auto fits = [](const std::optional<std::int32_t>& wanted, std::int32_t is) {
        return !wanted || *wanted == is;
    };
    if (selector.link && *selector.link != std::pair(std::min(work.rank, work.peer),
                                                     std::max(work.rank, work.peer))) {
        return false;
    }
    return fits(selector.rank, work.rank) && fits(selector.stage, work.stage) &&
           fits(selector.dp, work.dp) && fits(selector.microbatch, work.microbatch) &&
           fits(selector.iteration, work.iteration);
}

std::int64_t Plan::durationOf(const Work& work) const {
    double length = 0;
    const bool isTask = work.operation == "F" || work.operation == "B";
    if (isTask) {
        // A rank's share is cut into its chunks.
        const auto held = static_cast<double>(lowered.placement.stages()) / pp();
        length = static_cast<double>(work.operation == "F" ? forward : backward) / held;
    } else if (work.operation == "data") {
        length = static_cast<double>(data);
    } else if (work.operation == "optimizer") {
        length = static_cast<double>(optimizer);
    } else if (work.operation == "sync") {
        length = static_cast<double>(sync);
    } else if (work.operation == "send") {
        length = static_cast<double>(latency);
        if (bytesPerSecond > 0) length += static_cast<double>(bytes) / bytesPerSecond * 1e9;
    }
    for (const Injection& injection : slow) {
        if (covers(injection.where, work)) length *= injection.value;
    }
    if (isTask && jitter > 0) length *= 1 + jitter * spread(work);
    return std::llround(length);
}

std::int64_t Plan::pauseBefore(const Work& work) const {
    double length = 0;
    for (const Injection& injection : pause) {
        if (covers(injection.where, work)) length += injection.value * kNsPerMs;
    }
    return std::llround(length);
}

std::int64_t Plan::endOf(const Work& work, std::int64_t start) const {
    std::int64_t left = durationOf(work);
    double taken = 0;
    for (const Injection& injection : contend) {
        if (covers(injection.where, work)) taken = injection.value;
    }
    if (taken <= 0) return start + left;
    // The other program has the core for the first part of every 3.7 ms.
    constexpr std::int64_t kSlice = 3'700'000;
    const std::int64_t away = std::llround(taken * kSlice);
    std::int64_t now = start;
    while (left > 0) {
        const std::int64_t within = now % kSlice;
        if (within < away) {
            now += away - within;
            continue;
        }
        const std::int64_t run = std::min(left, kSlice - within);
        now += run;
        left -= run;
    }
    return now;
}

base::Result<Plan> parsePlan(const std::vector<std::string>& arguments) {
    return Parser(arguments).parse();
}

}  // namespace pleat::test::known
