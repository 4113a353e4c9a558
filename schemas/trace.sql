-- The trace database, version 1: one run, one file (*.pleat). Plain rows that any SQLite client can read, also while
-- the run is being recorded. Times are integer nanoseconds since the trace's origin; meta holds the origin on the host's
-- clocks. Ids count from 1. In tables, rank, last_rank and from_event, to_event are ids of rows; a rank as reports name it
-- is rank.number, which the views have as "rank".

create table meta (
    key   text primary key,   -- origin_monotonic_ns, origin_unix_ns, command, host, pleat_version, state (recording,
                              -- complete), annotated (1 when task … schedule are filled), gpu (why no work of a GPU is
                              -- here: available:not_recorded, unavailable:no_cupti, unavailable:no_answer,
                              -- unavailable:<CUptiResult>), cupti_version (cuptiGetVersion's, where CUPTI was found)
    value text not null
) strict, without rowid;

create table string (
    id   integer primary key,
    text text not null
) strict;

-- One recorded process. number is null for a process that is no training rank.
create table rank (
    id      integer primary key,
    number  integer,
    dp integer, pp integer, tp integer, ep integer, cp integer,
    host    text not null,
    pid     integer not null,
    program text not null,
    device  text not null,
    end     text not null check (end in ('unknown', 'exited', 'killed')),
    clock_bound_ns integer,  -- how far its times may be from those of ranks on other clocks; null: one clock, or not known
    clock   integer          -- ranks with equal numbers read one clock; older files have no such column
) strict;

-- Where events lie: a host thread or a device stream.
create table lane (
    id        integer primary key,
    rank      integer not null references rank,
    kind      text not null check (kind in ('host_thread', 'device_stream')),
    native_id integer not null,
    name      text not null
) strict;

create table event (
    id       integer primary key,
    lane     integer not null,   -- lane.id
    name     integer not null,   -- string.id
    domain   integer,            -- string.id: NVTX domain, or the category an imported file gives; null: none
    kind     integer not null,   -- 0 range, 1 mark
    flag     integer not null,   -- 1: open at the end of the recording, end_ns is the last moment known
    start_ns integer not null,
    end_ns   integer not null,
    args     text                -- JSON object of the payload's fields
) strict;

-- What one event says of another: launch, a host call started device work; flow, an arrow the recorder drew.
create table dependency (
    id         integer primary key,
    from_event integer not null,   -- event.id
    to_event   integer not null,   -- event.id
    kind       text not null check (kind in ('launch', 'flow'))
) strict;

-- One action of one microbatch on a rank. kind as in a schedule: F, B, I, W.
create table task (
    id         integer primary key,
    rank       integer not null references rank,
    event      integer not null,
    iteration  integer not null,
    stage      integer not null,
    chunk      integer not null,
    microbatch integer not null,
    kind       text not null,
    start_ns   integer not null,
    end_ns     integer not null
) strict;

-- Work that belongs to no microbatch: data, optimizer.
create table phase (
    id        integer primary key,
    rank      integer not null references rank,
    event     integer not null,
    iteration integer not null,
    kind      text not null,
    start_ns  integer not null,
    end_ns    integer not null
) strict;

create table iteration (
    id       integer primary key,
    rank     integer not null references rank,
    event    integer not null,
    number   integer not null,
    start_ns integer not null,
    end_ns   integer not null
) strict;

create table process_group (
    id        integer primary key,
    native_id integer not null,
    dimension text not null,
    size      integer not null
) strict;

create table process_group_member (
    process_group integer not null references process_group,
    rank          integer not null references rank,
    primary key (process_group, rank)
) strict, without rowid;

-- A communication with all its parts. Data moves from ready_ns (latest start of a member) on; until then members wait
-- for last_rank.
create table match (
    id        integer primary key,
    ready_ns  integer not null,
    last_rank integer not null references rank,
    complete  integer not null
) strict;

-- One rank's part in a communication, from the moment it was ready to the end.
create table transfer (
    id            integer primary key,
    rank          integer not null references rank,
    event         integer not null,
    iteration     integer not null,
    stage         integer not null,
    chunk         integer not null,
    microbatch    integer not null,
    operation     text not null,
    dimension     text not null,
    bytes         integer not null,
    process_group integer references process_group,
    peer          integer,       -- rank.number of the other end
    sequence      integer not null,
    action        text,          -- SEND_F, RECV_F, SEND_B, RECV_B, REDUCE_GRAD
    match         integer references match,
    start_ns      integer not null,
    end_ns        integer not null
) strict;

-- The schedule recognised from the order of tasks, then others that fit it exactly as well; no row without tasks.
create table schedule (
    name         text not null,
    ranks        integer not null,
    chunks       integer not null,
    microbatches integer not null,
    group_size   integer not null,
    confidence   real not null
) strict;

-- trace time against the host's clocks; rank null: the recorder's own sample.
create table clock_sample (
    id           integer primary key,
    rank         integer references rank,
    trace_ns     integer not null,
    monotonic_ns integer not null,
    unix_ns      integer not null
) strict;

create table diagnostic (
    code     text primary key,
    severity text not null check (severity in ('info', 'data_loss', 'error')),
    count    integer not null,
    example  text not null
) strict, without rowid;

-- Events with their names spelled out.
create view named_event as
select e.id, r.number as rank, l.id as lane, l.name as thread, d.text as domain, s.text as name,
       e.start_ns, e.end_ns, e.end_ns - e.start_ns as duration_ns, e.args
from event e join lane l on l.id = e.lane join rank r on r.id = l.rank join string s on s.id = e.name
left join string d on d.id = e.domain;

-- The pipeline as a grid: what each rank ran, in order.
create view task_grid as
select t.iteration, r.dp, r.pp, row_number() over (partition by t.rank, t.iteration order by t.start_ns) - 1 as position,
       t.stage || t.kind || t.microbatch as action, t.start_ns, t.end_ns - t.start_ns as duration_ns,
       r.number as rank, t.stage, t.chunk, t.microbatch, t.kind, t.end_ns
from task t join rank r on r.id = t.rank;

-- How long each transfer waited for its last member and how long it moved data, and what of both no task of the rank covered:
-- the exposed parts are what `pleat report` shows.
create view exposed_transfer as
with timed as (
    select x.*, min(max(coalesce(m.ready_ns, x.start_ns), x.start_ns), x.end_ns) as moving_from_ns
    from transfer x left join match m on m.id = x.match
)
select x.id, r.number as rank, x.iteration, x.operation, x.dimension, x.bytes, x.start_ns, x.end_ns,
       x.moving_from_ns - x.start_ns as waiting_ns, x.end_ns - x.moving_from_ns as moving_ns,
       x.moving_from_ns - x.start_ns - coalesce((
           select sum(min(t.end_ns, x.moving_from_ns) - max(t.start_ns, x.start_ns)) from task t
           where t.rank = x.rank and t.start_ns < x.moving_from_ns and t.end_ns > x.start_ns), 0) as exposed_waiting_ns,
       x.end_ns - x.moving_from_ns - coalesce((
           select sum(min(t.end_ns, x.end_ns) - max(t.start_ns, x.moving_from_ns)) from task t
           where t.rank = x.rank and t.start_ns < x.end_ns and t.end_ns > x.moving_from_ns), 0) as exposed_moving_ns
from timed x join rank r on r.id = x.rank;
