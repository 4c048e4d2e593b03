create table unsealed_turn (
  turn_id         text primary key,
  conversation_id text not null,
  -- Who took it last; while the turn is paused, whoever ran it until then.
  producer        text,
  -- Until when it waits for decisions; null when it does not.
  expires_at      timestamptz,
  since           timestamptz not null
);
