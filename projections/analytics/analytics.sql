-- The owners of conversations.
create table conversation (
  conversation_id   text primary key,
  owner_id          text not null
);

-- Headless runs and monitors, with the user for whom they work, and what started them.
create table worker (
  worker_id         text primary key,
  owner_id          text not null,
  agent_id          text,
  source            text not null
);

-- Tokens used by models, by the time at which the usage became known: a row for each turn, each attempt of a run and each check of a
-- monitor.
create table spent (
  -- The turn, the run or the monitor.
  spender_id        text not null,
  -- The revision of the event that reported the usage; 0 for a turn.
  part              integer not null,
  owner_id          text not null,
  agent_id          text,
  -- Null: unknown.
  model_id          text,
  -- chat, api, schedule, follow-up, webhook or monitor
  source            text not null,
  at                timestamptz not null,
  prompt_tokens     bigint not null,
  completion_tokens bigint not null,
  primary key (spender_id, part)
);
create index spent_of_owner on spent (owner_id, at);
create index spent_of_agent on spent (agent_id, at) where agent_id is not null;

-- The number of calls of a tool by an answer.
create table tool_use (
  -- The turn or the run.
  spender_id        text not null,
  tool_name         text not null,
  conversation_id   text,
  owner_id          text not null,
  agent_id          text,
  at                timestamptz not null,
  calls             integer not null,
  failures          integer not null,
  primary key (spender_id, tool_name)
);
create index tool_use_of_owner on tool_use (owner_id, at);
create index tool_use_of_agent on tool_use (agent_id, at) where agent_id is not null;
create index tool_use_of_conversation on tool_use (conversation_id) where conversation_id is not null;
