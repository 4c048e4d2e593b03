create table unsealed_turn (
  turn_id         text primary key,
  conversation_id text not null,
  producer        text,
  since           timestamptz not null
);
