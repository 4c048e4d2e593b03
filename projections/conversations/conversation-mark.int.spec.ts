import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { AnyConversation } from '../../test/support/any-conversation.js';
import { type TestDatabase, testDatabase } from '../../test/support/postgres-for-tests.js';
import { projecting } from '../../test/support/projecting.js';
import { Seeded } from '../../test/support/seeded.js';
import { conversationStream } from '../../src/dialogue/conversation/conversation.events.js';
import { type Mark, markOf } from '../../src/dialogue/conversation/conversation-mark.policy.js';
import { ReadModels } from '../read-models.js';
import { conversations } from './conversations.projection.js';
import { ConversationQueries } from './conversations.queries.js';

const CONVERSATIONS = 40;
/** Enough for several snapshots of each conversation. */
const STEPS = 120;
const MARKS: readonly (Mark | null)[] = ['failed', 'approval', 'running', 'unread', 'monitor', null];
let database: TestDatabase;
let model: Awaited<ReturnType<typeof projecting>>;
beforeAll(async () => {
  database = await testDatabase();
  model = await projecting(conversations, database.sql);
});
afterAll(() => database.close());

it('the mark in the listing equals the mark that open tabs receive, for random conversations', async () => {
  const queries = new ConversationQueries(new ReadModels(database.sql));
  const all = Array.from({ length: CONVERSATIONS }, (_, index) => new AnyConversation(`c${index}`, new Seeded(index)));
  const seen = new Set<Mark | null>();
  for (let step = 0; step < STEPS; step++) {
    for (const each of all) {
      const events = each.step();
      if (events.length > 0) await model.given(conversationStream(each.id), events);
    }
    const listed = new Map((await queries.listed('carol', CONVERSATIONS)).map(({ id, mark }) => [id, mark]));
    for (const { id, state } of all) {
      const mark = markOf(state);
      seen.add(mark);
      expect({ id, step, mark: listed.get(id) ?? null }).toEqual({ id, step, mark });
    }
    const needing = (await queries.needingAttention('carol', CONVERSATIONS)).map(({ id }) => id);
    const urgent = [...listed].filter(([, mark]) => mark === 'failed' || mark === 'approval').map(([id]) => id);
    expect(needing).toEqual(urgent);
  }
  expect([...seen].sort()).toEqual([...MARKS].sort());
  await model.expectSameAfterRebuild();
});
