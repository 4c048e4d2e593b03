-- The owners of turns, by conversation.
create table conversation (
  conversation_id   text primary key,
  owner_id          text not null
);

-- The known usage of each turn. An empty agent or key means none. `link:` and an id is a link.
create table turn (
  turn_id           text primary key,
  owner_id          text not null,
  agent_id          text not null,
  agent_key_id      text not null,
  prompt_tokens     bigint not null default 0,
  completion_tokens bigint not null default 0
);

-- Headless runs. An empty agent means a chat without an agent.
create table run (
  run_id            text primary key,
  owner_id          text not null,
  agent_id          text not null,
  started           boolean not null default false
);

-- Monitors, whose conditions a model checks.
create table monitor (
  monitor_id        text primary key,
  owner_id          text not null,
  agent_id          text not null
);

-- Usage by the time at which it became known: one request when a turn is asked or a run begins, and tokens when an answer ends,
-- pauses or fails.
create table entry (
  stream            text not null,
  revision          integer not null,
  at                timestamptz not null,
  owner_id          text not null,
  agent_id          text not null,
  agent_key_id      text not null,
  requests          integer not null,
  prompt_tokens     bigint not null,
  completion_tokens bigint not null,
  primary key (stream, revision)
);
create index entry_of_agent on entry (agent_id, at) where agent_id <> '';
create index entry_of_link on entry (agent_key_id, at) where agent_key_id like 'link:%';

-- The same usage by hour (UTC).
create table hour (
  hour              timestamptz not null,
  owner_id          text not null,
  agent_id          text not null,
  agent_key_id      text not null,
  requests          bigint not null,
  prompt_tokens     bigint not null,
  completion_tokens bigint not null,
  primary key (owner_id, hour, agent_id, agent_key_id)
);
create index hour_of_agent on hour (agent_id, hour) where agent_id <> '';
create index hour_of_link on hour (agent_key_id, hour) where agent_key_id like 'link:%';
