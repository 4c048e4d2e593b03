import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { projections } from '../../projections/catalogue.js';
import { researchStream } from '../../src/dialogue/answering/research/research.events.js';
import { workflowRunIdOf, workflowRunStream } from '../../src/dialogue/answering/workflow-runs/run/workflow-run.events.js';
import { conversationStream } from '../../src/dialogue/conversation/conversation.events.js';
import { messageStream } from '../../src/dialogue/journal/message.events.js';
import { Freshness } from '../../src/kernel/event-sourcing/freshness.js';
import { Rebuild } from '../../src/platform/projections/rebuild.js';
import { systemTiming } from '../../src/platform/system-timing.js';
import { askOver } from '../support/asked.js';
import type { Backing } from '../support/backing.js';
import { Client } from '../support/client.js';
import { eventually } from '../support/eventually.js';
import { everythingStored } from '../support/everything-stored.js';
import { researchScript } from '../support/researches.js';
import { call, hang, say } from '../support/scripted-model-server.js';
import { eventsOf } from '../support/turns.js';
import { chain, node } from '../support/workflow-graphs.js';
import { openWorld, replyOf, type World } from '../support/world.js';

/** Part of every text in this story. */
const CANARY = 'canary-f3b1c7';
const CLIENT_TOOL = {
  type: 'function',
  function: { name: 'pick_colour', description: 'Asks the user', parameters: { type: 'object', properties: {} } },
};
const NEVER = { RETENTION_EVERY_SECONDS: '86400' };
const AT_ONCE = { RETENTION_EVERY_SECONDS: '0.2' };

/** How to delete hidden events from a log, and how to find what it still stores. */
type LogOf<B extends Backing> = Readonly<{
  scavenge(backing: B): Promise<void>;
  /** Streams with a text in one of their events, hidden or not. Those that a read of the log shows may be omitted. */
  streamsWith(backing: B, text: string): Promise<readonly string[]>;
}>;

type Fields = Readonly<Record<string, unknown>>;

/** What remains of deleted conversations after their purge: no text, all numbers, and who deleted them. */
export function deletedConversationsStory<B extends Backing>(makeBacking: () => Promise<B>, log: LogOf<B>): void {
  let world: World;
  let backing: B;
  let admin: Client;
  let bearer: Client;
  beforeAll(async () => {
    world = await openWorld(NEVER, async () => (backing = await makeBacking()));
    admin = await world.as('admin', { roles: ['admin'] });
    world.model.always(researchScript([`Query ${CANARY}`], { answer: () => say(`Says ${CANARY}.`) }));
  });
  afterAll(() => world.close());

  const typesOf = async (stream: string) => (await eventsOf(world.backing.store, stream)).map(({ type }) => type);
  /** The token usage of Alice's agents, once the read model is current. */
  const tokens = async () => {
    const freshness = world.service.service.app.get(Freshness, { strict: false });
    await freshness.reached(['analytics'], await world.backing.store.head());
    return (await replyOf(world.alice.post('/api/get_token_analytics', {}))).body;
  };
  const turnsOf = async (conversationId: string): Promise<readonly string[]> =>
    (await eventsOf(world.backing.store, conversationStream(conversationId))).flatMap(({ type, data }) =>
      type === 'TurnAsked' ? [(JSON.parse(data) as { turnId: string }).turnId] : [],
    );
  const ask = async (body: Fields = {}, by = world.alice) =>
    (await askOver('/stream', by, { question: `Why ${CANARY}?`, visibility: 'listed', ...body })).conversationId;
  const remove = (id: string, by = world.alice) => by.post(`/api/delete_conversation?id=${id}`, {});

  describe('deleted conversations of every kind', () => {
    const ids: Record<string, string> = {};
    const turns: Record<string, readonly string[]> = {};
    let link: string;
    let response: string;
    let before: unknown;
    let keyed: { id: string; key: string };

    it('are inaccessible at once, and end when their turns do', async () => {
      ids['plain'] = await ask();
      await ask({ conversation_id: ids['plain'] });
      await world.alice.post('/api/update_conversation_name', { id: ids['plain'], name: `Named ${CANARY}` });
      const shared = await replyOf(world.alice.post('/api/share?isPromptable=false', { conversation_id: ids['plain'] }));
      link = (shared.body as { identifier: string }).identifier;

      ids['research'] = await ask({ agent_id: (await world.agent({ agent_type: 'research' })).id });
      const graph = chain(
        node('start'),
        node('agent', 'a', { prompt_template: `Do ${CANARY}` }),
        node('end', 'end', { output_template: '{{ node_a_output }}' }),
      );
      const workflow = await replyOf(world.alice.post('/api/workflows', { name: 'Steps', ...graph }));
      const workflowId = (workflow.body as { data: { id: string } }).data.id;
      ids['workflow'] = await ask({ agent_id: (await world.agent({ agent_type: 'workflow', workflow: workflowId })).id });

      world.model.next([...say(`${CANARY} ${'x'.repeat(70_000)}`), call('c1', 'pick_colour', {})]);
      ids['paused'] = await ask({ tools: [CLIENT_TOOL] });

      keyed = await world.agent();
      bearer = new Client(world.service.url, { authorization: `Bearer ${keyed.key}` });
      const asked = await replyOf(bearer.post('/v1/responses', { input: `Why ${CANARY}?` }));
      response = (asked.body as { id: string }).id;
      const ofResponse = response.slice('resp_'.length);
      const [created] = await eventsOf(world.backing.store, `response-${ofResponse}`);
      ids['response'] = (JSON.parse(created!.data) as { conversationId: string }).conversationId;

      world.model.next([...say(`${CANARY} begins`), hang]);
      await world.alice.stream({ question: `Run ${CANARY}?`, visibility: 'listed' }, (text) => text.includes('begins'));
      ids['running'] = (await world.alice.json<readonly { id: string }[]>('/api/get_conversations'))[0]!.id;

      before = await tokens();
      for (const [name, id] of Object.entries(ids)) turns[name] = await turnsOf(id);
      for (const id of Object.values(ids)) expect((await remove(id)).status).toBe(200);
      await world.quietHead();
      for (const id of Object.values(ids)) {
        expect(await typesOf(conversationStream(id))).toEqual(expect.arrayContaining(['TurnAsked', 'ConversationDeleted']));
        expect((await world.alice.get(`/api/get_single_conversation?id=${id}`)).status).toBe(404);
      }
      expect((await world.nobody.get(`/api/shared_conversation/${link}`)).status).toBe(404);
    });

    it('are purged by the next pass, with all data stored for them', async () => {
      await world.service.restart(AT_ONCE);
      for (const id of Object.values(ids))
        await eventually(async () => (await typesOf(conversationStream(id))).join() === 'TurnsPurged,ConversationPurged');
      for (const turnId of Object.values(turns).flat())
        await eventually(async () => (await typesOf(messageStream(turnId))).length === 0);
      const [research] = turns['research']!;
      const [run] = turns['workflow']!;
      await eventually(async () => (await typesOf(researchStream(research!))).join() === 'ResearchPurged');
      await eventually(async () => (await typesOf(workflowRunStream(workflowRunIdOf(run!)))).join() === 'WorkflowRunPurged');
      await eventually(async () => (await typesOf(`response-${response.slice('resp_'.length)}`)).join() === 'ResponseExpired');
      expect((await bearer.get(`/v1/responses/${response}`)).status).toBe(404);
    });

    it('leave no text in the log, in files or in any table', async () => {
      await world.quietHead();
      const { sql } = world.service.database;
      // A workflow's graph belongs to its owner, and remains.
      const isOwn = (stream: string) => stream.startsWith('workflow-');
      const tablesOfEvents = new Set(['event_store.event', 'audit_log.event']);
      const search = async () => {
        await log.scavenge(backing);
        const audited = await sql<{ stream: string }[]>`select stream from audit_log.event where data like ${`%${CANARY}%`}`;
        const found = [...audited.map(({ stream }) => stream), ...(await log.streamsWith(backing, CANARY))];
        for await (const { where, text } of everythingStored(world))
          if (text.includes(CANARY) && !tablesOfEvents.has(where)) found.push(where);
        return found.filter((where) => !isOwn(where) && !where.startsWith('workflows.'));
      };
      let left: readonly string[] = [];
      await eventually(async () => (left = await search()).length === 0).catch(() => undefined);
      expect(left).toEqual([]);
    });

    it('keep their token usage, and every read model equals a rebuild from the log', async () => {
      expect(await tokens()).toEqual(before);
      const { sql } = world.service.database;
      for (const projection of projections) {
        const { comparison } = await Rebuild.run(sql, world.backing.store, projection, {
          verifyOnly: true,
          timing: systemTiming,
          signal: new AbortController().signal,
          onProgress: () => undefined,
        });
        expect({ name: projection.name, difference: comparison!.difference }).toEqual({ name: projection.name });
      }
    });

    it('are shown to auditors as purged, with who deleted them', async () => {
      const stream = conversationStream(ids['plain']!);
      let events: readonly Fields[] = [];
      await eventually(async () => {
        ({ events } = await admin.json<{ events: Fields[] }>(`/api/audit/events?stream=${stream}`));
        return events.map(({ type }) => type).join() === 'TurnsPurged,ConversationPurged';
      });
      const actor = `user:${await world.idOf('alice')}`;
      expect(events.at(-1)!['data']).toMatchObject({
        ownerId: await world.idOf('alice'),
        turns: 2,
        started: { actor, credential: 'session-token' },
        deleted: { actor, credential: 'session-token' },
      });
    });

    it('cannot be continued', async () => {
      const conversation_id = ids['plain']!;
      const asked = await replyOf(world.alice.post('/api/answer', { question: 'And?', conversation_id }));
      expect(asked.status).toBe(404);
      for (const by of [world.alice, world.bob]) expect((await remove(conversation_id, by)).status).toBe(404);
      expect(await typesOf(conversationStream(conversation_id))).toEqual(['TurnsPurged', 'ConversationPurged']);
      for (const turnId of turns['plain']!) expect((await world.alice.get(`/api/messages/${turnId}/tail`)).status).toBe(404);
    });
  });

  it('all conversations of a user are deleted together, and those of others remain', async () => {
    const own = [await ask({}, world.bob), await ask({}, world.bob)];
    const other = await ask();
    expect((await world.bob.delete('/api/delete_all_conversations')).status).toBe(200);
    for (const id of own)
      await eventually(async () => (await typesOf(conversationStream(id))).join() === 'TurnsPurged,ConversationPurged');
    expect(await typesOf(conversationStream(other))).toContain('TurnAnswered');
  });
}
