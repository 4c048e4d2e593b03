-- Runs of workflows. What their steps did is in their streams.
create table workflow_run (
  workflow_run_id   text primary key,
  -- null, with its version: a graph that was never saved
  workflow_id       text,
  version           integer,
  -- for whom it runs, and whose workflow it is
  owner_id          text not null,
  workflow_owner_id text not null,
  agent_id          text,
  -- of a turn its conversation and the turn, else the headless run
  conversation_id   text,
  turn_id           text,
  run_id            text,
  -- running, completed, failed or stopped
  status            text not null,
  -- why it is over, and what its user was told of it
  reason            text,
  error             text,
  -- how many steps it has completed
  steps             integer not null default 0,
  -- the newest step, and whether it waits for decisions
  node_title        text,
  waits             boolean not null default false,
  started_at        timestamptz not null,
  ended_at          timestamptz
);
create index workflow_run_of_owner on workflow_run (owner_id, started_at desc, workflow_run_id);
create index workflow_run_under_way on workflow_run (owner_id, started_at desc, workflow_run_id) where ended_at is null;
create index workflow_run_over on workflow_run (owner_id, ended_at desc, workflow_run_id desc) where ended_at is not null;
create index workflow_run_of_workflow on workflow_run (workflow_id, workflow_run_id);

-- Workflows that are gone: their runs go as soon as they are over.
create table deleted_workflow (
  workflow_id text primary key,
  deleted_at  timestamptz not null
);
