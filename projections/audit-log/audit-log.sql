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
  -- Its owner, as an actor.
  owner  text not null
);
create table agent_key (
  -- Callers with the key, as an actor; also of a revoked key.
  actor  text primary key,
  -- The stream of its agent.
  agent  text not null
);
create table access_token (
  -- Callers with the token, as an actor; also of a revoked token.
  actor  text primary key,
  -- Its owner, as an actor.
  owner  text not null
);
create table device (
  -- The device as an actor; also a revoked one.
  actor  text primary key,
  -- Its owner, as an actor.
  owner  text not null
);
create table link (
  -- Readers of the link, as an actor; also of a link that has ended.
  actor  text primary key,
  -- Its owner, as an actor.
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
-- What a user caused of one type: many events of the user are of other types, and many events of the type are of others.
create index event_of_actor_by_type on event (actor, type, position);
create index event_of_correlation on event (correlation_id, position);
-- Finds the first event since a time and the last event before it, although times need not grow along the log.
create index event_of_day on event (((at at time zone 'UTC')::date), position) include (at);
