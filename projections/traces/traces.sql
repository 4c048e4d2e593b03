-- The work for one request: an answer, or a headless run.
create table trace (
  -- The id of the turn or of the run.
  trace_id          text primary key,
  -- How it was started: chat, api, schedule, follow-up or webhook.
  source            text not null,
  -- The type of the agent.
  name              text not null,
  -- running, ok, error or stopped
  status            text not null,
  request_id        text not null,
  message_id        text,
  conversation_id   text,
  -- The headless run, or the one that the turn continues.
  activity_id       text,
  workflow_run_id   text,
  -- The owner of the run, or of the turn's conversation.
  user_id           text,
  agent_id          text,
  -- The owner of the agent.
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

-- The steps and tool calls of a trace.
create table span (
  -- The trace, or the workflow run of a trace.
  scope_id    text not null,
  span_id     text not null,
  -- The step of the workflow run to which it belongs.
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
