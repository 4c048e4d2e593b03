import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { conversationCodec } from '../../src/conversation/conversation.codec.js';
import type { ConversationEvent } from '../../src/conversation/conversation.events.js';
import { type Marked, markOf, unmarked, withMarkChangedBy } from '../../src/conversation/conversation-mark.policy.js';
import { decode } from '../../src/kernel/codec.js';
import { type EventStore, LOG_START } from '../../src/kernel/event-store.js';
import { userStream } from '../../src/realtime/user.events.js';
import { onPostgres } from '../support/backing.js';
import { Client } from '../support/client.js';
import { eventually } from '../support/eventually.js';
import { ServiceProcess } from '../support/process.js';
import { say, ScriptedModelServer, wait } from '../support/scripted-model-server.js';
import { Seeded } from '../support/seeded.js';
import { TabForTests } from '../support/tab.js';
import { eventsOf } from '../support/turns.js';

const KILLS = 5;
const QUESTIONS_PER_LIFE = 12;
const TABS = 8;

/** The marks each conversation went through, by what the log says. */
async function marksBy(store: EventStore): Promise<Map<string, unknown[]>> {
  const states = new Map<string, Marked>();
  const marks = new Map<string, unknown[]>();
  for await (const { events } of store.readAll({ after: LOG_START, filter: { categories: ['conversation'] } })) {
    for (const stored of events) {
      const event = decode<ConversationEvent>(conversationCodec, stored);
      if (!event) continue;
      const id = event.data.conversationId;
      const before = states.get(id) ?? unmarked;
      const after = withMarkChangedBy(before, event);
      states.set(id, after);
      if (markOf(after) !== markOf(before)) marks.set(id, [...(marks.get(id) ?? []), markOf(after)]);
    }
  }
  return marks;
}

async function marksTold(store: EventStore): Promise<Map<string, unknown[]>> {
  const told = new Map<string, unknown[]>();
  for (const { data } of await eventsOf(store, userStream('local'))) {
    const { payload } = JSON.parse(data) as { payload: { conversation_id: string; mark: unknown } };
    told.set(payload.conversation_id, [...(told.get(payload.conversation_id) ?? []), payload.mark]);
  }
  return told;
}

it(`a service killed ${KILLS} times tells every mark once and in order, and its connections free their places at once`, async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'verbatim-user-events-'));
  const [backing, model] = await Promise.all([onPostgres(), ScriptedModelServer.start()]);
  model.always([...say('So '), wait(20), ...say('it is.')]);
  const random = new Seeded(11);
  const environment = {
    ...backing.environment,
    DATA_DIR: dataDir,
    OPENAI_BASE_URL: model.url,
    OPENAI_API_KEY: 'scripted',
    SEED_DEMO: 'false',
    LOG_LEVEL: 'error',
    SSE_MAX_CONCURRENT_PER_USER: String(TABS),
  };
  const service = await ServiceProcess.start({ environment, standbys: 1 });
  try {
    for (let kill = 1; kill <= KILLS; kill++) {
      const client = new Client(service.url);
      const tabs = await Promise.all(Array.from({ length: TABS }, () => TabForTests.open(client)));
      expect((await client.get('/api/events')).status).toBe(429);
      const asking = Array.from({ length: QUESTIONS_PER_LIFE }, () =>
        client.stream({ question: 'Why?', visibility: 'listed' }).catch(() => undefined),
      );
      const enough = random.between(1, 2 * QUESTIONS_PER_LIFE);
      await tabs[0]!.has((text) => text.split('\ndata: ').length > enough);
      await service.kill();
      await Promise.all([...asking, ...tabs.map(({ closed }) => closed)]);
      await service.start();
    }
    const isOver = (marks: Map<string, unknown[]>) => [...marks.values()].every((each) => each.at(-1) !== 'running');
    await eventually(async () => isOver(await marksBy(backing.store)), 30_000);
    const expected = await marksBy(backing.store);
    await eventually(async () => {
      const told = await marksTold(backing.store);
      return [...expected].every(([id, marks]) => (told.get(id)?.length ?? 0) >= marks.length);
    }, 30_000);
    expect(expected.size).toBeGreaterThan(KILLS);
    expect(new Map([...(await marksTold(backing.store))].sort())).toEqual(new Map([...expected].sort()));
  } finally {
    await service.close();
    await model.close();
    await backing.close();
    await rm(dataDir, { recursive: true, force: true });
  }
}, 180_000);
