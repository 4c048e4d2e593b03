-- Runs of agents that deliveries to their webhooks set off. Those of schedules are in the ledgers of these.
create table run (
  run_id      text primary key,
  owner_id    text not null,
  agent_id    text,
  -- queued or running; over: success, failed, timeout, or refused where the quota had no room for it
  status      text not null,
  -- The newest attempt; 0 before the first.
  attempt     integer not null default 0,
  -- What went wrong; of a success, why the answer is only as far as it came.
  error       text,
  -- What it was given, and what the agent answered.
  input       text not null,
  output      text,
  queued_at   timestamptz not null,
  started_at  timestamptz,
  finished_at timestamptz
);
create index run_of_owner on run (owner_id, queued_at desc, run_id);
create index run_under_way on run (owner_id, queued_at desc, run_id) where finished_at is null;
create index run_over on run (owner_id, finished_at desc, run_id desc) where finished_at is not null;
