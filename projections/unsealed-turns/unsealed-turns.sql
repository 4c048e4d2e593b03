create table unsealed_turn (
  turn_id         text primary key,
  conversation_id text not null,
  -- The last process that claimed the turn.
  producer        text,
  -- When its pause expires; null if it is not paused.
  expires_at      timestamptz,
  since           timestamptz not null,
  -- The agent that answers, if a user asked and not a caller with the agent's key.
  agent_id        text
);
create index unsealed_turn_by_agent on unsealed_turn (agent_id) where agent_id is not null;
