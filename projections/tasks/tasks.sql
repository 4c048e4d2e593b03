create table task (
  task_id      text primary key,
  kind         text not null,
  owner_id     text not null,
  -- queued, started, progressed, waiting, succeeded or failed
  status       text not null,
  attempt      integer not null default 0,
  percent      integer not null default 0,
  -- {"inline": …} or {"blob": …}, of a task that succeeded
  result       jsonb,
  reason       text,
  due_at       timestamptz,
  queued_at    timestamptz not null,
  changed_at   timestamptz not null
);
create index task_unfinished on task (changed_at) where status not in ('succeeded', 'failed');
create index task_by_owner on task (owner_id, queued_at);
