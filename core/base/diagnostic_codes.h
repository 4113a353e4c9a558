// Every code of a diagnostic, with its severity and what it means: the one home of both.
// docs/diagnostics.md lists exactly these (a test). A code that is not here does not compile.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace pleat::base {

enum class Severity : std::uint8_t {
    Info,      // nothing lost; something was chosen or repaired
    DataLoss,  // something recorded is missing or was dropped
    Error,     // a part of the answer cannot be given
};

// What says it first. What annotation says is said again whenever a trace is annotated anew.
enum class DiagnosticOrigin : std::uint8_t { Recording, Reading, Annotation, Analysis, Export };

struct DiagnosticKind {
    std::string_view code;  // snake_case, stable; one that ends in "_*" has a member for each thing
    DiagnosticOrigin origin;
    Severity severity;
    std::string_view meaning;  // of one occurrence, in words
};

// In the order in which a trace meets them.
inline constexpr std::array kDiagnosticKinds = std::to_array<DiagnosticKind>({
    {"gpu_not_recorded", DiagnosticOrigin::Recording, Severity::Info,
     "GPU activity is not in the file; the example says why"},
    {"other_tool_replaced", DiagnosticOrigin::Recording, Severity::Info,
     "NVTX_INJECTION64_PATH named another tool, which recorded nothing"},
    {"recorded_by_another", DiagnosticOrigin::Recording, Severity::DataLoss,
     "another pleat record inside the command recorded its programs; the example names its file"},
    {"no_process_recorded", DiagnosticOrigin::Recording, Severity::DataLoss,
     "no process used NVTX, or the program does not pass on its environment"},
    {"no_event_recorded", DiagnosticOrigin::Recording, Severity::DataLoss,
     "programs loaded NVTX, but no event was recorded"},
    {"process_not_recorded", DiagnosticOrigin::Recording, Severity::DataLoss,
     "no shared memory for a process: nothing of it is in the file"},
    {"thread_not_recorded", DiagnosticOrigin::Recording, Severity::DataLoss,
     "no shared memory for a thread: none of its events are in the file"},
    {"process_killed", DiagnosticOrigin::Recording, Severity::DataLoss,
     "a process was killed or called _exit; everything recorded until then is in the file"},
    {"process_still_running", DiagnosticOrigin::Recording, Severity::Info,
     "a process outlived the command; what it did afterwards is missing"},
    {"outside_recording", DiagnosticOrigin::Recording, Severity::DataLoss,
     "events outside the delay, duration or maximum size were not recorded"},
    {"dropped_event", DiagnosticOrigin::Recording, Severity::DataLoss,
     "the ring of a thread was full, so events are missing; record fewer domains"},
    {"dropped_end", DiagnosticOrigin::Recording, Severity::DataLoss,
     "the ring of a thread was full, so the ends of ranges are missing"},
    {"dropped_payload", DiagnosticOrigin::Recording, Severity::DataLoss,
     "a payload was larger than 4 KiB, or the ring was full; the event has none"},
    {"dropped_definition", DiagnosticOrigin::Recording, Severity::DataLoss,
     "more registered texts than fit; their events have no name"},
    {"dropped_by_recorder", DiagnosticOrigin::Recording, Severity::DataLoss,
     "the file was written so slowly that more than 128 MiB of events waited; the newest are "
     "missing"},
    {"recorder_failed", DiagnosticOrigin::Recording, Severity::DataLoss,
     "something unexpected in the recorder, such as no memory, cost what it was doing at that "
     "moment"},
    {"write_failed", DiagnosticOrigin::Recording, Severity::DataLoss,
     "the file could no longer be written; the command went on"},
    {"too_deep_range", DiagnosticOrigin::Recording, Severity::DataLoss,
     "ranges nested more than 256 deep in their domain are missing"},
    {"cut_name", DiagnosticOrigin::Recording, Severity::DataLoss,
     "names longer than 4096 bytes were cut off"},
    {"domain_not_recorded", DiagnosticOrigin::Recording, Severity::DataLoss,
     "more than 63 domains in one process; the others are missing"},
    {"unreadable_ring", DiagnosticOrigin::Recording, Severity::DataLoss,
     "the events of a thread could not be read"},
    {"unreadable_record", DiagnosticOrigin::Recording, Severity::DataLoss,
     "a damaged record was skipped"},
    {"unknown_payload_schema", DiagnosticOrigin::Recording, Severity::DataLoss,
     "a payload has a schema that was never registered; its fields are missing"},
    {"damaged_event", DiagnosticOrigin::Reading, Severity::DataLoss,
     "text that is not valid JSON was skipped"},
    {"damaged_file", DiagnosticOrigin::Reading, Severity::DataLoss,
     "compressed data that cannot be unpacked further; the rest is missing"},
    {"truncated", DiagnosticOrigin::Reading, Severity::DataLoss,
     "the file ends in the middle of an event"},
    {"control_character", DiagnosticOrigin::Reading, Severity::Info,
     "a control character within a text was repaired"},
    {"invalid_utf8", DiagnosticOrigin::Reading, Severity::Info,
     "bytes that are not UTF-8 were replaced"},
    {"unquoted_word", DiagnosticOrigin::Reading, Severity::Info,
     "a word without quotes was read as text"},
    {"relative_time", DiagnosticOrigin::Reading, Severity::DataLoss,
     "an event has only a relative time; skipped"},
    {"unreadable_time", DiagnosticOrigin::Reading, Severity::DataLoss,
     "an event without a valid time was skipped"},
    {"unreadable_metadata", DiagnosticOrigin::Reading, Severity::DataLoss,
     "a description of a process or thread could not be read"},
    {"untimed_call", DiagnosticOrigin::Reading, Severity::DataLoss,
     "calls without times were skipped"},
    {"untimed_device_work", DiagnosticOrigin::Reading, Severity::DataLoss,
     "device work without times was skipped"},
    {"untimed_range", DiagnosticOrigin::Reading, Severity::DataLoss,
     "ranges without times were skipped"},
    {"negative_duration", DiagnosticOrigin::Reading, Severity::Info,
     "an end before its start; kept as empty"},
    {"time_out_of_range", DiagnosticOrigin::Reading, Severity::DataLoss,
     "a time more than 73 years from the trace's origin; kept at that limit"},
    {"dangling_row", DiagnosticOrigin::Reading, Severity::DataLoss,
     "a row of the file refers to a row that is missing"},
    {"impossible_row", DiagnosticOrigin::Reading, Severity::DataLoss,
     "a row of the file has values that cannot be; skipped"},
    {"arguments_dropped", DiagnosticOrigin::Reading, Severity::DataLoss,
     "the fields of an event take more than 4 KiB and are missing"},
    {"event_without_phase", DiagnosticOrigin::Reading, Severity::DataLoss,
     "an event without a phase (ph) was skipped"},
    {"unknown_phase", DiagnosticOrigin::Reading, Severity::DataLoss,
     "an event of an unknown phase was skipped"},
    {"phase_not_kept", DiagnosticOrigin::Reading, Severity::Info,
     "events that are not ranges, marks or flows, such as counters, were skipped"},
    {"flow_without_event", DiagnosticOrigin::Reading, Severity::Info,
     "an arrow has no event at one of its ends; left out"},
    {"flow_without_id", DiagnosticOrigin::Reading, Severity::Info,
     "an arrow without an id was left out"},
    {"half_flow", DiagnosticOrigin::Reading, Severity::Info, "an arrow has only one end; left out"},
    {"end_of_other_name", DiagnosticOrigin::Reading, Severity::Info,
     "a range ended under another name than it began with; paired by nesting"},
    {"unmatched_end", DiagnosticOrigin::Reading, Severity::Info,
     "an end without a begin was skipped"},
    {"unmatched_pop", DiagnosticOrigin::Reading, Severity::Info,
     "a pop without a push was skipped"},
    {"open_range", DiagnosticOrigin::Reading, Severity::Info,
     "a range was still open at the end; it lasts until the last known moment"},
    {"crossing_ranges", DiagnosticOrigin::Reading, Severity::Info,
     "ranges of one thread cross instead of nesting"},
    {"duplicate_device_work", DiagnosticOrigin::Reading, Severity::Info,
     "device work that is in the file twice counts once"},
    {"duplicate_row", DiagnosticOrigin::Reading, Severity::Info,
     "a row that is in the file twice counts once"},
    {"device_not_understood", DiagnosticOrigin::Reading, Severity::DataLoss,
     "a device whose lines of work are not known; its events are shown, but not counted"},
    {"unknown_accelerator", DiagnosticOrigin::Reading, Severity::DataLoss,
     "device work of unknown categories is not counted"},
    {"no_device_work", DiagnosticOrigin::Reading, Severity::Info, "no device work was recorded"},
    {"device_recording_ended", DiagnosticOrigin::Reading, Severity::DataLoss,
     "the recording of devices ended before that of the host, so the last iteration is incomplete"},
    {"device_with_little_work", DiagnosticOrigin::Reading, Severity::Info,
     "a device with little work is counted with another one of its process"},
    {"launch_without_work", DiagnosticOrigin::Reading, Severity::DataLoss,
     "calls that launched work which is not in the file"},
    {"work_without_launch", DiagnosticOrigin::Reading, Severity::DataLoss,
     "device work without the call that launched it"},
    {"recording_unfinished", DiagnosticOrigin::Reading, Severity::DataLoss,
     "a recording is still running or was interrupted"},
    {"host_guessed", DiagnosticOrigin::Reading, Severity::Info,
     "the host of a file was taken from elsewhere"},
    {"time_base_guessed", DiagnosticOrigin::Reading, Severity::Info,
     "the time origin of a file was taken from elsewhere"},
    {"rank_of_communicator", DiagnosticOrigin::Reading, Severity::Info,
     "a rank number was taken from an NCCL communicator"},
    {"older_dialect", DiagnosticOrigin::Reading, Severity::Info,
     "a schedule in an older notation was read"},
    {"section_missing_*", DiagnosticOrigin::Reading, Severity::Info,
     "a table of the export has no rows; the example says how to record them"},
    {"section_unreadable_*", DiagnosticOrigin::Reading, Severity::DataLoss,
     "a table of the export lacks columns that are needed; its rows are skipped"},
    {"column_missing_*", DiagnosticOrigin::Reading, Severity::Info,
     "a column of the export is missing; a newer nsys may write it"},
    {"graph_as_whole", DiagnosticOrigin::Reading, Severity::Info,
     "CUDA graphs were traced as a whole, so their kernels are missing"},
    {"nccl_payload_missing", DiagnosticOrigin::Reading, Severity::Info,
     "NCCL ranges without their payloads: sizes and peers are missing"},
    {"name_missing", DiagnosticOrigin::Reading, Severity::DataLoss,
     "an event refers to a name that is not in the export"},
    {"nvtx_event_ignored", DiagnosticOrigin::Reading, Severity::Info,
     "NVTX events that are neither ranges nor marks were skipped"},
    {"range_before_capture", DiagnosticOrigin::Reading, Severity::Info,
     "a range that began before the capture begins with it"},
    {"domain_guessed", DiagnosticOrigin::Reading, Severity::Info,
     "an NVTX domain was derived from the names in it"},
    {"process_guessed", DiagnosticOrigin::Reading, Severity::Info,
     "events without a process are taken as those of the only process, or of process 0"},
    {"number_out_of_range", DiagnosticOrigin::Annotation, Severity::DataLoss,
     "a stage, microbatch, chunk, peer, rank or place above 1,000,000, or more than a pebibyte in "
     "one transfer: a task is skipped, any other number is not used"},
    {"dangling_reference", DiagnosticOrigin::Annotation, Severity::DataLoss,
     "an annotation of something that does not exist was skipped"},
    {"unreadable_arguments", DiagnosticOrigin::Annotation, Severity::DataLoss,
     "the fields of an event are no JSON object; they are missing"},
    {"rank_guessed", DiagnosticOrigin::Annotation, Severity::Info,
     "a rank number was taken from the order of files or names"},
    {"coordinates_guessed", DiagnosticOrigin::Annotation, Severity::Info,
     "a place in the parallel layout was derived"},
    {"unknown_marker", DiagnosticOrigin::Annotation, Severity::Info,
     "an event of Pleat's domains has a name that this version does not know"},
    {"open_task", DiagnosticOrigin::Annotation, Severity::DataLoss,
     "a task without an end was skipped"},
    {"task_twice", DiagnosticOrigin::Annotation, Severity::Error,
     "an action of a rank is in the trace twice at the same time: the file holds its events twice"},
    {"task_without_stage", DiagnosticOrigin::Annotation, Severity::DataLoss,
     "tasks whose stage nothing tells were skipped"},
    {"fields_guessed", DiagnosticOrigin::Annotation, Severity::Info,
     "a number that an event does not give was derived"},
    {"field_unreadable", DiagnosticOrigin::Annotation, Severity::Info,
     "a field that is missing or unusable was derived from the rank's other timers"},
    {"iteration_guessed", DiagnosticOrigin::Annotation, Severity::Info,
     "the iteration of an event was derived"},
    {"iteration_ranges_nested", DiagnosticOrigin::Annotation, Severity::Info,
     "numbered ranges inside an iteration are not iterations"},
    {"tasks_inferred", DiagnosticOrigin::Annotation, Severity::Info,
     "tasks were derived from the order of messages"},
    {"pattern_not_understood", DiagnosticOrigin::Annotation, Severity::Info,
     "messages look like a pipeline's, but tasks could not be derived"},
    {"actions_recognised", DiagnosticOrigin::Annotation, Severity::Info,
     "names of actions in a domain that is not Pleat's were used"},
    {"actions_not_used", DiagnosticOrigin::Annotation, Severity::Info,
     "names that look like actions were not used; the example says why"},
    {"stages_unknown", DiagnosticOrigin::Annotation, Severity::DataLoss,
     "nothing tells which part of a pipeline the ranks run, so no schedule is named"},
    {"timer_incomplete", DiagnosticOrigin::Annotation, Severity::DataLoss,
     "a timer without any source for its stage and microbatch was skipped"},
    {"host_time_of_task", DiagnosticOrigin::Annotation, Severity::Info,
     "a task launched no device work, so its host range is used"},
    {"impossible_duration", DiagnosticOrigin::Annotation, Severity::Error,
     "a kernel lasts far into the next of its stream: the durations in the file are damaged"},
    {"rule_incomplete", DiagnosticOrigin::Annotation, Severity::DataLoss,
     "an event lacks the numbers that its rule needs; skipped"},
    {"rule_too_slow", DiagnosticOrigin::Annotation, Severity::DataLoss,
     "a pattern took too long for a name; skipped"},
    {"rule_unused", DiagnosticOrigin::Annotation, Severity::Info, "a rule matched no event"},
    {"mark_without_partner", DiagnosticOrigin::Annotation, Severity::DataLoss,
     "an instant that begins or ends something has no partner; skipped"},
    {"rank_conflict", DiagnosticOrigin::Annotation, Severity::Error,
     "a process is said to be two different ranks"},
    {"duplicate_rank", DiagnosticOrigin::Annotation, Severity::Error,
     "two processes are the same rank"},
    {"group_incomplete", DiagnosticOrigin::Annotation, Severity::DataLoss,
     "a process group has fewer members than announced"},
    {"group_conflict", DiagnosticOrigin::Annotation, Severity::Error,
     "a process group has more members than announced"},
    {"communicator_guessed", DiagnosticOrigin::Annotation, Severity::Info,
     "a collective does not give its communicator; assumed to be of all ranks, in order"},
    {"matched_by_order", DiagnosticOrigin::Annotation, Severity::Info,
     "the parts of a communication were matched by their order"},
    {"order_shifted", DiagnosticOrigin::Annotation, Severity::Info,
     "a rank's collectives were matched some places later or earlier"},
    {"order_unsure", DiagnosticOrigin::Annotation, Severity::Info,
     "several ways to match collectives fit equally well"},
    {"collective_lost", DiagnosticOrigin::Annotation, Severity::DataLoss,
     "a rank has no part in collectives that others ran between two of its own; those that follow "
     "are matched by operation, size and end"},
    {"collectives_differ", DiagnosticOrigin::Annotation, Severity::DataLoss,
     "ranks ran different collectives without numbers; not matched"},
    {"incomplete_match", DiagnosticOrigin::Annotation, Severity::DataLoss,
     "a communication lacks parts"},
    {"unmatched_transfer", DiagnosticOrigin::Annotation, Severity::DataLoss,
     "a part of a communication has no partner"},
    {"partner_not_given", DiagnosticOrigin::Annotation, Severity::Info,
     "communication of the only rank that was given has no partner"},
    {"clock_disagrees", DiagnosticOrigin::Annotation, Severity::Error,
     "a communication ended before another rank began it: the clocks are wrong by that much"},
    {"timers_disagree", DiagnosticOrigin::Annotation, Severity::Info,
     "a communication ended shortly before another rank began it: timers are wrong by that much"},
    {"clock_shared", DiagnosticOrigin::Annotation, Severity::Info, "files share a clock"},
    {"clock_not_shared", DiagnosticOrigin::Annotation, Severity::Info,
     "files of one host do not share a clock"},
    {"clock_corrected", DiagnosticOrigin::Annotation, Severity::Info,
     "the clock of a file was corrected by its communication"},
    {"clock_bound", DiagnosticOrigin::Annotation, Severity::Info,
     "how well the clocks of files compare"},
    {"clock_unknown", DiagnosticOrigin::Annotation, Severity::Error,
     "nothing relates the clocks of files; times are not compared across them"},
    {"no_tasks", DiagnosticOrigin::Analysis, Severity::Info,
     "nothing names forward and backward passes, so figures are of device work"},
    {"nothing_to_analyse", DiagnosticOrigin::Analysis, Severity::Error,
     "neither tasks nor an iteration of device work was found"},
    {"no_complete_iteration", DiagnosticOrigin::Analysis, Severity::Error,
     "no iteration was recorded completely on every rank"},
    {"no_transfers", DiagnosticOrigin::Analysis, Severity::Info, "no communication was recorded"},
    {"iteration_incomplete", DiagnosticOrigin::Analysis, Severity::DataLoss,
     "iterations that were not recorded completely are left out"},
    {"iterations_unmarked", DiagnosticOrigin::Analysis, Severity::DataLoss,
     "nothing marks the start of iterations, so the whole recording counts as one"},
    {"iteration_bounds_unsure", DiagnosticOrigin::Analysis, Severity::DataLoss,
     "the bounds of an iteration are uncertain by more than 2 % of its length"},
    {"work_before_iterations", DiagnosticOrigin::Analysis, Severity::Info,
     "device work that was launched before the first iteration belongs to none"},
    {"rank_without_tasks", DiagnosticOrigin::Analysis, Severity::DataLoss,
     "a rank communicates but has no tasks, so it is not in the figures"},
    {"transfer_without_partner", DiagnosticOrigin::Analysis, Severity::DataLoss,
     "communication without a partner counts as moving data all the time"},
    {"late_peer_unsure", DiagnosticOrigin::Analysis, Severity::Info,
     "who was late for a communication is within the error of the clocks"},
    {"timer_resolution", DiagnosticOrigin::Analysis, Severity::Info,
     "timers of one rank overlap where one must follow the other: by no more than their "
     "resolution"},
    {"dependency_contradicted", DiagnosticOrigin::Analysis, Severity::Info,
     "times contradict a dependency by more than the timers' resolution; it is not used"},
    {"task_graph_unusable", DiagnosticOrigin::Analysis, Severity::Error,
     "an iteration's tasks depend on themselves, so it has no critical path"},
    {"times_unusable", DiagnosticOrigin::Analysis, Severity::Error,
     "times so large that sums of them overflow; nothing is analysed"},
    {"times_disagree", DiagnosticOrigin::Analysis, Severity::Info,
     "work ends 2 us or more after the call that waited for it, or begins as much before its own "
     "call"},
    {"timers_unusable", DiagnosticOrigin::Analysis, Severity::Info,
     "timers that are there twice or depend on themselves; replayed without the rules of timers"},
    {"iteration_not_replayed", DiagnosticOrigin::Analysis, Severity::Error,
     "an iteration without a usable graph is not replayed"},
    {"launches_kept", DiagnosticOrigin::Analysis, Severity::Info,
     "steps of coarse timers take more than 3 % longer than their timers explain, so late begins "
     "count as pauses"},
    {"layout_differs", DiagnosticOrigin::Analysis, Severity::Info,
     "the two runs have other numbers of ranks, or other places in the layout"},
    {"schedule_differs", DiagnosticOrigin::Analysis, Severity::Info,
     "the two runs follow different schedules"},
    {"tasks_in_one_only", DiagnosticOrigin::Analysis, Severity::DataLoss,
     "only one of the two runs has tasks"},
    {"devices_in_one_only", DiagnosticOrigin::Analysis, Severity::DataLoss,
     "only one of the two runs has device work"},
    {"arguments_left_out", DiagnosticOrigin::Export, Severity::DataLoss,
     "fields of events could not be written"},
    {"arrow_left_out", DiagnosticOrigin::Export, Severity::DataLoss,
     "an arrow could not be written"},
});

// Where a code stands, or the family of a member ("section_missing_kernels" of
// "section_missing_*"); the size of the table for another program's. A position, because the
// undefined-behaviour sanitizer keeps g++ 12 from comparing addresses at compile time.
[[nodiscard]] constexpr std::size_t diagnosticPosition(std::string_view code) {
    for (std::size_t i = 0; i < kDiagnosticKinds.size(); ++i) {
        const std::string_view known = kDiagnosticKinds[i].code;
        if (known == code) return i;
        if (known.ends_with('*') && code.starts_with(known.substr(0, known.size() - 1))) return i;
    }
    return kDiagnosticKinds.size();
}

// Null for another program's.
[[nodiscard]] inline const DiagnosticKind* diagnosticKind(std::string_view code) {
    const std::size_t position = diagnosticPosition(code);
    return position < kDiagnosticKinds.size() ? &kDiagnosticKinds[position] : nullptr;
}

// One of them, checked when it is compiled.
class DiagnosticCode {
  public:
    consteval DiagnosticCode(const char* code) : m_position(diagnosticPosition(code)) {
        if (m_position == kDiagnosticKinds.size()) throw "not in kDiagnosticKinds";
    }
    [[nodiscard]] constexpr const DiagnosticKind& kind() const {
        return kDiagnosticKinds[m_position];
    }

  private:
    std::size_t m_position;
};

}  // namespace pleat::base
