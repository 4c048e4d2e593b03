import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type TestDatabase, testDatabase } from '../../test/support/postgres-for-tests.js';
import { projecting } from '../../test/support/projecting.js';
import { ChangeBatch } from '../../src/platform/projections/change-batch.js';
import { derive } from '../projection.js';
import { conversations } from './conversations.projection.js';
import { MARK } from './derived-columns.js';

const CONVERSATIONS = 2_000;
const DERIVED = 20;
/** How often a mark reads the only turn of its conversation: whether it is new, how it ended, whether it was answered. */
const READS_MAX = 3;
let database: TestDatabase;
beforeAll(async () => {
  database = await testDatabase();
  await projecting(conversations, database.sql);
});
afterAll(() => database.close());

it('reads only the turns of the conversations whose marks it derives, also before Postgres has statistics', async () => {
  await database.sql`
    insert into conversations.conversation (conversation_id, owner_id, name, visibility, shared_usage, started_at)
    select 'c' || n, 'carol', 'Opening hours', 'listed', false, now() from generate_series(1, ${CONVERSATIONS}) as n`;
  await database.sql`
    insert into conversations.turn (turn_id, conversation_id, index, status, question, request_id, model_id, asked_at, changed_at, ended)
    select 't' || n, 'c' || n, 0, 'answered', 'When?', '', '', now(), now(), 1 from generate_series(1, ${CONVERSATIONS}) as n`;
  const { read, marked } = await database.sql.begin(async (tx) => {
    await tx`set local search_path = conversations`;
    const batch = new ChangeBatch(tx);
    for (let n = 1; n <= DERIVED; n++) batch.add(derive(MARK, `c${n}`));
    await batch.sent();
    const [turns] = await tx<{ read: number }[]>`
      select (seq_tup_read + idx_tup_fetch)::integer as read from pg_stat_xact_user_tables
      where schemaname = 'conversations' and relname = 'turn'`;
    return { read: turns!.read, marked: await tx`select from conversation where mark = 'unread' and unread` };
  });
  expect(marked).toHaveLength(DERIVED);
  expect(read).toBeGreaterThanOrEqual(DERIVED);
  expect(read).toBeLessThanOrEqual(DERIVED * READS_MAX);
});
