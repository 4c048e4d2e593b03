create table conversation (
  conversation_id text primary key,
  owner_id        text not null,
  agent_id        text,
  -- With which key of the agent it was begun, or by the reader of which link, where it was.
  agent_key_id    text,
  name            text not null,
  visibility      text not null,
  shared_usage    boolean not null,
  started_at      timestamptz not null,
  -- The revision of the last event with which its owner opened it.
  opened          integer not null default -1
);
create index conversation_of_owner on conversation (owner_id, started_at desc, conversation_id desc) where visibility = 'listed';
create index conversation_by_owner on conversation (owner_id);
create index conversation_by_agent on conversation (agent_id) where agent_id is not null;

create table turn (
  turn_id         text primary key,
  conversation_id text not null,
  index           integer not null,
  superseded      boolean not null default false,
  status          text not null,
  question        text not null,
  request_id      text not null,
  model_id        text not null,
  -- What went with the question: [{"id": …, "filename": …, "mimeType": …}]
  attachments     json not null default '[]',
  response        text not null default '',
  thought         text not null default '',
  sources         json not null default '[]',
  tool_calls      json not null default '[]',
  -- The calls that a paused turn waits for, and whether the owner is to decide on any of them.
  pending         json not null default '[]',
  needs_approval  boolean not null default false,
  waits_until     timestamptz,
  structured      boolean not null default false,
  -- How it came about, where nobody asked.
  origin          json,
  error           text,
  error_code      text,
  -- Which guardrail stopped it: {"stage": …, "categories": […], "checks": […]}
  guardrail       json,
  feedback        text,
  feedback_at     timestamptz,
  sealed          boolean not null default false,
  asked_at        timestamptz not null,
  changed_at      timestamptz not null,
  -- The revision of the event that ended it, which is in the same stream as the openings.
  ended           integer
);
-- Links that show turns as they ended; their tokens are derived from their ids.
create table share (
  share_id        text primary key,
  conversation_id text not null,
  owner_id        text not null,
  token_hash      text not null unique,
  -- What the conversation was called when it was shared.
  title           text not null,
  turn_ids        json not null,
  -- Where its readers may ask: whom, and with what. {"agentId": …, "promptId": …, "sourceId": …, "chunks": …}
  terms           json,
  shared_at       timestamptz not null
);
create index share_of_conversation on share (conversation_id, shared_at);

-- What goes on beside the turns: a job or a monitor, and whether it is active, over or failed.
create table work (
  work_id         text primary key,
  conversation_id text not null,
  kind            text not null,
  status          text not null,
  -- The revision at which that was noted, which is in the same stream as the openings.
  noted           integer not null
);
create index work_of_conversation on work (conversation_id);

create index turn_of_conversation on turn (conversation_id, index);
-- For the mark: what is unfinished, and what ended since an opening.
create index turn_that_counts on turn (conversation_id, ended) where not superseded;
-- There is little anywhere that is not finished.
create index turn_open on turn (asked_at) where ended is null and not superseded;
