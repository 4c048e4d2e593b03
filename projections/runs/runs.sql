-- Runs of agents that webhooks have started. Those of schedules are in the ledgers of the schedules.
create table run (
  run_id      text primary key,
  owner_id    text not null,
  agent_id    text,
  -- queued, running, success, failed, timeout, or refused because the quota was exhausted
  status      text not null,
  -- The newest attempt; 0 before the first.
  attempt     integer not null default 0,
  -- Why the run failed, or why the answer of a successful run is incomplete.
  error       text,
  -- The delivered payload, and the answer of the agent.
  input       text not null,
  output      text,
  queued_at   timestamptz not null,
  started_at  timestamptz,
  finished_at timestamptz
);
create index run_of_owner on run (owner_id, queued_at desc, run_id);
create index run_under_way on run (owner_id, queued_at desc, run_id) where finished_at is null;
create index run_over on run (owner_id, finished_at desc, run_id desc) where finished_at is not null;
