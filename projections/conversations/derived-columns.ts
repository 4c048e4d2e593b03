import type { Derivation } from '../projection.js';

/**
 * The sidebar mark of a conversation and whether it has unread content. The rules are those of `conversation-mark.policy.ts`; a
 * spec compares the two.
 */
export const MARK: Derivation = {
  key: 'conversation_id',
  statement: ({ sql, rows, table }) => {
    const turns = sql`from ${table('turn')} as turn where turn.conversation_id = conversation.conversation_id and not superseded`;
    const isNew = sql`ended > opened`;
    // Materialized, because Postgres would otherwise work a mark out again wherever it is named.
    return sql`
      with marked as materialized (
        select conversation.conversation_id,
          (work_failed or exists (select ${turns} and ${isNew} and status <> 'stopped')) as unread,
          case
            when work_failed or (select status = 'failed' and ${isNew} ${turns} order by index desc limit 1) then 'failed'
            when needs_approval then 'approval'
            when job_active or is_running then 'running'
            when exists (select ${turns} and ${isNew} and status = 'answered') then 'unread'
            when monitor_active then 'monitor'
          end as mark
        from ${rows} join ${table('conversation')} as conversation using (conversation_id)
          cross join lateral (
            select coalesce(bool_or(status = 'failed' and noted > opened), false) as work_failed,
              coalesce(bool_or(status = 'active' and kind = 'job'), false) as job_active,
              coalesce(bool_or(status = 'active' and kind = 'monitor'), false) as monitor_active
            from ${table('work')} as work where work.conversation_id = conversation.conversation_id
          ) beside
          cross join lateral (
            select coalesce(bool_or(status = 'paused' and needs_approval), false) as needs_approval,
              coalesce(bool_or(status <> 'paused'), false) as is_running
            ${turns} and ended is null
          ) unfinished
      )
      update ${table('conversation')} as conversation set unread = marked.unread, mark = marked.mark,
        needs_owner = coalesce(marked.mark in ('failed', 'approval'), false)
      from marked where conversation.conversation_id = marked.conversation_id
        and (conversation.unread, conversation.mark) is distinct from (marked.unread, marked.mark)`;
  },
};

/** The newest open link of a conversation. */
export const NEWEST_SHARE: Derivation = {
  key: 'conversation_id',
  statement: ({ sql, rows, table }) => sql`
    update ${table('conversation')} as conversation set share_id = (
      select share.share_id from ${table('share')} as share where share.conversation_id = conversation.conversation_id
      order by shared_at desc, share.share_id limit 1
    ) from ${rows} where conversation.conversation_id = told.conversation_id`,
};
