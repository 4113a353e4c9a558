// PyTorch's schedule CSV: a row per pipeline rank, a cell per action, an empty cell for an idle
// slot. Accepts the older dialect, in which "B" is the input gradient and "BW" the full backward,
// and says so. Written files load in torch.distributed.pipelining.
#pragma once

#include <string>
#include <string_view>

#include "base/diagnostics.h"
#include "base/result.h"
#include "schedule/schedule.h"

namespace pleat::schedule {

struct CsvSchedule {
    Schedule schedule;              // placement and microbatches read off the cells
    base::Diagnostics diagnostics;  // code "older_dialect" when B was read as I
};

// `name` becomes the schedule's name and stands in errors ("name: row 2, cell 7: …"). Quoted cells
// are accepted.
[[nodiscard]] base::Result<CsvSchedule> readCsv(std::string_view text, std::string_view name);
[[nodiscard]] std::string writeCsv(const Schedule& schedule);

}  // namespace pleat::schedule
