#include "annotate/action_names.h"

#include <algorithm>
#include <cctype>
#include <string>
#include <utility>

#include "trace/limits.h"

namespace pleat::annotate {
namespace {

constexpr std::size_t kLongestName = 100;  // nothing longer spells an action
constexpr std::size_t kMostDigits = 9;     // a number of as many fits into 32 bits

bool isDigit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

// Numbers of more digits become one that is as impossible.
std::string withShortNumbers(std::string_view name) {
    std::string text;
    for (std::size_t at = 0; at < name.size();) {
        const auto last =
            std::find_if_not(name.begin() + static_cast<std::ptrdiff_t>(at), name.end(), isDigit);
        const auto digits = static_cast<std::size_t>(last - name.begin()) - at;
        text += digits > kMostDigits
                    ? std::string(kMostDigits, '9')
                    : std::string(name.substr(at, std::max<std::size_t>(digits, 1)));
        at += std::max<std::size_t>(digits, 1);
    }
    return text;
}

bool possible(const schedule::Action& action) {
    return action.stage <= trace::kMaximumNumber && action.microbatch <= trace::kMaximumNumber;
}

}  // namespace

std::string_view withoutEmitterSuffix(std::string_view name) {
    for (const std::string_view suffix : {", seq = ", ", op_id = ", ", sizes = "})
        name = name.substr(0, name.find(suffix));
    return name;
}

std::optional<schedule::Action> actionNamed(std::string_view name) {
    name = withoutEmitterSuffix(name);
    if (name.starts_with("PP:")) name.remove_prefix(3);
    if (name.empty() || name.size() > kLongestName ||
        (!isDigit(name.front()) && name.front() != '('))
        return std::nullopt;
    auto action = schedule::parseAction(name);
    if (!action) action = schedule::parseAction(withShortNumbers(name));
    if (!action) return std::nullopt;
    for (const schedule::Action& part : action->parts)
        if (!possible(part)) action->stage = trace::kMaximumNumber + 1;
    return std::move(*action);
}

trace::Operation operationOf(schedule::ActionKind kind) {
    using schedule::ActionKind;
    switch (kind) {
        case ActionKind::SendForward:
        case ActionKind::SendBackward:
            return trace::Operation::Send;
        case ActionKind::ReceiveForward:
        case ActionKind::ReceiveBackward:
            return trace::Operation::Receive;
        case ActionKind::ReduceGradient:
            return trace::Operation::AllReduce;
        case ActionKind::Unshard:
            return trace::Operation::AllGather;
        default:
            return trace::Operation::Other;
    }
}

}  // namespace pleat::annotate
