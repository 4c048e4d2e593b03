-- What was done for a user at one request: an answer, or a headless run.
create table trace (
  -- the id of the turn or of the run
  trace_id          text primary key,
  -- chat, api, schedule, follow-up or webhook: what asked
  source            text not null,
  -- the type of the agent
  name              text not null,
  -- running, ok, error or stopped
  status            text not null,
  request_id        text not null,
  message_id        text,
  conversation_id   text,
  -- the run, or the run that the turn goes on from
  activity_id       text,
  workflow_run_id   text,
  -- whose run it is; of a turn it is whose conversation
  user_id           text,
  agent_id          text,
  -- whose agent answers
  agent_owner_id    text,
  model_id          text,
  prompt_tokens     bigint,
  completion_tokens bigint,
  started_at        timestamptz not null,
  ended_at          timestamptz
);
create index trace_of_request on trace (request_id, started_at);
create index trace_of_conversation on trace (conversation_id);
create index trace_of_activity on trace (activity_id, started_at);
create index trace_of_workflow_run on trace (workflow_run_id);
create index trace_by_start on trace (started_at, trace_id);

-- What was done within it.
create table span (
  -- the trace, or the workflow run of a trace
  scope_id    text not null,
  span_id     text not null,
  -- the step of the workflow run that it belongs to
  step        integer,
  -- node or tool
  kind        text not null,
  name        text not null,
  -- running, waiting, or how it ended
  status      text not null,
  started_at  timestamptz not null,
  ended_at    timestamptz,
  primary key (scope_id, span_id)
);
create index span_by_start on span (started_at);

create table conversation (
  conversation_id text primary key,
  owner_id        text not null
);
