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
create index event_by_id on event (event_id);
create index event_of_stream on event (stream, position);
create index event_of_actor on event (actor, position);
create index event_of_correlation on event (correlation_id, position);
create index event_by_time on event using brin (at);
