-- Runs that webhooks began, with the place of the delivery in the log.
create table webhook_run (
  run_id            text primary key,
  delivery_stream   text not null,
  delivery_revision integer not null,
  -- When it was over.
  since             timestamptz
);
create index webhook_run_over on webhook_run (since, run_id) where since is not null;

-- What scheduled runs said.
create table scheduled_output (
  run_id      text primary key,
  -- Null once the schedule is deleted: nobody looks at its newest runs any more.
  schedule_id text,
  queued_at   timestamptz not null,
  -- When it was said.
  since       timestamptz
);
create index scheduled_output_said on scheduled_output (since, run_id) where since is not null;
create index scheduled_output_newest on scheduled_output (schedule_id, queued_at desc, run_id);

-- Journals of answers that are complete.
create table journal (
  turn_id text primary key,
  since   timestamptz not null
);
create index journal_sealed on journal (since, turn_id);

-- What researches have planned and found, of turns and of runs.
create table research (
  turn_id text primary key,
  -- When the turn or the run was over; until then when the research began.
  since   timestamptz not null
);
create index research_over on research (since, turn_id);

-- What responses are made from beside their journals, since they were created.
create table response (
  response_id text primary key,
  since       timestamptz not null
);
create index response_created on response (since, response_id);
create index response_of_turn on response (left(response_id, 36));

-- What paused turns go on from, where it is kept beside the log and is the turn's own.
create table continuation (
  sha256  text primary key,
  turn_id text not null,
  -- When the turn was over.
  since   timestamptz
);
create index continuation_of_turn on continuation (turn_id);
create index continuation_over on continuation (since, sha256) where since is not null;

-- Sign-ins at tool servers that are not over, with the time at which they are to be.
create table sign_in (
  handshake_id text primary key,
  since        timestamptz not null
);
create index sign_in_overdue on sign_in (since, handshake_id);

-- Conversations that were deleted, whose texts are still there.
create table deleted_conversation (
  conversation_id text primary key,
  since           timestamptz not null
);
create index deleted_conversation_since on deleted_conversation (since, conversation_id);
