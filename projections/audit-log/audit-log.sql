create table event (
  position       bigint primary key,
  event_id       text not null,
  stream         text not null,
  revision       bigint not null,
  type           text not null,
  at             timestamptz not null,
  actor          text,
  credential     text,
  correlation_id text,
  causation_id   text,
  data           text not null,
  unique (stream, revision)
);
create table agent (
  stream text primary key,
  -- The actor that its owner is.
  owner  text not null
);
create table agent_key (
  -- The actor that the holder of the key is, also of one that has been revoked.
  actor  text primary key,
  -- The stream of the agent.
  agent  text not null
);
create table access_token (
  -- The actor that the bearer of the token is, also of one that has been revoked.
  actor  text primary key,
  -- The actor that its owner is.
  owner  text not null
);
create table device (
  -- The actor that the device is, also one that has been revoked.
  actor  text primary key,
  -- The actor that its owner is.
  owner  text not null
);
create table link (
  -- The actor that the readers of the link are, also of one that has ended.
  actor  text primary key,
  -- The actor that its owner is.
  owner  text not null
);
create index link_of_owner on link (owner);
create index device_of_owner on device (owner);
create index access_token_of_owner on access_token (owner);
create index agent_of_owner on agent (owner);
create index key_of_agent on agent_key (agent);
create index event_by_id on event (event_id);
create index event_of_stream on event (stream, position);
create index event_of_actor on event (actor, position);
create index event_of_type on event (type, position);
create index event_of_correlation on event (correlation_id, position);
-- Finds the first event since a time and the last event before it, although times need not grow along the log.
create index event_of_day on event (((at at time zone 'UTC')::date), position) include (at);
