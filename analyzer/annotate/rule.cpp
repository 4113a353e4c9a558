#include "annotate/rule.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <fmt/format.h>
#include <pcre2.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <span>
#include <utility>

#include "base/nearest_name.h"

namespace pleat::annotate {
namespace {

using Json = nlohmann::json;

struct FreeContext {
    void operator()(pcre2_match_context* context) const { pcre2_match_context_free(context); }
};
struct FreeMatch {
    void operator()(pcre2_match_data* match) const { pcre2_match_data_free(match); }
};

constexpr std::array<std::string_view, 15> kKeys = {
    "name",    "domain", "as",    "action", "operation", "dimension",  "phase",    "arguments",
    "comment", "count",  "needs", "mark",   "rank_from", "stage_from", "placement"};
// Keys whose value is a text.
constexpr std::array<const char*, 9> kTexts = {
    "name", "domain", "as", "dimension", "phase", "rank_from", "stage_from", "placement", "mark"};

base::Error wrong(std::string message) { return {base::ErrorCode::Input, std::move(message)}; }

// ": did you mean X?", or the whole list where nothing is near.
std::string choices(std::string_view wrongWord, std::span<const std::string_view> known) {
    const std::string nearest = base::nearestName(wrongWord, known);
    return nearest.empty() ? fmt::format("; the known ones are {}", fmt::join(known, ", "))
                           : fmt::format("; did you mean \"{}\"?", nearest);
}

std::string textOf(const Json& object, const char* key) {
    const auto found = object.find(key);
    return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

// A text, or a list of texts.
std::optional<std::vector<std::string>> listOf(const Json& object, const char* key) {
    const auto found = object.find(key);
    if (found == object.end()) return std::vector<std::string>();
    if (found->is_string()) return std::vector<std::string>{found->get<std::string>()};
    if (!found->is_array()) return std::nullopt;
    std::vector<std::string> list;
    for (const Json& one : *found) {
        if (!one.is_string()) return std::nullopt;
        list.push_back(one.get<std::string>());
    }
    return list;
}

std::optional<RuleNumber> numberNamed(std::string_view name) {
    const auto* const found = std::find(kRuleNumbers.begin(), kRuleNumbers.end(), name);
    if (found == kRuleNumbers.end()) return std::nullopt;
    return static_cast<RuleNumber>(found - kRuleNumbers.begin());
}

// Reads one rule, part after part.
class RuleReader {
  public:
    explicit RuleReader(const Json& json) : m_json(json) {}

    base::Result<Rule> run() {
        using Step = base::Result<void> (RuleReader::*)();
        if (!m_json.is_object()) return wrong("is not a JSON object");
        for (const Step step :
             {&RuleReader::checkKeys, &RuleReader::compile, &RuleReader::checkGroups,
              &RuleReader::readArguments, &RuleReader::readNeeds, &RuleReader::readSources,
              &RuleReader::readMark, &RuleReader::readMeaning}) {
            if (const auto done = (this->*step)(); !done) return done.error();
        }
        return std::move(m_rule);
    }

  private:
    base::Result<void> checkKeys() {
        for (const auto& [key, value] : m_json.items()) {
            if (std::find(kKeys.begin(), kKeys.end(), key) == kKeys.end())
                return wrong(fmt::format("has an unknown key \"{}\"{}", key, choices(key, kKeys)));
        }
        for (const char* key : kTexts) {
            if (m_json.contains(key) && !m_json[key].is_string())
                return wrong(fmt::format("\"{}\" must be text", key));
        }
        m_rule.pattern = textOf(m_json, "name");
        m_rule.domain = textOf(m_json, "domain");
        if (m_rule.pattern.empty()) return wrong("needs \"name\", a pattern");
        if (const auto found = m_json.find("count"); found != m_json.end()) {
            if (!found->is_boolean()) return wrong("\"count\" must be true or false");
            m_rule.counts = found->get<bool>();
        }
        return {};
    }

    // Names of events may hold bytes that are not UTF-8; such a byte fits no character.
    base::Result<void> compile() {
        int code = 0;
        PCRE2_SIZE offset = 0;
        const std::string& pattern = m_rule.pattern;
        m_rule.code.reset(
            pcre2_compile(reinterpret_cast<PCRE2_SPTR>(pattern.data()), pattern.size(),
                          PCRE2_UTF | PCRE2_MATCH_INVALID_UTF | PCRE2_NEVER_BACKSLASH_C, &code,
                          &offset, nullptr));
        if (m_rule.code) return {};
        std::array<PCRE2_UCHAR, 200> why{};
        pcre2_get_error_message(code, why.data(), why.size());
        return wrong(fmt::format("invalid pattern \"{}\" at character {}: {}", pattern, offset,
                                 reinterpret_cast<const char*>(why.data())));
    }

    // A group of another name would silently say nothing.
    base::Result<void> checkGroups() {
        std::uint32_t count = 0, size = 0;
        PCRE2_SPTR table = nullptr;
        pcre2_pattern_info(m_rule.code.get(), PCRE2_INFO_NAMECOUNT, &count);
        pcre2_pattern_info(m_rule.code.get(), PCRE2_INFO_NAMEENTRYSIZE, &size);
        pcre2_pattern_info(m_rule.code.get(), PCRE2_INFO_NAMETABLE, &table);
        for (std::uint32_t i = 0; i < count; ++i) {
            // Two bytes of the group's number stand before its name.
            const std::string_view group = reinterpret_cast<const char*>(table + i * size + 2);
            if (!numberNamed(group)) {
                return wrong(fmt::format("the pattern's group \"{}\" is not a field{}", group,
                                         choices(group, kRuleNumbers)));
            }
        }
        return {};
    }

    base::Result<void> readArguments() {
        const auto found = m_json.find("arguments");
        if (found == m_json.end()) return {};
        if (!found->is_object())
            return wrong("\"arguments\" must be an object that maps fields to the program's names");
        for (const auto& [field, own] : found->items()) {
            if (!numberNamed(field))
                return wrong(fmt::format("\"arguments\": \"{}\" is not a field{}", field,
                                         choices(field, kRuleNumbers)));
            if (!own.is_string())
                return wrong(fmt::format("\"arguments\": \"{}\" must be given a name", field));
            m_rule.arguments[field] = own.get<std::string>();
        }
        return {};
    }

    base::Result<void> readNeeds() {
        const auto list = listOf(m_json, "needs");
        if (!list) return wrong("\"needs\" must be a list of fields");
        for (const std::string& name : *list) {
            const auto number = numberNamed(name);
            if (!number)
                return wrong(fmt::format("\"needs\": \"{}\" is not a field{}", name,
                                         choices(name, kRuleNumbers)));
            m_rule.needs.push_back(*number);
        }
        return {};
    }

    // Where the rank and the stage come from.
    base::Result<void> readSources() {
        const std::string rank = textOf(m_json, "rank_from"), stage = textOf(m_json, "stage_from"),
                          placement = textOf(m_json, "placement");
        if (!rank.empty() && rank != "pid")
            return wrong(fmt::format("\"rank_from\": \"{}\" must be \"pid\"", rank));
        m_rule.rankFromPid = !rank.empty();
        if (!stage.empty() && stage != "chunk_and_rank")
            return wrong(fmt::format("\"stage_from\": \"{}\" must be \"chunk_and_rank\"", stage));
        if (!placement.empty() && stage.empty())
            return wrong("\"placement\" needs \"stage_from\", which is missing");
        if (!placement.empty() && placement != "looped" && placement != "v")
            return wrong(
                fmt::format("\"placement\": \"{}\" must be \"looped\" or \"v\"", placement));
        if (!stage.empty())
            m_rule.stageRule = placement == "v" ? StageRule::VShaped : StageRule::Looped;
        return {};
    }

    base::Result<void> readMark() {
        const std::string mark = textOf(m_json, "mark");
        if (mark.empty()) return {};
        if (mark != "begin" && mark != "end")
            return wrong(fmt::format("\"mark\": \"{}\" must be \"begin\" or \"end\"", mark));
        m_rule.edge = mark == "begin" ? RuleEdge::Begin : RuleEdge::End;
        return {};
    }

    base::Result<void> readMeaning() {
        const std::string as = textOf(m_json, "as");
        if (as == "task") return readTask();
        if (as == "transfer") return readTransfer();
        if (as == "phase") {
            const auto parsed = trace::parsePhaseKind(textOf(m_json, "phase"));
            if (!parsed) return wrong("a phase needs \"phase\": data or optimizer");
            m_rule.kind = RuleKind::Phase;
            m_rule.phase = *parsed;
            return {};
        }
        if (as != "iteration") return wrong("\"as\" must be task, transfer, phase or iteration");
        m_rule.kind = RuleKind::Iteration;
        return {};
    }

    base::Result<void> readTask() {
        const std::string name = textOf(m_json, "action");
        const auto parsed = schedule::parseActionKind(name);
        if (!name.empty() && !parsed)
            return wrong(fmt::format("\"action\": \"{}\" is not an action", name));
        if (!parsed || !schedule::isCompute(*parsed))
            return wrong("a task needs \"action\": F, B, I or W");
        m_rule.kind = RuleKind::Task;
        m_rule.action = *parsed;
        return {};
    }

    base::Result<void> readTransfer() {
        const auto operations = listOf(m_json, "operation"), actions = listOf(m_json, "action");
        const auto over = trace::parseDimension(textOf(m_json, "dimension"));
        constexpr const char* kNeeds =
            "a transfer needs \"operation\" (send, all_reduce, ...) and \"dimension\" "
            "(pp, dp, tp, ep, cp, other)";
        if (!operations || operations->empty() || !over) return wrong(kNeeds);
        if (!actions || (!actions->empty() && actions->size() != operations->size()))
            return wrong("a transfer has one \"action\" for each \"operation\", or none");
        for (std::size_t i = 0; i < operations->size(); ++i) {
            const auto operation = trace::parseOperation((*operations)[i]);
            if (!operation) return wrong(kNeeds);
            Rule::Message message{*operation, {}};
            if (!actions->empty()) {
                message.action = schedule::parseActionKind((*actions)[i]);
                if (!message.action)
                    return wrong(fmt::format("\"action\": \"{}\" is not an action", (*actions)[i]));
            }
            m_rule.messages.push_back(message);
        }
        m_rule.kind = RuleKind::Transfer;
        m_rule.dimension = *over;
        return {};
    }

    const Json& m_json;
    Rule m_rule;
};

}  // namespace

void FreePattern::operator()(pcre2_real_code_8* code) const { pcre2_code_free(code); }

base::Result<Rule> Rule::read(const Json& json) { return RuleReader(json).run(); }

std::optional<RuleNumbers> Rule::match(std::string_view name, bool& tooSlow) const {
    const std::unique_ptr<pcre2_match_data, FreeMatch> data(
        pcre2_match_data_create_from_pattern(code.get(), nullptr));
    const std::unique_ptr<pcre2_match_context, FreeContext> context(
        pcre2_match_context_create(nullptr));
    pcre2_set_match_limit(context.get(), kMostRuleSteps);
    const int count = pcre2_match(code.get(), reinterpret_cast<PCRE2_SPTR>(name.data()),
                                  name.size(), 0, 0, data.get(), context.get());
    tooSlow = count == PCRE2_ERROR_MATCHLIMIT;
    if (count < 0) return std::nullopt;
    const PCRE2_SIZE* ends = pcre2_get_ovector_pointer(data.get());
    RuleNumbers numbers;
    numbers.fill(-1);
    for (std::size_t field = 0; field < kRuleNumbers.size(); ++field) {
        const int group = pcre2_substring_number_from_name(
            code.get(), reinterpret_cast<PCRE2_SPTR>(kRuleNumbers[field].data()));
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

std::optional<RuleNumbers> Rule::completed(RuleNumbers numbers,
                                           const trace::Arguments& said) const {
    for (std::size_t field = 0; field < kRuleNumbers.size(); ++field) {
        if (numbers[field] >= 0) continue;
        const auto own = arguments.find(kRuleNumbers[field]);
        const std::string_view name =
            own != arguments.end() ? std::string_view(own->second) : kRuleNumbers[field];
        numbers[field] = std::max<std::int64_t>(said.integer(name).value_or(-1), -1);
    }
    for (const RuleNumber needed : needs)
        if (numbers[needed] < 0) return std::nullopt;
    return numbers;
}

}  // namespace pleat::annotate
