create table schedule (
  schedule_id            text primary key,
  owner_id               text not null,
  agent_id               text,
  origin_conversation_id text,
  created_via            text not null,
  -- active, paused, completed or cancelled
  status                 text not null,
  name                   text,
  instruction            text not null,
  -- once or recurring
  trigger_type           text not null,
  cron                   text,
  run_at                 timestamptz,
  timezone               text not null,
  end_at                 timestamptz,
  tool_allowlist         jsonb not null,
  model_id               text,
  token_budget           bigint,
  failures_in_a_row      integer not null default 0,
  -- Whether the scheduler paused it, after too many failures.
  is_auto_paused         boolean not null default false,
  -- The first undecided slot, also while the schedule is paused.
  next_slot_at           timestamptz,
  last_run_at            timestamptz,
  -- The unfinished run, and when it began.
  open_run_id            text,
  open_run_since         timestamptz,
  -- Earlier slots belong to a former definition or to a pause.
  marked_since           timestamptz not null,
  created_at             timestamptz not null,
  updated_at             timestamptz not null
);
create index schedule_due on schedule (next_slot_at, schedule_id)
  where next_slot_at is not null and (status <> 'paused' or trigger_type = 'once');
create index schedule_running on schedule (open_run_since) where open_run_since is not null;
create index schedule_by_owner on schedule (owner_id, created_at);
create index schedule_by_agent on schedule (agent_id, created_at);
create index schedule_by_chat on schedule (origin_conversation_id, created_at) where origin_conversation_id is not null;

-- The ledger: a row for each decided slot, except those in a pause of a recurring schedule, and for each run on demand.
create table run (
  run_id              text primary key,
  schedule_id         text not null,
  -- pending, running, success, failed or timeout; a slot without a run: skipped, missed or paused
  status              text not null,
  -- cron or manual
  trigger_source      text not null,
  scheduled_for       timestamptz not null,
  started_at          timestamptz,
  finished_at         timestamptz,
  error_type          text,
  error               text,
  output              text,
  is_output_truncated boolean not null default false,
  prompt_tokens       bigint not null default 0,
  generated_tokens    bigint not null default 0,
  -- The conversation and the turn that show its output, if a chat has created the schedule.
  conversation_id     text,
  message_id          text,
  created_at          timestamptz not null,
  updated_at          timestamptz not null
);
create index run_by_schedule on run (schedule_id, scheduled_for desc, run_id);
-- For logs and counts of finished runs, by the time of their end. By schedule, because other users may have many more runs.
create index run_over on run (schedule_id, coalesce(finished_at, started_at, scheduled_for) desc, run_id desc)
  where status in ('success', 'failed', 'timeout', 'skipped', 'missed');
