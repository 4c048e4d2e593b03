-- Whose conversations are, and whose agents they ask.
create table conversation (
  conversation_id   text primary key,
  owner_id          text not null
);

-- Headless runs and monitors, for whom they work, and what set them off.
create table worker (
  worker_id         text primary key,
  owner_id          text not null,
  agent_id          text,
  source            text not null
);

-- Tokens that models have used, at the time when that became known: a row for each turn, each attempt of a run and each check of a monitor.
create table spent (
  -- the turn, the run or the monitor
  spender_id        text not null,
  -- the revision of the event that said so; of a turn 0
  part              integer not null,
  owner_id          text not null,
  agent_id          text,
  -- null: not known
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

-- How often an answer has called a tool.
create table tool_use (
  -- the turn or the run
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
