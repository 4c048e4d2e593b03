create table agent (
  agent_id       text primary key,
  owner_id       text not null,
  status         text not null,
  -- Without the schema of structured answers, because jsonb would change the order of its keys.
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
  -- The credentials that contain the token.
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

-- The agents of others that users have opened by a link. A row counts while its link is the agent's current one.
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

-- An agent may name a folder that was deleted; it is then in none.
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
