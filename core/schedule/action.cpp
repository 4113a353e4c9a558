#include "schedule/action.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <utility>

namespace pleat::schedule {
namespace {

struct KindText {
    ActionKind kind;
    std::string_view text;
    bool hasMicrobatch;
};

constexpr std::array kKinds = {
    KindText{ActionKind::Forward, "F", true},
    KindText{ActionKind::FullBackward, "B", true},
    KindText{ActionKind::InputBackward, "I", true},
    KindText{ActionKind::WeightBackward, "W", true},
    KindText{ActionKind::SendForward, "SEND_F", true},
    KindText{ActionKind::ReceiveForward, "RECV_F", true},
    KindText{ActionKind::SendBackward, "SEND_B", true},
    KindText{ActionKind::ReceiveBackward, "RECV_B", true},
    KindText{ActionKind::Unshard, "UNSHARD", false},
    KindText{ActionKind::Reshard, "RESHARD", false},
    KindText{ActionKind::ReduceGradient, "REDUCE_GRAD", false},
    KindText{ActionKind::OverlapForwardBackward, "OVERLAP_F_B", false},
};

constexpr const KindText& textOf(ActionKind kind) { return kKinds[static_cast<std::size_t>(kind)]; }

base::Error unreadable(std::string_view whole, std::string_view rest, std::string_view why) {
    return {base::ErrorCode::Input, fmt::format("action \"{}\", character {}: {}", whole,
                                                whole.size() - rest.size() + 1, why)};
}

// Takes a non-negative number off the front of `rest`; false when there is none or it does not fit.
bool takeNumber(std::string_view& rest, std::int32_t& number) {
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
    if (error != std::errc() || number < 0 || rest.front() == '-') return false;
    rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
    return true;
}

base::Result<Action> parseSimple(std::string_view whole, std::string_view rest) {
    Action action;
    if (!takeNumber(rest, action.stage)) return unreadable(whole, rest, "expected a stage number");
    const std::string_view word =
        rest.substr(0, rest.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ_"));
    for (const KindText& known : kKinds) {
        if (word != known.text || known.kind == ActionKind::OverlapForwardBackward) continue;
        action.kind = known.kind;
        rest.remove_prefix(word.size());
        if (known.hasMicrobatch && !takeNumber(rest, action.microbatch)) {
            return unreadable(whole, rest, "expected a microbatch number");
        }
        if (!rest.empty()) return unreadable(whole, rest, "unexpected text after the action");
        return action;
    }
    return unreadable(whole, rest,
                      "unknown kind of action; the kinds are F, B, I, W, SEND_F, RECV_F, SEND_B, "
                      "RECV_B, UNSHARD, RESHARD, REDUCE_GRAD");
}

base::Result<Action> parseOverlap(std::string_view whole) {
    const std::size_t separator = whole.find(';');
    const std::size_t close = whole.find(')');
    if (separator == std::string_view::npos || close == std::string_view::npos ||
        separator > close) {
        return unreadable(whole, whole.substr(1), "expected two actions as (a;b)OVERLAP_F_B");
    }
    if (whole.substr(close + 1) != textOf(ActionKind::OverlapForwardBackward).text) {
        return unreadable(whole, whole.substr(close + 1), "expected OVERLAP_F_B at the end");
    }
    Action action{-1, ActionKind::OverlapForwardBackward, -1, {}};
    for (const auto part :
         {whole.substr(1, separator - 1), whole.substr(separator + 1, close - separator - 1)}) {
        base::Result<Action> parsed = parseSimple(part, part);
        if (!parsed) return parsed.error().within(fmt::format("action \"{}\"", whole));
        if (!isCompute(parsed->kind))
            return unreadable(whole, whole.substr(1), "only compute actions overlap");
        action.parts.push_back(std::move(*parsed));
    }
    action.stage = action.parts.front().stage;
    return action;
}

}  // namespace

std::string_view toString(ActionKind kind) { return textOf(kind).text; }

std::optional<ActionKind> parseActionKind(std::string_view text) {
    for (const KindText& known : kKinds) {
        if (known.text == text) return known.kind;
    }
    return std::nullopt;
}

bool isCompute(ActionKind kind) {
    return kind <= ActionKind::WeightBackward || kind == ActionKind::OverlapForwardBackward;
}

bool isCommunication(ActionKind kind) {
    return kind >= ActionKind::SendForward && kind <= ActionKind::ReceiveBackward;
}

std::string toString(const Action& action) {
    // A recorded task knows its kind, but not its parts.
    if (action.parts.size() == 2) {
        return fmt::format("({};{}){}", toString(action.parts[0]), toString(action.parts[1]),
                           toString(action.kind));
    }
    if (!textOf(action.kind).hasMicrobatch)
        return fmt::format("{}{}", action.stage, toString(action.kind));
    return fmt::format("{}{}{}", action.stage, toString(action.kind), action.microbatch);
}

base::Result<Action> parseAction(std::string_view text) {
    if (text.empty()) return unreadable(text, text, "empty");
    return text.front() == '(' ? parseOverlap(text) : parseSimple(text, text);
}

}  // namespace pleat::schedule
