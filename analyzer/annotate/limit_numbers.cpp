#include "annotate/limit_numbers.h"

#include <fmt/format.h>

#include <cstdint>
#include <string_view>
#include <utility>

#include "base/say.h"
#include "trace/limits.h"

namespace pleat::annotate {
namespace {

bool possible(std::int64_t number) { return number <= trace::kMaximumNumber; }

class NumberLimits {
  public:
    explicit NumberLimits(Draft& draft) : m_draft(draft) {}

    void run() {
        for (trace::Rank& rank : m_draft.ranks) limit(rank);
        base::IdVector<trace::TaskTag, trace::Task> kept;
        for (trace::Task& task : m_draft.found.tasks) {
            if (!possible(task.stage) || !possible(task.microbatch)) {
                note(task.event, possible(task.stage) ? "microbatch" : "stage",
                     possible(task.stage) ? task.microbatch : task.stage, "task skipped");
                continue;
            }
            forget(task.event, "chunk", task.chunk, trace::kMaximumNumber);
            kept.push(task);
        }
        m_draft.found.tasks = std::move(kept);
        for (trace::Transfer& transfer : m_draft.found.transfers) limit(transfer);
    }

  private:
    void limit(trace::Rank& rank) {
        trace::Coordinates& at = rank.coordinates;
        for (std::int32_t* place : {&at.dp, &at.pp, &at.tp, &at.ep, &at.cp}) {
            if (possible(*place)) continue;
            add(fmt::format(
                "rank {} has position {} in its layout, above the limit of {}; not used",
                rank.number, *place, trace::kMaximumNumber));
            *place = -1;
        }
    }

    void limit(trace::Transfer& transfer) {
        forget(transfer.event, "stage", transfer.stage, trace::kMaximumNumber);
        forget(transfer.event, "chunk", transfer.chunk, trace::kMaximumNumber);
        forget(transfer.event, "microbatch", transfer.microbatch, trace::kMaximumNumber);
        forget(transfer.event, "sequence", transfer.sequence, trace::kMaximumSequence);
        if (transfer.bytes > trace::kMaximumBytes || transfer.bytes < 0) {
            note(transfer.event, "bytes", transfer.bytes, "not used");
            transfer.bytes = 0;
        }
    }

    template <class Number>
    void forget(trace::EventId event, std::string_view field, Number& number, Number most) {
        if (number <= most) return;
        note(event, field, number, "not used");
        number = -1;
    }

    void note(trace::EventId event, std::string_view field, std::int64_t number,
              std::string_view outcome) {
        add(fmt::format("\"{}\": {} {} is out of range; {}",
                        base::printable(m_draft.events.name(event), 80), field, number, outcome));
    }
    void add(std::string_view example) {
        m_draft.diagnostics.add(base::Severity::DataLoss, "number_out_of_range", example);
    }

    Draft& m_draft;
};

}  // namespace

void limitNumbers(Draft& draft) { NumberLimits(draft).run(); }

}  // namespace pleat::annotate
