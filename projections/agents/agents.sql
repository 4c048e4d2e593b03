create table agent (
  agent_id       text primary key,
  owner_id       text not null,
  status         text not null,
  -- all but the schema of structured answers, whose order of keys jsonb would lose
  configuration  jsonb not null,
  json_schema    json,
  created_at     timestamptz not null,
  updated_at     timestamptz not null
);
create index agent_by_owner on agent (owner_id, created_at);

create table agent_key (
  key_hash   text primary key,
  key_id     text not null,
  agent_id   text not null,
  masked     text not null
);
create unique index agent_key_by_agent on agent_key (agent_id);

create table agent_webhook (
  token_hash      text primary key,
  agent_id        text not null,
  -- where the token is kept
  credentials_id  text not null
);
create unique index agent_webhook_by_agent on agent_webhook (agent_id);

create table agent_link (
  agent_id   text primary key,
  link_id    text not null,
  token_hash text not null unique,
  shared_by  text not null,
  shared_at  timestamptz not null
);

-- Which agents of others users have come to by links. It counts while the link is that of the agent.
create table kept_agent (
  user_id   text not null,
  agent_id  text not null,
  link_id   text not null,
  kept_at   timestamptz not null,
  primary key (user_id, agent_id)
);
create index kept_agent_by_agent on kept_agent (agent_id);

create table agent_pin (
  agent_id   text not null,
  user_id    text not null,
  pinned_at  timestamptz not null,
  primary key (user_id, agent_id)
);
create index agent_pin_by_agent on agent_pin (agent_id);

create table agent_use (
  agent_id      text primary key,
  last_used_at  timestamptz not null
);

-- Where agents are sorted into. An agent may name one that is gone: it is in none then.
create table agent_folder (
  folder_id   text primary key,
  owner_id    text not null,
  name        text not null,
  parent_id   text,
  created_at  timestamptz not null,
  updated_at  timestamptz not null
);
create index agent_folder_by_owner on agent_folder (owner_id, name);
create index agent_folder_by_parent on agent_folder (parent_id) where parent_id is not null;
