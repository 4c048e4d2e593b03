import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { MakeBacking } from '../support/backing.js';
import { Client, messageIdIn } from '../support/client.js';
import { eventually } from '../support/eventually.js';
import { askAndLeave } from '../support/left-answers.js';
import { cut, hang, say, ScriptedModelServer } from '../support/scripted-model-server.js';
import { serviceForTests, TEST_SETTINGS, type TestService } from '../support/service.js';
import { TabForTests } from '../support/tab.js';
import { SessionTokens } from '../../src/resources/identity/session-tokens.js';
import { userIdOf } from '../support/user-id.js';

const tokens = new SessionTokens(TEST_SETTINGS.JWT_SECRET_KEY);
const signedIn = async (url: string, userId: string): Promise<Client> =>
  new Client(url, { authorization: `Bearer ${await tokens.issue({ subject: userId, roles: [] })}` });

/** User events: what users are notified of, and who may listen. */
export function userEventsStory(makeBacking: MakeBacking): void {
  let service: TestService;
  let model: ScriptedModelServer;

  beforeAll(async () => {
    model = await ScriptedModelServer.start();
    service = await serviceForTests(
      {
        AUTH_TYPE: 'session_jwt',
        OPENAI_BASE_URL: model.url,
        OPENAI_API_KEY: 'scripted',
        // A title would use the same scripted model and consume a script that is meant for an answer.
        TITLE_MODEL_ID: 'none',
        SSE_MAX_CONCURRENT_PER_USER: '3',
        EVENTS_REPLAY_BUDGET_REQUESTS_PER_WINDOW: '5',
      },
      makeBacking,
    );
  });
  afterAll(async () => {
    await service.close();
    await model.close();
  });

  type Listed = { id: string; mark: string | null; unread: boolean };

  describe('the marks of a conversation', () => {
    it('are sent to an open tab, and the list shows the same', async () => {
      const ann = await signedIn(service.url, 'ann');
      const tab = await TabForTests.open(ann);
      expect(tab.text).toBe(': connected\n\n');
      const marks = () => tab.events.filter(({ type }) => type === 'conversation.mark').map(({ payload }) => payload['mark']);
      const listed = async () => (await ann.json<Listed[]>('/api/get_conversations'))[0]!;

      const { conversationId } = await askAndLeave({ model, service }, ann, { question: 'Why?' }, say('So.'));
      await eventually(() => marks().length === 2);
      expect(marks()).toEqual(['running', 'unread']);
      await eventually(async () => (await listed()).mark === 'unread' && (await listed()).unread);

      const read = await ann.post(`/api/conversations/${conversationId}/read`, {});
      expect([read.status, await read.json()]).toEqual([200, { success: true, cleared: true }]);
      expect(await listed()).toMatchObject({ id: conversationId, mark: null, unread: false });
      expect(await (await ann.post(`/api/conversations/${conversationId}/read`, {})).json()).toEqual({
        success: true,
        cleared: false,
      });

      await askAndLeave({ model, service }, ann, { question: 'And?', conversation_id: conversationId }, [cut]);
      await eventually(() => marks().length === 5);
      expect(marks().slice(2)).toEqual([null, 'running', 'failed']);
      await eventually(async () => (await listed()).mark === 'failed');
      await ann.post(`/api/conversations/${conversationId}/read`, {});

      model.next([...say('Well'), hang]);
      const asking = await ann.stream({ question: 'Well?', conversation_id: conversationId }, (text) => text.includes('Well'));
      await eventually(async () => (await listed()).mark === 'running');
      await ann.post(`/api/messages/${messageIdIn(asking)}/cancel`, {});
      await eventually(() => marks().length === 8);
      expect(marks().slice(5)).toEqual([null, 'running', null]);
      await eventually(async () => (await listed()).mark === null);

      const annsId = await userIdOf(service, 'ann');
      for (const { id, type, ts, user_id, topic, scope, payload } of tab.events) {
        expect({ type, user_id, topic, scope }).toEqual({
          type: 'conversation.mark',
          user_id: annsId,
          topic: `user:${annsId}`,
          scope: { kind: 'conversation', id: conversationId },
        });
        expect(payload['conversation_id']).toBe(conversationId);
        expect(new Date(ts).toISOString()).toBe(ts);
        expect(id).toMatch(new RegExp(`^${Date.parse(ts)}-\\d+$`));
      }
      expect(tab.ids).toEqual(tab.events.map(({ id }) => id));
      await tab.close();
    });

    it('are not sent if the conversation is not listed, nor to other users', async () => {
      const [bob, carl] = [await signedIn(service.url, 'bob'), await signedIn(service.url, 'carl')];
      const [bobsTab, carlsTab] = [await TabForTests.open(bob), await TabForTests.open(carl)];
      await bob.stream({ question: 'Why?', visibility: 'hidden' });
      const told = await bob.stream({ question: 'Why?', visibility: 'listed' });
      const conversationId = told.frames.find(({ data }) => data.type === 'id')!.data['id'];
      await carl.stream({ question: 'Why?', visibility: 'listed' });
      await eventually(() => bobsTab.events.length === 3 && carlsTab.events.length === 3);
      expect(bobsTab.events.map(({ scope }) => scope['id'])).toEqual([conversationId, conversationId, conversationId]);
      expect(carlsTab.events.map(({ scope }) => scope['id'])).not.toContain(conversationId);
      await Promise.all([bobsTab.close(), carlsTab.close()]);
    });
  });

  describe('an ingestion', () => {
    it('is reported from its queueing to its end', async () => {
      const dora = await signedIn(service.url, 'dora');
      const tab = await TabForTests.open(dora);
      const token = await tokens.issue({ subject: 'dora', roles: [] });
      const upload = async (name: string, filename: string, content: string) => {
        const form = new FormData();
        form.append('name', name);
        form.append('user', 'dora');
        form.append('file', new Blob([content]), filename);
        const headers = { authorization: `Bearer ${token}` };
        const response = await fetch(`${service.url}/api/upload`, { method: 'POST', body: form, headers });
        return (await response.json()) as { source_id: string };
      };
      const { source_id } = await upload('Guide', 'guide.md', '# How it works\n\nThe log keeps everything.');
      const isOver = (id: string) => () =>
        tab.events.some(({ type, scope }) => /completed|failed/.test(type) && scope['id'] === id);
      await eventually(isOver(source_id));
      const about = { source_id, job_name: 'Guide', filename: 'guide.md', operation: 'upload' };
      const [queued, ...rest] = tab.events;
      expect(queued).toMatchObject({ type: 'source.ingest.queued', scope: { kind: 'source', id: source_id }, payload: about });
      expect(rest.at(-1)).toMatchObject({
        type: 'source.ingest.completed',
        payload: { ...about, limited: false, tokens: expect.any(Number) },
      });
      for (const { type, payload } of rest.slice(0, -1)) {
        expect(type).toBe('source.ingest.progress');
        expect(payload).toMatchObject({ source_id, total: 1, stage: expect.stringMatching(/^(parsing|embedding)$/) });
      }

      const { source_id: empty } = await upload('Empty', 'empty.md', '  ');
      await eventually(isOver(empty));
      expect(tab.events.at(-1)).toMatchObject({
        type: 'source.ingest.failed',
        payload: { source_id: empty, job_name: 'Empty', error: expect.any(String) },
      });
      await tab.close();
    });
  });

  describe('a connection', () => {
    it('requires a user', async () => {
      expect((await fetch(`${service.url}/api/events`)).status).toBe(401);
    });

    it('counts towards the limit of its user until it is closed', async () => {
      const eve = await signedIn(service.url, 'eve');
      const tabs = await Promise.all([1, 2, 3].map(() => TabForTests.open(eve)));
      const refused = await eve.get('/api/events');
      expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '5']);
      expect(await refused.json()).toEqual({
        success: false,
        message: 'Too many concurrent SSE connections',
        error: 'too_many_connections',
      });
      await (await TabForTests.open(await signedIn(service.url, 'fred'))).close();
      await tabs[1]!.close();
      await eventually(async () => {
        const tab = await TabForTests.open(eve).catch(() => undefined);
        if (tab) tabs.push(tab);
        return tab !== undefined;
      });
      await service.restart();
      const again = await Promise.all([1, 2, 3].map(() => TabForTests.open(eve)));
      await Promise.all([...tabs, ...again].map((tab) => tab.close()));
    });

    it('has a limited number of replays per time window, and is told when to retry', async () => {
      const gus = await signedIn(service.url, 'gus');
      const begun = Date.now();
      for (let asked = 0; asked < 5; asked++) await (await TabForTests.open(gus, '0-0')).close();
      await eventually(async () => (await gus.get('/api/events', { 'last-event-id': '0-0' })).status === 429);
      const refused = await gus.get('/api/events', { 'last-event-id': '0-0' });
      expect(refused.status).toBe(429);
      const seconds = Number(refused.headers.get('retry-after'));
      expect(seconds).toBeGreaterThanOrEqual(Math.floor(60 - (Date.now() - begun) / 1000));
      expect(seconds).toBeLessThanOrEqual(60);
      expect(await refused.json()).toMatchObject({ message: 'Replay budget exhausted', error: 'replay_budget_exhausted' });
      await (await TabForTests.open(gus)).close();
    });
  });

  describe('a service without user events', () => {
    it('reports at once that user events are disabled', async () => {
      await service.restart({ ENABLE_SSE_PUSH: 'false' });
      const hal = await signedIn(service.url, 'hal');
      const response = await hal.get('/api/events');
      expect([response.status, await response.text()]).toEqual([200, ': connected\n\n: push_disabled\n\n']);
      const { frames } = await hal.stream({ question: 'Why?', visibility: 'listed' });
      const { id } = frames.at(-2)!.data;
      const renamed = await hal.post('/api/update_conversation_name', { id, name: 'While nobody was told' });
      // Once the reaction is enabled again, later events are sent.
      const position = BigInt(renamed.headers.get('x-position')!);
      await eventually(async () => {
        const { reactions } = await hal.json<{ reactions: Record<string, { position: string }> }>('/api/ready');
        return BigInt(reactions['publish-user-events']!.position) >= position;
      });
      await service.restart();
      await (await TabForTests.open(hal)).close();
      const tab = await TabForTests.open(hal, '0-0');
      await hal.stream({ question: 'Why now?', visibility: 'listed' });
      await eventually(() => tab.events.length === 3);
      expect(tab.events.map(({ payload }) => payload['mark'])).toEqual(['running', 'unread', null]);
      expect(tab.ids[0]).toMatch(/-0$/);
      await tab.close();
    });

    it('has no such route as a plain server, for any caller', async () => {
      await service.restart({ SERVER_MODE: 'plain' });
      expect((await (await signedIn(service.url, 'ann')).get('/api/events')).status).toBe(404);
      expect((await fetch(`${service.url}/api/events`)).status).toBe(404);
      expect((await fetch(`${service.url}/mcp`, { method: 'POST' })).status).toBe(404);
    });
  });
}
