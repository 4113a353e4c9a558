#include "annotate/message_names.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "base/statistics.h"

namespace pleat::annotate {
namespace {

using schedule::ActionKind;
using trace::RankId;
using trace::Task;
using trace::Transfer;
using trace::TransferId;

struct Message {
    TransferId send, receive;
};

// What one rank sends to another in a run.
struct Channel {
    std::vector<Message> messages;       // by begin of the send
    std::vector<const Task*> producers;  // by end
};

class MessageNames {
  public:
    explicit MessageNames(Draft& draft) : m_draft(draft), m_transfers(draft.found.transfers) {}

    void run() {
        gatherMessages();
        if (m_channels.empty()) return;
        gatherProducers();
        for (auto& [ends, channel] : m_channels) name(channel);
    }

  private:
    // Ranks that differ only in their pipeline coordinate make up one pipeline.
    using Replica = std::tuple<std::int32_t, std::int32_t, std::int32_t, std::int32_t>;

    [[nodiscard]] Replica replicaOf(RankId rank) const {
        const trace::Coordinates& at = m_draft.ranks[rank].coordinates;
        return {at.dp, at.tp, at.ep, at.cp};
    }

    void gatherMessages() {
        for (const trace::Match& match : m_draft.found.matches) {
            if (match.members.size() != 2) continue;
            Message message{match.members[0], match.members[1]};
            if (m_transfers[message.send].operation == trace::Operation::Receive)
                std::swap(message.send, message.receive);
            const Transfer& send = m_transfers[message.send];
            const Transfer& receive = m_transfers[message.receive];
            const bool unnamed = send.operation == trace::Operation::Send &&
                                 receive.operation == trace::Operation::Receive && !send.action &&
                                 !receive.action && send.dimension == trace::Dimension::Pp;
            if (unnamed) m_channels[{send.rank, receive.rank}].messages.push_back(message);
        }
        for (auto& [ends, channel] : m_channels) {
            std::sort(channel.messages.begin(), channel.messages.end(),
                      [&](const Message& a, const Message& b) {
                          return std::pair(m_transfers[a.send].span.begin, a.send) <
                                 std::pair(m_transfers[b.send].span.begin, b.send);
                      });
        }
    }

    void gatherProducers() {
        std::map<std::pair<Replica, std::int32_t>, RankId> holder;  // of a stage
        std::vector<std::int64_t> lengths;
        for (const Task& task : m_draft.found.tasks) {
            holder[{replicaOf(task.rank), task.stage}] = task.rank;
            lengths.push_back(task.span.length().ns);
        }
        if (lengths.empty()) return;
        m_early = {base::medianOf(lengths) / 4};
        for (const Task& task : m_draft.found.tasks) {
            const bool forward = task.kind == ActionKind::Forward;
            if (!forward && task.kind != ActionKind::FullBackward &&
                task.kind != ActionKind::InputBackward)
                continue;
            const auto next = holder.find({replicaOf(task.rank), task.stage + (forward ? 1 : -1)});
            if (next == holder.end() || next->second == task.rank) continue;
            const auto channel = m_channels.find({task.rank, next->second});
            if (channel != m_channels.end()) channel->second.producers.push_back(&task);
        }
        for (auto& [ends, channel] : m_channels) {
            std::sort(channel.producers.begin(), channel.producers.end(),
                      [](const Task* a, const Task* b) {
                          return std::pair(a->span.end, a->event) <
                                 std::pair(b->span.end, b->event);
                      });
        }
    }

    void name(const Channel& channel) {
        if (channel.messages.size() == channel.producers.size())
            return name(channel.messages, channel.producers);
        // Some are missing: iterations that have all are named nevertheless.
        std::map<std::int32_t, Channel> byIteration;
        for (const Message& message : channel.messages)
            byIteration[m_transfers[message.send].iteration].messages.push_back(message);
        for (const Task* task : channel.producers)
            byIteration[task->iteration].producers.push_back(task);
        for (const auto& [iteration, part] : byIteration) {
            if (part.messages.size() == part.producers.size()) name(part.messages, part.producers);
        }
    }

    void name(std::span<const Message> messages, std::span<const Task* const> producers) {
        std::size_t early = 0;
        for (std::size_t i = 0; i < messages.size(); ++i) {
            if (m_transfers[messages[i].send].span.begin + m_early < producers[i]->span.end)
                ++early;
        }
        if (early * 100 > messages.size()) return;
        for (std::size_t i = 0; i < messages.size(); ++i) {
            const Task& task = *producers[i];
            const bool forward = task.kind == ActionKind::Forward;
            give(m_transfers[messages[i].send], task, task.stage,
                 forward ? ActionKind::SendForward : ActionKind::SendBackward);
            give(m_transfers[messages[i].receive], task, task.stage + (forward ? 1 : -1),
                 forward ? ActionKind::ReceiveForward : ActionKind::ReceiveBackward);
        }
        m_draft.diagnostics.add(
            "fields_guessed",
            "a message does not give its microbatch; derived from the order of tasks",
            static_cast<std::int64_t>(2 * messages.size()));
    }

    static void give(Transfer& transfer, const Task& task, std::int32_t stage, ActionKind action) {
        transfer.action = action;
        transfer.stage = stage;
        transfer.microbatch = task.microbatch;
        transfer.iteration = task.iteration;
    }

    Draft& m_draft;
    base::IdVector<trace::TransferTag, Transfer>& m_transfers;
    std::map<std::pair<RankId, RankId>, Channel> m_channels;  // from, to
    base::Duration m_early;  // a message may begin so long before its task's timer ends
};

}  // namespace

void nameMatchedMessages(Draft& draft) { MessageNames(draft).run(); }

}  // namespace pleat::annotate
