#include "annotate/rules.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <fmt/format.h>
#include <pcre2.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <unordered_map>
#include <utility>

#include "annotate/arguments.h"
#include "base/say.h"
#include "trace/categories.h"

namespace pleat::annotate {
namespace {

using Json = nlohmann::json;
using trace::categories::kDeviceAnnotation;

struct FreeCode {
    void operator()(pcre2_code* code) const { pcre2_code_free(code); }
};
struct FreeContext {
    void operator()(pcre2_match_context* context) const { pcre2_match_context_free(context); }
};
struct FreeMatch {
    void operator()(pcre2_match_data* match) const { pcre2_match_data_free(match); }
};

constexpr std::uint32_t kMostSteps = 200'000;  // of a pattern on one name

// Numbers that a rule may find: in named groups of the pattern, else in the event's arguments.
enum Number : std::size_t { Iteration, Stage, Chunk, Microbatch, Bytes, Peer, Sequence };
constexpr std::array<const char*, 7> kNumbers = {"iteration", "stage", "chunk",   "microbatch",
                                                 "bytes",     "peer",  "sequence"};
using Numbers = std::array<std::int64_t, kNumbers.size()>;

enum class Kind : std::uint8_t { Task, Transfer, Phase, Iteration };

std::string textOf(const Json& object, const char* key) {
    const auto found = object.find(key);
    return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

// -1 for none. What is too large stays too large, and is limited with all other numbers.
std::int32_t narrow(std::int64_t value) {
    constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
    return static_cast<std::int32_t>(std::clamp<std::int64_t>(value, -1, kMost));
}

}  // namespace

struct Rules::Rule {
    std::string pattern, domain;
    std::unique_ptr<pcre2_code, FreeCode> code;
    Kind kind = Kind::Task;
    schedule::ActionKind action = schedule::ActionKind::Forward;
    bool hasAction = false;
    bool counts = false;  // a task may lack its stage and microbatch
    trace::Operation operation = trace::Operation::Other;
    trace::Dimension dimension = trace::Dimension::Other;
    trace::PhaseKind phase = trace::PhaseKind::Optimizer;
    std::map<std::string, std::string> arguments;  // field -> the program's own name of it

    base::Result<void> read(const Json& json);
    base::Result<void> compile();
    [[nodiscard]] base::Result<void> checkGroups() const;
    base::Result<void> readKind(const Json& json);
    // The numbers in the name's groups; nothing where the name does not fit.
    // `tooSlow`: it could not be told within reason.
    [[nodiscard]] std::optional<Numbers> match(std::string_view name, bool& tooSlow) const;
};

Rules::Rules() = default;
Rules::~Rules() = default;
Rules::Rules(Rules&&) noexcept = default;
Rules& Rules::operator=(Rules&&) noexcept = default;

namespace {

base::Error wrong(std::string message) { return {base::ErrorCode::Input, std::move(message)}; }

}  // namespace

base::Result<void> Rules::Rule::compile() {
    int code_ = 0;
    PCRE2_SIZE offset = 0;
    code.reset(pcre2_compile(reinterpret_cast<PCRE2_SPTR>(pattern.data()), pattern.size(),
                             PCRE2_UTF | PCRE2_NEVER_BACKSLASH_C, &code_, &offset, nullptr));
    if (code) return checkGroups();
    std::array<PCRE2_UCHAR, 200> why{};
    pcre2_get_error_message(code_, why.data(), why.size());
    return wrong(fmt::format("the pattern \"{}\" is wrong at character {}: {}", pattern, offset,
                             reinterpret_cast<const char*>(why.data())));
}

// A group of another name would silently say nothing.
base::Result<void> Rules::Rule::checkGroups() const {
    std::uint32_t count = 0, size = 0;
    PCRE2_SPTR table = nullptr;
    pcre2_pattern_info(code.get(), PCRE2_INFO_NAMECOUNT, &count);
    pcre2_pattern_info(code.get(), PCRE2_INFO_NAMEENTRYSIZE, &size);
    pcre2_pattern_info(code.get(), PCRE2_INFO_NAMETABLE, &table);
    for (std::uint32_t i = 0; i < count; ++i) {
        // Two bytes of the group's number stand before its name.
        const std::string_view group = reinterpret_cast<const char*>(table + i * size + 2);
        if (std::find(kNumbers.begin(), kNumbers.end(), group) == kNumbers.end()) {
            return wrong(fmt::format("the pattern's group \"{}\" is none of {}", group,
                                     fmt::join(kNumbers, ", ")));
        }
    }
    return {};
}

base::Result<void> Rules::Rule::readKind(const Json& json) {
    const std::string as = textOf(json, "as");
    const auto actionName = textOf(json, "action");
    if (!actionName.empty()) {
        const auto parsed = schedule::parseActionKind(actionName);
        if (!parsed) return wrong(fmt::format("\"action\": \"{}\" is no action", actionName));
        action = *parsed;
        hasAction = true;
    }
    if (as == "task") {
        kind = Kind::Task;
        if (!hasAction || !schedule::isCompute(action))
            return wrong("a task needs \"action\": F, B, I or W");
    } else if (as == "transfer") {
        kind = Kind::Transfer;
        const auto what = trace::parseOperation(textOf(json, "operation"));
        const auto over = trace::parseDimension(textOf(json, "dimension"));
        if (!what || !over)
            return wrong(
                "a transfer needs \"operation\" (send, all_reduce, ...) and \"dimension\" "
                "(pp, dp, tp, ep, cp, other)");
        operation = *what;
        dimension = *over;
    } else if (as == "phase") {
        kind = Kind::Phase;
        const auto parsed = trace::parsePhaseKind(textOf(json, "phase"));
        if (!parsed) return wrong("a phase needs \"phase\": data or optimizer");
        phase = *parsed;
    } else if (as == "iteration") {
        kind = Kind::Iteration;
    } else {
        return wrong("\"as\" must be task, transfer, phase or iteration");
    }
    return {};
}

base::Result<void> Rules::Rule::read(const Json& json) {
    if (!json.is_object()) return wrong("is no JSON object");
    static constexpr std::array<std::string_view, 10> kKeys = {
        "name",      "domain", "as",        "action",  "operation",
        "dimension", "phase",  "arguments", "comment", "count"};
    for (const auto& [key, value] : json.items()) {
        if (std::find(kKeys.begin(), kKeys.end(), key) == kKeys.end())
            return wrong(fmt::format("has an unknown key \"{}\"", key));
    }
    for (const char* key : {"name", "domain", "as", "action", "operation", "dimension", "phase"}) {
        if (json.contains(key) && !json[key].is_string())
            return wrong(fmt::format("\"{}\" must be a text", key));
    }
    if (json.contains("arguments") && !json["arguments"].is_object())
        return wrong("\"arguments\" must be an object of fields and the program's names for them");
    pattern = textOf(json, "name");
    domain = textOf(json, "domain");
    if (pattern.empty()) return wrong("needs \"name\", a pattern");
    if (const auto found = json.find("count"); found != json.end()) {
        if (!found->is_boolean()) return wrong("\"count\" must be true or false");
        counts = found->get<bool>();
    }
    if (const auto compiled = compile(); !compiled) return compiled;
    if (const auto found = json.find("arguments"); found != json.end() && found->is_object()) {
        for (const auto& [field, own] : found->items()) {
            const bool known = std::find(kNumbers.begin(), kNumbers.end(), field) != kNumbers.end();
            if (!known || !own.is_string())
                return wrong(
                    fmt::format("\"arguments\": \"{}\" is no field, or not given a name", field));
            arguments[field] = own.get<std::string>();
        }
    }
    return readKind(json);
}

base::Result<Rules> Rules::parse(std::string_view json, std::string_view name) {
    const Json whole = Json::parse(json, nullptr, false, true);
    if (whole.is_discarded()) return wrong(fmt::format("{}: is no JSON", name));
    const auto list = whole.is_object() ? whole.find("rules") : whole.end();
    if (!whole.is_object() || list == whole.end() || !list->is_array())
        return wrong(fmt::format("{}: expected {{\"rules\": [...]}}", name));
    Rules rules;
    for (std::size_t i = 0; i < list->size(); ++i) {
        Rule rule;
        if (const auto read = rule.read((*list)[i]); !read)
            return wrong(fmt::format("{}: rule {}: {}", name, i + 1, read.error().message));
        rules.m_rules.push_back(std::move(rule));
    }
    return rules;
}

std::optional<Numbers> Rules::Rule::match(std::string_view name, bool& tooSlow) const {
    const std::unique_ptr<pcre2_match_data, FreeMatch> data(
        pcre2_match_data_create_from_pattern(code.get(), nullptr));
    const std::unique_ptr<pcre2_match_context, FreeContext> context(
        pcre2_match_context_create(nullptr));
    pcre2_set_match_limit(context.get(), kMostSteps);
    const int count = pcre2_match(code.get(), reinterpret_cast<PCRE2_SPTR>(name.data()),
                                  name.size(), 0, 0, data.get(), context.get());
    tooSlow = count == PCRE2_ERROR_MATCHLIMIT;
    if (count < 0) return std::nullopt;
    const PCRE2_SIZE* ends = pcre2_get_ovector_pointer(data.get());
    Numbers numbers;
    numbers.fill(-1);
    for (std::size_t field = 0; field < kNumbers.size(); ++field) {
        const int group = pcre2_substring_number_from_name(
            code.get(), reinterpret_cast<PCRE2_SPTR>(kNumbers[field]));
        if (group <= 0 || group >= count) continue;
        const std::size_t begin = ends[2 * group], end = ends[2 * group + 1];
        if (begin == PCRE2_UNSET) continue;
        const auto [last, error] =
            std::from_chars(name.data() + begin, name.data() + end, numbers[field]);
        if (error == std::errc::result_out_of_range)
            numbers[field] = std::numeric_limits<std::int64_t>::max();
    }
    return numbers;
}

class Rules::Reader {
  public:
    Reader(const std::vector<Rule>& rules, Draft& draft, bool sayAll)
        : m_rules(rules), m_draft(draft), m_sayAll(sayAll), m_used(rules.size(), 0) {}

    void run() {
        for (std::size_t i = 0; i < m_draft.events.eventCount(); ++i) {
            const auto id = trace::EventId::at(i);
            const trace::Event event = m_draft.events.event(id);
            if (event.kind != trace::EventKind::Range || event.flag == trace::EventFlag::OpenAtEnd)
                continue;
            const Meaning& meaning = meaningOf(id, event);
            if (meaning.rule == nullptr) continue;
            ++m_used[static_cast<std::size_t>(meaning.rule - m_rules.data())];
            add(id, event, *meaning.rule, numbersOf(id, meaning));
        }
        for (std::size_t i = 0; m_sayAll && i < m_rules.size(); ++i) {
            if (m_used[i] > 0) continue;
            m_draft.diagnostics.add(
                base::Severity::Info, "rule_unused",
                fmt::format("rule {}: no event's name fits \"{}\"", i + 1, m_rules[i].pattern));
        }
    }

  private:
    struct Meaning {
        const Rule* rule = nullptr;
        Numbers numbers{};
    };

    // The first rule that fits, worked out once per name and domain.
    const Meaning& meaningOf(trace::EventId id, const trace::Event& event) {
        const std::uint64_t key = (std::uint64_t{event.name.index()} << 32) |
                                  (event.domain.valid() ? event.domain.index() + 1 : 0);
        const auto [known, isNew] = m_meanings.try_emplace(key);
        if (!isNew) return known->second;
        for (const Rule& rule : m_rules) {
            if (!rule.domain.empty() && rule.domain != m_draft.events.domain(id)) continue;
            // A profiler writes each annotation again on the device's lanes.
            if (rule.domain.empty() && m_draft.events.domain(id) == kDeviceAnnotation) continue;
            bool tooSlow = false;
            const auto numbers = rule.match(m_draft.events.name(id), tooSlow);
            if (tooSlow && m_sayAll) {
                m_draft.diagnostics.add(
                    base::Severity::DataLoss, "rule_too_slow",
                    fmt::format("rule {}: whether \"{}\" fits \"{}\" could not be told within {} "
                                "steps; taken as no. Write the pattern without nested repeats",
                                &rule - m_rules.data() + 1,
                                base::printable(m_draft.events.name(id), 80), rule.pattern,
                                kMostSteps));
            }
            if (!numbers) continue;
            known->second = {&rule, *numbers};
            break;
        }
        return known->second;
    }

    // What the name does not say may stand in the event's arguments.
    Numbers numbersOf(trace::EventId id, const Meaning& meaning) {
        Numbers numbers = meaning.numbers;
        if (!m_arguments.read(m_draft.events.arguments(id))) return numbers;
        for (std::size_t field = 0; field < kNumbers.size(); ++field) {
            if (numbers[field] >= 0) continue;
            const auto own = meaning.rule->arguments.find(kNumbers[field]);
            numbers[field] =
                m_arguments
                    .integer(own != meaning.rule->arguments.end() ? own->second : kNumbers[field])
                    .value_or(-1);
        }
        return numbers;
    }

    void add(trace::EventId id, const trace::Event& event, const Rule& rule, const Numbers& n) {
        const trace::RankId rank = m_draft.rankOf(event);
        const std::int32_t iteration = narrow(n[Iteration]);
        switch (rule.kind) {
            case Kind::Task:
                return addTask(id, event, rule, n);
            case Kind::Transfer:
                return addTransfer(id, event, rule, n);
            case Kind::Phase:
                m_draft.found.phases.push_back({rank, id, iteration, rule.phase, event.span});
                return;
            case Kind::Iteration:
                m_draft.enclosing.push_back({rank, id, iteration, event.span});
                m_draft.found.iterations.push_back({rank, id, iteration, event.span});
                return;
        }
    }

    void addTask(trace::EventId id, const trace::Event& event, const Rule& rule, const Numbers& n) {
        const auto known = [&](Number number) {
            return n[number] >= 0 || rule.counts;
        };
        if (known(Stage) && known(Microbatch)) {
            m_draft.found.tasks.push({m_draft.rankOf(event), id, narrow(n[Iteration]),
                                      narrow(n[Stage]), narrow(n[Chunk]), narrow(n[Microbatch]),
                                      rule.action, event.span});
            return;
        }
        m_draft.diagnostics.add(
            base::Severity::DataLoss, "rule_incomplete",
            fmt::format("\"{}\" fits rule {}, a task's, but its {} is not known (a named group, an "
                        "argument, or \"count\": true gives it)",
                        base::printable(m_draft.events.name(id), 80), &rule - m_rules.data() + 1,
                        known(Stage) ? "microbatch" : "stage"));
    }

    void addTransfer(trace::EventId id, const trace::Event& event, const Rule& rule,
                     const Numbers& n) {
        trace::Transfer transfer;
        transfer.rank = m_draft.rankOf(event);
        transfer.event = id;
        transfer.iteration = narrow(n[Iteration]);
        transfer.stage = narrow(n[Stage]);
        transfer.chunk = narrow(n[Chunk]);
        transfer.microbatch = narrow(n[Microbatch]);
        transfer.operation = rule.operation;
        transfer.dimension = rule.dimension;
        transfer.bytes = std::max<std::int64_t>(n[Bytes], 0);
        transfer.peer = narrow(n[Peer]);
        transfer.sequence = n[Sequence];
        transfer.span = event.span;
        if (rule.hasAction) transfer.action = rule.action;
        m_draft.found.transfers.push(transfer);
    }

    const std::vector<Rule>& m_rules;
    Draft& m_draft;
    const bool m_sayAll;
    std::vector<std::int64_t> m_used;
    std::unordered_map<std::uint64_t, Meaning> m_meanings;  // by name and domain
    Arguments m_arguments;
};

void Rules::apply(Draft& draft, bool sayAll) const {
    if (!m_rules.empty()) Reader(m_rules, draft, sayAll).run();
}

}  // namespace pleat::annotate
