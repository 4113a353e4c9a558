// The database schema (schemas/trace.sql, its one home), embedded at build time.
#pragma once

namespace pleat::store {

extern const char* const kSchema;
extern const char* const kVersion;  // of this Pleat

// Made once the rows are in: an index kept during insertion halves its speed.
inline constexpr const char* kIndexes = R"(
create index if not exists event_by_lane on event (lane, start_ns);
create index if not exists task_by_iteration on task (rank, iteration, start_ns);
create index if not exists transfer_by_iteration on transfer (rank, iteration, start_ns);
)";

}  // namespace pleat::store
