import type { Sql } from 'postgres';

/** Rows like those of the projection. Reads do not depend on where rows come from. */
export async function fillReadModel(sql: Sql, ownerId: string, conversations: number, turns: number): Promise<void> {
  await sql`
    insert into conversations.conversation (conversation_id, owner_id, name, visibility, shared_usage, started_at, unread, mark, needs_owner)
    select ${ownerId} || '-' || n, ${ownerId}, 'Conversation number ' || n, 'listed', false, now() - n * interval '1 minute',
      n % 3 = 0, case when n % 1000 = 0 then 'failed' when n % 3 = 0 then 'unread' end, n % 1000 = 0
    from generate_series(1, ${conversations}::integer) n`;
  await sql`
    insert into conversations.turn (turn_id, conversation_id, index, status, question, request_id, model_id, response, sealed,
      asked_at, changed_at, ended)
    select ${ownerId} || '-' || n || '-' || t, ${ownerId} || '-' || n, t, 'answered', 'Why is the sky blue? ' || md5(n || ' ' || t), 'bench', 'paced',
      'The sky is blue because air scatters short waves more than long ones. ' || repeat(md5(t || ' ' || n) || ' ', 8)
        || 'This is answer ' || t || ' of conversation ' || n || '.',
      true, now(), now(), 4 * t + 3
    from generate_series(1, ${conversations}::integer) n, generate_series(0, ${turns - 1}::integer) t`;
}
