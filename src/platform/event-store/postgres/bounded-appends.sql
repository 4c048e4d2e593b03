-- Appends as `append` does, and sets the age limits that the stored appends name for their streams (null: unchanged).
create function event_store.append_bounded(
  append_stream text[], append_expected integer[], append_count integer[],
  event_append integer[], event_revision integer[], event_id uuid[], event_type text[], event_data text[], event_metadata text[],
  append_max_age_seconds integer[]
) returns table (append integer, revision integer, log_position bigint, at timestamptz, written_now boolean, counted boolean)
language plpgsql
set enable_seqscan = off
as $$
#variable_conflict use_column
declare
  done record;
begin
  for done in
    select * from event_store.append(
      append_stream, append_expected, append_count, event_append, event_revision, event_id, event_type, event_data, event_metadata
    )
  loop
    if done.log_position is not null and append_max_age_seconds[done.append] is not null then
      -- Events are deleted once the newest one may be too old. Until then, reads hide those that are.
      update event_store.stream s
      set max_age_seconds = append_max_age_seconds[done.append],
          scavenge_at = coalesce(s.scavenge_at, done.at + append_max_age_seconds[done.append] * interval '1 second')
      where s.name = append_stream[done.append];
    end if;
    return query select done.append, done.revision, done.log_position, done.at, done.written_now, done.counted;
  end loop;
end $$;
