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
  -- The last progress that its tool has reported, and the end of its output.
  progress         jsonb,
  output_tail      text,
  -- {"sha256": …, "size": …} of the result of a completed job
  result           jsonb,
  -- Why a job has failed, and whether it was a timeout.
  error            text,
  error_type       text,
  -- How the end was reported: model, follow-up or none. Null: not yet.
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
