create table job (
  job_id           text primary key,
  owner_id         text not null,
  conversation_id  text not null,
  turn_id          text not null,
  call_id          text not null,
  agent_id         text,
  tool_name        text not null,
  action_name      text not null,
  has_effects      boolean not null,
  auto_resume      boolean not null,
  -- working, completed, failed, cancelled or lost
  status           text not null,
  cancel_requested boolean not null default false,
  -- What its tool said last of how far it has come, and the end of its words.
  progress         jsonb,
  output_tail      text,
  -- {"sha256": …, "size": …}, of a job that is completed
  result           jsonb,
  -- of one that failed: what went wrong, and whether that was its time
  error            text,
  error_type       text,
  -- model, follow-up or none, once the end was reported
  reported_by      text,
  started_at       timestamptz not null,
  deadline_at      timestamptz not null,
  finished_at      timestamptz
);
create index job_of_conversation on job (conversation_id, started_at desc);
create index job_of_owner on job (owner_id, started_at desc);
create index job_working on job (started_at) where status = 'working';
create index job_finished on job (finished_at);
create index job_unreported on job (finished_at) where reported_by is null and status in ('completed', 'failed', 'lost') and auto_resume;
