-- A stream that bounds the number of its events is checked an hour after an append, and not again each hour: only an append can put
-- more of its events outside that bound. Otherwise each stream that ever had such a bound would be read and written for ever.

-- The time of the next check for events to delete, after an append: the time that is noted already, or the time at which the new
-- events may be outside the bounds, whichever is earlier.
create or replace function event_store.next_scavenge(s event_store.stream, now_at timestamptz) returns timestamptz language sql stable as $$
  select least(
    s.scavenge_at,
    now_at + s.max_age_seconds * interval '1 second',
    now_at + case when s.max_count is not null then interval '1 hour' end
  )
$$;

-- Deletes events outside the bounds of their stream, oldest first and at most `events_max`, and returns their number. If some are
-- left, because another process has deleted others or the bounds have changed meanwhile, the stream stays due. Otherwise the time
-- at which the oldest event is too old is noted, if there is one.
create or replace function event_store.scavenge(stream_number bigint, events_max integer) returns integer language plpgsql as $$
declare
  bounds event_store.stream;
  deleted integer;
begin
  select * into bounds from event_store.stream s where s.number = stream_number;
  perform set_config('event_store.scavenging', 'on', true);
  -- The events to delete are found once. A join would search them again for each event of the stream if the statistics of the table
  -- are older than the stream, which takes longer than a statement may.
  delete from event_store.event e
  where e.stream = stream_number and e.revision = any (array(
    select old.revision from event_store.event old
    where old.stream = stream_number
      and (
        old.revision <= bounds.revision - bounds.max_count
        or old.revision < bounds.truncate_before
        or old.at <= now() - bounds.max_age_seconds * interval '1 second'
      )
    order by old.revision limit events_max
  ));
  get diagnostics deleted = row_count;
  perform set_config('event_store.scavenging', 'off', true);
  if deleted < events_max then
    -- While the row is locked, no append and no change of bounds can come between this check and the note.
    perform from event_store.stream s where s.number = stream_number for update;
    update event_store.stream s
    set scavenge_at = (
      select case
        when e.revision < s.truncate_before or e.revision <= s.revision - s.max_count then now()
        else e.at + s.max_age_seconds * interval '1 second'
      end
      from event_store.event e where e.stream = stream_number order by e.revision limit 1
    )
    where s.number = stream_number;
  end if;
  return deleted;
end $$;
