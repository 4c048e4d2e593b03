create table task (
  task_id      text primary key,
  kind         text not null,
  owner_id     text not null,
  -- queued, started, progressed, waiting, succeeded or failed
  status       text not null,
  attempt      integer not null default 0,
  percent      integer not null default 0,
  -- {"inline": …} or {"blob": …}: the result of a task that succeeded
  result       jsonb,
  reason       text,
  due_at       timestamptz,
  queued_at    timestamptz not null,
  changed_at   timestamptz not null
);
-- Queued tasks by owner, so that only the first ones of a long backlog are read.
create index task_queued on task (owner_id, changed_at, task_id) where status = 'queued';
create index task_waiting on task (due_at) where status = 'waiting';
create index task_started on task (changed_at, task_id) where status in ('started', 'progressed');
