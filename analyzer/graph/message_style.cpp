#include "graph/message_style.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "base/statistics.h"
#include "graph/timer_error.h"

namespace pleat::graph {
namespace {

using trace::Transfer;

// Messages of one kind, which should take equally long: sender, peer, action and size.
using Kind = std::tuple<std::size_t, std::int32_t, int, std::int64_t>;

// An engine does not change its way of sending within a run: of a long one so many messages, spread
// evenly over it, tell it.
constexpr std::size_t kMostLookedAt = 200'000;

struct Message {
    base::Interval send, receive;
    base::Duration resolution;  // what their times can tell apart

    // What it says of the sender: true that it did not wait for the receiver, false that it did.
    // There is no usual time where no receive of the kind was there in time.
    [[nodiscard]] std::optional<bool> isBuffered(std::optional<base::Duration> usual) const {
        if (send.end + resolution < receive.begin) return true;
        const base::Duration late = receive.begin - send.begin;
        if (!usual || late <= resolution || late.ns * 4 <= usual->ns) return std::nullopt;
        return std::abs((send.length() - *usual).ns) < std::abs((receive.length() - *usual).ns);
    }
};

std::map<Kind, std::vector<Message>> messagesOf(const trace::Trace& trace,
                                                base::Duration ofTimers) {
    std::map<Kind, std::vector<Message>> messages;
    const auto& found = trace.annotations();
    const std::size_t step = 1 + found.matches.size() / kMostLookedAt;
    for (std::size_t i = 0; i < found.matches.size(); i += step) {
        const trace::Match& match = found.matches[trace::MatchId::at(i)];
        if (match.members.size() != 2) continue;
        const Transfer* send = &found.transfers[match.members[0]];
        const Transfer* receive = &found.transfers[match.members[1]];
        if (send->operation == trace::Operation::Receive) std::swap(send, receive);
        if (send->operation != trace::Operation::Send ||
            receive->operation != trace::Operation::Receive)
            continue;
        base::Duration resolution = std::max(kOfATimer, ofTimers);
        for (const Transfer* end : {send, receive})
            resolution += trace.ranks()[end->rank].clockBound.value_or(base::Duration{});
        const int action = send->action ? static_cast<int>(*send->action) : -1;
        messages[{send->rank.index(), send->peer, action, send->bytes}].push_back(
            {send->span, receive->span, resolution});
    }
    return messages;
}

// The median of those whose receive was there when the send began.
std::optional<base::Duration> usualTime(const std::vector<Message>& messages) {
    std::vector<std::int64_t> times;
    for (const Message& message : messages) {
        if (message.receive.begin <= message.send.begin) times.push_back(message.send.length().ns);
    }
    if (times.empty()) return std::nullopt;
    return base::Duration{base::medianOf(times)};
}

}  // namespace

bool sendsAreBuffered(const trace::Trace& trace, base::Duration resolution) {
    std::int64_t buffered = 0, together = 0, impossible = 0;
    for (const auto& [kind, messages] : messagesOf(trace, resolution)) {
        const std::optional<base::Duration> usual = usualTime(messages);
        for (const Message& message : messages) {
            if (message.receive.end + message.resolution < message.send.begin) ++impossible;
            if (const auto says = message.isBuffered(usual)) ++(*says ? buffered : together);
        }
    }
    // Clocks that disagree make a send end early as well.
    return impossible == 0 && buffered > together;
}

}  // namespace pleat::graph
