-- Runs of workflows. The results of their steps are in their streams.
create table workflow_run (
  workflow_run_id   text primary key,
  -- Both are null for a graph that was never saved.
  workflow_id       text,
  version           integer,
  -- The user for whom it runs, and the owner of the workflow.
  owner_id          text not null,
  workflow_owner_id text not null,
  agent_id          text,
  -- The turn that it answers, with its conversation, or the headless run.
  conversation_id   text,
  turn_id           text,
  run_id            text,
  -- running, completed, failed or stopped
  status            text not null,
  -- Why it ended, and the error that its user sees.
  reason            text,
  error             text,
  -- The number of completed steps.
  steps             integer not null default 0,
  -- The newest step, and whether it waits for decisions.
  node_title        text,
  waits             boolean not null default false,
  started_at        timestamptz not null,
  ended_at          timestamptz
);
create index workflow_run_of_owner on workflow_run (owner_id, started_at desc, workflow_run_id);
create index workflow_run_under_way on workflow_run (owner_id, started_at desc, workflow_run_id) where ended_at is null;
create index workflow_run_over on workflow_run (owner_id, ended_at desc, workflow_run_id desc) where ended_at is not null;
create index workflow_run_of_workflow on workflow_run (workflow_id, workflow_run_id);

-- Deleted workflows. Their runs are purged once they end.
create table deleted_workflow (
  workflow_id text primary key,
  deleted_at  timestamptz not null
);
