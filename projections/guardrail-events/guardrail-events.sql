-- A turn, run or delivery whose texts were checked.
create table record (
  record_id text primary key,
  -- When its last decision was recorded.
  since     timestamptz not null
);
create index record_due on record (since, record_id);

-- The result of each check, without texts.
create table decision (
  record_id   text not null,
  stage       text not null,
  check_name  text not null,
  owner_id    text not null,
  agent_id    text,
  message_id  text,
  request_id  text,
  detector    text not null,
  action      text not null,
  -- triggered or not_evaluated
  outcome     text not null,
  category    text,
  score       double precision,
  match_count integer not null,
  recorded_at timestamptz not null,
  primary key (record_id, stage, check_name)
);
create index decision_of_owner on decision (owner_id, recorded_at desc);
create index decision_of_agent on decision (agent_id, recorded_at desc);
