import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { conversationCodec } from '../../src/dialogue/conversation/conversation.codec.js';
import type { ConversationEvent } from '../../src/dialogue/conversation/conversation.events.js';
import { decode } from '../../src/kernel/event-sourcing/codec.js';
import { type EventStore, LOG_START } from '../../src/kernel/event-sourcing/event-store.js';
import type { Notification, NotificationRule } from '../../src/kernel/event-sourcing/notifications.js';
import { conversationNotifications } from '../../src/dialogue/conversation/conversation.notifications.js';
import { userStream } from '../../src/views/notifications/user.events.js';
import { onPostgres } from '../support/backing.js';
import { Client, type Streamed } from '../support/client.js';
import { eventually } from '../support/eventually.js';
import { ServiceProcess } from '../support/process.js';
import { call, say, ScriptedModelServer, wait } from '../support/scripted-model-server.js';
import { Seeded } from '../support/seeded.js';
import { TabForTests } from '../support/tab.js';
import { eventsOf } from '../support/turns.js';

const KILLS = 5;
const QUESTIONS_PER_LIFE = 12;
const TABS = 8;

type Told = Pick<Notification, 'type' | 'payload'>;

/** The notifications that are due for each conversation, derived from the log. */
async function newsBy(store: EventStore): Promise<Map<string, Told[]>> {
  const [{ initial, evolve, noticesOf }] = conversationNotifications as [NotificationRule];
  const states = new Map<string, unknown>();
  const all = new Map<string, Told[]>();
  for await (const { events } of store.readAll({ after: LOG_START, filter: { categories: ['conversation'] } })) {
    for (const stored of events) {
      const event = decode<ConversationEvent>(conversationCodec, stored);
      if (!event) continue;
      const id = event.data.conversationId;
      const before = states.get(id) ?? initial;
      const after = evolve(before, event);
      states.set(id, after);
      const news = noticesOf(event, before, after).flatMap((notice) => ('notification' in notice ? [notice.notification] : []));
      all.set(id, [...(all.get(id) ?? []), ...news.map(({ type, payload }) => ({ type, payload }))]);
    }
  }
  return all;
}

async function told(store: EventStore): Promise<Map<string, Told[]>> {
  const all = new Map<string, Told[]>();
  for (const { data } of await eventsOf(store, userStream('local'))) {
    const { type, scope, payload } = JSON.parse(data) as Told & { scope: { id: string } };
    all.set(scope.id, [...(all.get(scope.id) ?? []), { type, payload }]);
  }
  return all;
}

const lastMark = (news: readonly Told[]): unknown => (news.findLast(isMark)?.payload as { mark: unknown } | undefined)?.mark;
const isMark = ({ type }: Told): boolean => type === 'conversation.mark';
const countOf = (news: Map<string, Told[]>, type: string): number =>
  [...news.values()].flat().filter((each) => each.type === type).length;

/** An agent whose model asks to write a note, which its owner has to approve. */
async function agentWithNotes(client: Client): Promise<string> {
  const notes = { name: 'notes', displayName: 'Notes', description: 'Notes', config: {}, status: true };
  const { id } = (await (await client.post('/api/create_tool', notes)).json()) as { id: string };
  const { tools } = await client.json<{ tools: { id: string; actions: Record<string, unknown>[] }[] }>('/api/get_tools');
  const actions = tools.find((tool) => tool.id === id)!.actions.map((action) => ({ ...action, require_approval: true }));
  await client.post('/api/update_tool_actions', { id, actions });
  const agent = { name: 'Guide', description: 'Knows', chunks: 4, retriever: 'classic', prompt_id: 'default', tools: [id] };
  return ((await (await client.post('/api/create_agent', { ...agent, status: 'published' })).json()) as { id: string }).id;
}

/** The next request after a pause: approved, denied, or a new question. */
function nextFor(paused: Streamed, index: number, agentId: string): object {
  const pending = paused.frames.find(({ data }) => data.type === 'tool_calls_pending')!.data['data'];
  const [waiting] = (pending as { pending_tool_calls: { call_id: string }[] }).pending_tool_calls;
  const about = { conversation_id: paused.frames.find(({ data }) => data.type === 'id')!.data['id'], agent_id: agentId };
  if (index % 3 === 2) return { ...about, question: 'And else?' };
  const decision = index % 3 === 0 ? 'approved' : 'denied';
  return { ...about, tool_actions: [{ call_id: waiting!.call_id, decision }] };
}

it(`a service killed ${KILLS} times sends every mark and every approval once and in order, and its connections free their slots at once`, async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'verbatim-user-events-'));
  const [backing, model] = await Promise.all([onPostgres(), ScriptedModelServer.start()]);
  let calls = 0;
  model.always(({ tools, messages }) =>
    tools && messages.at(-1)!.role === 'user'
      ? [...say('Let me '), wait(20), call(`call-${++calls}`, 'note_overwrite', { text: 'It is so.' })]
      : [...say('So '), wait(20), ...say('it is.')],
  );
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
  let waiting: Streamed[] = [];
  try {
    const agentId = await agentWithNotes(new Client(service.url));
    for (let kill = 1; kill <= KILLS; kill++) {
      const client = new Client(service.url);
      const tabs = await Promise.all(Array.from({ length: TABS }, () => TabForTests.open(client)));
      expect((await client.get('/api/events')).status).toBe(429);
      const asking = Array.from({ length: QUESTIONS_PER_LIFE }, (_, index) =>
        client
          .stream({ question: 'Why?', visibility: 'listed', ...(index % 2 === 0 ? { agent_id: agentId } : {}) })
          .catch(() => undefined),
      );
      // Pauses from before the last kill are decided now, or superseded by a new question.
      const deciding = waiting.map((paused, index) => client.stream(nextFor(paused, index, agentId)).catch(() => undefined));
      const enough = random.between(1, 2 * QUESTIONS_PER_LIFE);
      await tabs[0]!.has((text) => text.split('\ndata: ').length > enough);
      await service.kill();
      const asked = await Promise.all(asking);
      waiting = asked.filter((each) => each !== undefined && each.text.includes('tool_calls_pending')) as Streamed[];
      await Promise.all([...deciding, ...tabs.map(({ closed }) => closed)]);
      await service.start();
    }
    const client = new Client(service.url);
    const last = await client.stream({ question: 'Why?', visibility: 'listed', agent_id: agentId });
    await client.stream(nextFor(last, 0, agentId));
    const isOver = (news: Map<string, Told[]>) => [...news.values()].every((each) => lastMark(each) !== 'running');
    await eventually(async () => isOver(await newsBy(backing.store)));
    const expected = await newsBy(backing.store);
    await eventually(async () => {
      const all = await told(backing.store);
      return [...expected].every(([id, news]) => (all.get(id)?.length ?? 0) >= news.length);
    });
    expect(expected.size).toBeGreaterThan(KILLS);
    expect(countOf(expected, 'tool.approval.required')).toBeGreaterThan(0);
    expect(countOf(expected, 'tool.approval.cleared')).toBeGreaterThan(0);
    expect(new Map([...(await told(backing.store))].sort())).toEqual(new Map([...expected].sort()));
  } finally {
    await service.close();
    await model.close();
    await backing.close();
    await rm(dataDir, { recursive: true, force: true });
  }
}, 600_000);
