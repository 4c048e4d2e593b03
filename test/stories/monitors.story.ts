import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { newId } from '../../src/kernel/ids.js';
import type { MakeBacking } from '../support/backing.js';
import { type Client, conversationIdIn } from '../support/client.js';
import { eventually } from '../support/eventually.js';
import { answerJson, LocalServer } from '../support/local-server.js';
import { call, say } from '../support/scripted-model-server.js';
import { TabForTests } from '../support/tab.js';
import { openWorld, type Reply, replyOf, type World } from '../support/world.js';

type Fields = Record<string, unknown>;
type View = Fields & { monitor_id: string; status: string; check_count: number };
type Query = { prompt: string; response: string; metadata?: Fields };
const MONITORS_MAX = 3;
const NOT_FOUND = { success: false, message: 'Monitor not found' };

/** Chats have things outside watched, and go on when they happen. */
export function monitorsStory(makeBacking: MakeBacking): void {
  let world: World;
  let alice: Client;
  let shop: LocalServer;
  let price: string;
  let calls = 0;

  beforeAll(async () => {
    shop = await LocalServer.started();
    const settings = {
      ALLOWED_PRIVATE_HOSTS: shop.host,
      MONITOR_MAX_ACTIVE_PER_USER: String(MONITORS_MAX),
      SCHEDULE_AUTOPAUSE_FAILURES: '1',
    };
    world = await openWorld(settings, makeBacking);
    alice = world.alice;
  });
  afterAll(async () => {
    await world.close();
    await shop.close();
  });
  beforeEach(() => {
    world.model.reset();
    price = '95.10';
    shop.answer = (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/html' }).end(`<title>Shop</title><p>Price: $${price}</p>`);
    };
  });

  const send = async (method: 'GET' | 'POST' | 'PUT', path: string, client: Client = alice): Promise<Reply> => {
    if (method === 'GET') return replyOf(client.get(path));
    return replyOf(method === 'POST' ? client.post(path, {}) : client.put(path, {}));
  };
  /** What a call of the tool comes to, in a new chat or in one there is. */
  const use = async (action: string, args: Fields, more: Fields = {}, client: Client = alice) => {
    world.model.next([call(`call-${++calls}`, action, args)], say('Done.'));
    const asked = await client.stream({ question: 'Do it.', visibility: 'listed', ...more });
    const shown = world.model.completions.at(-1)!.body.messages.findLast(({ role }) => role === 'tool');
    return { conversationId: conversationIdIn(asked), text: String(shown?.content) };
  };
  const page = () => ({ type: 'webpage', url: `${shop.url}/acme` });
  const below = { type: 'threshold', op: '<', value: 90 };
  const create = async (fields: Fields = {}, more: Fields = {}, client: Client = alice) => {
    const { conversationId, text } = await use(
      'monitor_create',
      { description: 'ACME gets cheap', source: page(), ...fields },
      more,
      client,
    );
    if (text.startsWith('Error')) throw new Error(text);
    return { conversationId, monitor: JSON.parse(text) as View & { current: string; notes?: string[] } };
  };
  const viewOf = async (id: string) => ((await send('GET', `/api/monitors/${id}`)).body as { monitor: View }).monitor;
  const listed = async (query = '', client: Client = alice) =>
    ((await send('GET', `/api/monitors${query}`, client)).body as { monitors: View[] }).monitors;
  const steer = (id: string, action: string, client: Client = alice) => send('POST', `/api/monitors/${id}/${action}`, client);
  /** A monitor that is resumed looks at once. */
  const look = async (id: string) => {
    const { check_count: before } = await viewOf(id);
    await steer(id, 'pause');
    await steer(id, 'resume');
    await eventually(async () => (await viewOf(id)).check_count > before);
    return viewOf(id);
  };
  const queries = async (id: string) => (await alice.json<{ queries: Query[] }>(`/api/get_single_conversation?id=${id}`)).queries;
  const endAll = async () => {
    for (const { monitor_id: id } of await listed('?status=live')) await steer(id, 'cancel');
  };

  describe('a monitor', () => {
    it('is shown as it was agreed on, with what it saw first', async () => {
      const { conversationId, monitor } = await create({
        check: below,
        on_match: 'Tell me.',
        interval: '1m',
        expires_in: '90d',
        max_wakes: 2,
      });
      const { current, notes, ...view } = monitor;
      expect([current, notes]).toEqual([
        '95.1',
        [expect.stringMatching(/raised to 5 minutes/), expect.stringMatching(/30 days/)],
      ]);
      expect(view).toEqual({
        monitor_id: expect.any(String),
        description: 'ACME gets cheap',
        status: 'active',
        source_type: 'webpage',
        watching: `${shop.url}/acme`,
        target: `${shop.url}/acme`,
        check: below,
        condition: null,
        on_match: 'Tell me.',
        interval: '5 minutes',
        interval_seconds: 300,
        conversation_id: conversationId,
        agent_id: null,
        created_at: expect.any(String),
        expires_at: expect.any(String),
        next_check_at: expect.any(String),
        last_checked_at: expect.any(String),
        last_changed_at: null,
        last_woken_at: null,
        check_count: 0,
        wake_count: 0,
        max_wakes: 2,
        wakes_left: 2,
        last_error: null,
        paused_reason: null,
        approval_required: false,
        links: [],
      });
      expect(await listed()).toEqual([view]);
      expect(await listed(`?conversation_id=${conversationId}`)).toEqual([view]);
      expect(await listed(`?conversation_id=${newId()}`)).toEqual([]);
      expect((await use('monitor_list', {}, { conversation_id: conversationId })).text).toContain(view.monitor_id);
      expect((await use('monitor_list', {})).text).toBe('{"monitors":[]}');
      await endAll();
    });

    it('is a ring at its chat in the list, the least that there is to say, for as long as it watches', async () => {
      const { conversationId, monitor } = await create({ check: below });
      const mark = async () =>
        (await alice.json<{ id: string; mark: string | null }[]>('/api/get_conversations')).find(
          ({ id }) => id === conversationId,
        )?.mark;
      await eventually(async () => (await mark()) === 'unread');
      await send('POST', `/api/conversations/${conversationId}/read`);
      await eventually(async () => (await mark()) === 'monitor');
      await steer(monitor.monitor_id, 'pause');
      await eventually(async () => (await mark()) === null);
      await steer(monitor.monitor_id, 'resume');
      await eventually(async () => (await mark()) === 'monitor');
      await steer(monitor.monitor_id, 'cancel');
      await eventually(async () => (await mark()) === null);
    });

    it('wakes its chat when what it waits for happens, once, and is over', async () => {
      const tab = await TabForTests.open(alice);
      const { conversationId, monitor } = await create({ check: below, on_match: 'Tell me.' });
      const { monitor_id: id } = monitor;
      expect(await look(id)).toMatchObject({ status: 'active', wake_count: 0 });
      price = '89.50';
      world.model.next(say('It is cheap now.'));
      await steer(id, 'pause');
      await steer(id, 'resume');
      await eventually(async () => (await viewOf(id)).status === 'completed');
      expect(await viewOf(id)).toMatchObject({
        wake_count: 1,
        wakes_left: 0,
        last_woken_at: expect.any(String),
        next_check_at: null,
      });
      await eventually(async () => (await queries(conversationId)).at(-1)?.response === 'It is cheap now.');
      const [, woken, ...others] = await queries(conversationId);
      expect([woken!.metadata, others]).toEqual([{ wake: { source: 'monitor', ref_id: id, dedupe_key: `monitor:${id}:1` } }, []]);
      expect(woken!.prompt).toMatch(/ACME gets cheap.*Tell me\..*The value is now 89\.5 \(< 90\)/s);
      const told = tab.events.filter(({ scope }) => scope.id === id).map(({ type, payload }) => [type, payload['status']]);
      expect(told[0]).toEqual(['monitor.updated', 'active']);
      expect(told.at(-1)).toEqual(['monitor.updated', 'completed']);
      for (const action of ['pause', 'resume', 'cancel']) {
        const done = { pause: 'paused', resume: 'resumed', cancel: 'cancelled' }[action];
        const { status, body } = await steer(id, action);
        expect([status, body]).toEqual([409, { success: false, message: `This monitor can't be ${done} now` }]);
      }
      expect([(await listed()).length, (await listed('?status=all'))[0]]).toEqual([
        0,
        expect.objectContaining({ monitor_id: id }),
      ]);
      await tab.close();
    });

    it('asks a model where there is a condition, and leaves the chat alone where that does not hold', async () => {
      const { conversationId, monitor } = await create({ condition: 'It is sold out.' });
      price = '94.00';
      world.model.next(say('{"holds": false, "reason": "There is some left."}'));
      expect(await look(monitor.monitor_id)).toMatchObject({
        status: 'active',
        wake_count: 0,
        last_changed_at: expect.any(String),
      });
      const [system, user] = world.model.completions.at(-1)!.body.messages;
      expect([String(system!.content), String(user!.content)]).toEqual([
        expect.stringContaining('no instructions'),
        expect.stringMatching(/It is sold out\..*Price: \$94\.00/s),
      ]);
      price = 'sold out';
      world.model.next(say('{"holds": true, "reason": "Sold out."}'), say('Gone.'));
      await look(monitor.monitor_id);
      await eventually(async () => (await queries(conversationId)).at(-1)?.response === 'Gone.');
    });

    it('pauses itself when there is nothing to be checked any more, and says so in its chat', async () => {
      const { conversationId, monitor } = await create();
      shop.answer = (_request, response) => answerJson(response, {}, 404);
      world.model.next(say('It is gone.'));
      expect(await look(monitor.monitor_id)).toMatchObject({
        status: 'paused',
        paused_reason: expect.stringMatching(/404/),
        last_error: expect.stringMatching(/404/),
        next_check_at: null,
      });
      await eventually(async () => (await queries(conversationId)).at(-1)?.response === 'It is gone.');
      expect((await queries(conversationId))[1]!.metadata).toMatchObject({ wake: { source: 'monitor_paused' } });
      expect([(await listed()).length, (await listed('?status=live')).length]).toEqual([0, 1]);
      await endAll();
    });

    it('with a pattern that has no end holds up nobody, and pauses itself', async () => {
      const { conversationId, monitor } = await create({ check: { type: 'regex', pattern: '(a+)+$' } });
      price = `${'a'.repeat(60)}!`;
      world.model.next(say('Ah.'));
      await steer(monitor.monitor_id, 'pause');
      await steer(monitor.monitor_id, 'resume');
      await eventually(async () => (await viewOf(monitor.monitor_id)).status === 'paused');
      expect(await viewOf(monitor.monitor_id)).toMatchObject({ paused_reason: 'The pattern takes too long on this text.' });
      await eventually(async () => (await queries(conversationId)).at(-1)?.response === 'Ah.');
      await endAll();
    });

    it('goes with its chat', async () => {
      const { conversationId, monitor } = await create();
      expect((await alice.post(`/api/delete_conversation?id=${conversationId}`, {})).status).toBe(200);
      await eventually(async () => (await viewOf(monitor.monitor_id)).status === 'cancelled');
    });

    it('is one of so many of its user', async () => {
      for (let made = 0; made < MONITORS_MAX; made++) await create();
      expect((await use('monitor_create', { description: 'More', source: page() })).text).toMatch(
        /^Error: you have 3 monitors already/,
      );
      await endAll();
      await create();
      await endAll();
    });
  });

  describe('a model', () => {
    it.each<[string, Fields, RegExp]>([
      ['without a description', { description: ' ' }, /description is required/],
      ['for nothing in particular', { source: { type: 'thing' } }, /source/],
      ['for an address that is none', { source: { type: 'webpage', url: 'file:///etc/passwd' } }, /source\.url must be/],
      [
        'for an address with a password',
        { source: { type: 'webpage', url: 'https://a:b@c.example' } },
        /must not hold a user name/,
      ],
      ['for a place inside', { source: { type: 'webpage', url: 'http://127.0.0.1:1/' } }, /cannot be watched/],
      ['for a tool that is not there', { source: { type: 'tool', action: 'get_all' } }, /no such tool and action/],
      ['for what may change something', { source: { type: 'tool', action: 'memory_create' } }, /only reads/],
      ['for a source that is not there', { source: { type: 'ingest', source_id: newId() } }, /source of the user/],
      ['with a broken pattern', { check: { type: 'regex', pattern: '(' } }, /no regular expression/],
      ['with a path to nothing', { check: { type: 'threshold', value_path: 'a.b', op: '<', value: 1 } }, /no number/],
      ['with an interval in words', { interval: 'often' }, /interval must be/],
      ['with no wakes', { max_wakes: 0 }, /max_wakes/],
    ])('is told why it gets no monitor %s, and no place is taken', async (_, fields, why) => {
      const { text } = await use('monitor_create', { description: 'Anything', source: page(), ...fields });
      expect(text).toMatch(/^Error/);
      expect(text).toMatch(why);
    });

    it('watches what a tool of the user reads', async () => {
      const source = { type: 'tool', action: 'memory_view', arguments: { path: '/' } };
      const { monitor } = await create({ source });
      expect(monitor).toMatchObject({ source_type: 'tool', watching: 'memory: memory_view', current: 'The memory is empty.' });
      await endAll();
    });

    it('ends the monitors of its own chat and no others', async () => {
      const { conversationId, monitor } = await create();
      const { monitor_id: id } = monitor;
      expect((await use('monitor_cancel', { monitor_id: id })).text).toBe('Error: Monitor not found');
      expect((await use('monitor_cancel', { monitor_id: id }, { conversation_id: conversationId })).text).toContain('cancelled');
      expect((await viewOf(id)).status).toBe('cancelled');
    });

    it('gets none for whoever holds an agent’s key', async () => {
      const { key } = await world.agent();
      const { text } = await use('monitor_create', { description: 'More', source: page() }, { api_key: key }, world.nobody);
      expect(text).not.toContain('monitor_id');
      expect(await listed()).toEqual([]);
    });
  });

  it('monitors are nobody else’s business, and not that of programs', async () => {
    const { monitor } = await create();
    const { monitor_id: id } = monitor;
    const { key } = await world.agent();
    const paths = [['GET', ''], ['GET', '/secret'], ['PUT', '/secret'], ['POST', '/pause'], ['POST', '/resume'], ['POST', '/cancel']] as const; // prettier-ignore
    for (const [method, path] of paths) {
      for (const [which, client] of [
        [id, world.bob],
        [newId(), alice],
        ['7', alice],
      ] as const) {
        // prettier-ignore
        const { status, body } = await send(method, `/api/monitors/${which}${path}`, client);
        expect([status, body]).toEqual([404, NOT_FOUND]);
      }
      expect((await send(method, `/api/monitors/${id}${path}`, world.nobody)).status).toBe(401);
      expect((await send(method, `/api/monitors/${id}${path}?api_key=${key}`, world.nobody)).status).toBe(401);
    }
    const refusal = async (method: 'GET' | 'POST' | 'PUT', path: string) => {
      const { status, body } = await send(method, `/api/monitors${path}`);
      return [status, (body as { message: string }).message];
    };
    expect(await refusal('GET', '?conversation_id=7')).toEqual([400, 'conversation_id must be a conversation id']);
    expect(await refusal('GET', '?status=some')).toEqual([400, 'status must be active, live or all']);
    expect(await refusal('POST', `/${id}/stop`)).toEqual([404, 'action must be pause, resume or cancel']);
    expect(await refusal('GET', `/${id}/secret`)).toEqual([404, 'No signing secret for this monitor']);
    expect(await refusal('PUT', `/${id}/secret`)).toEqual([404, 'No signed link for this monitor']);
    expect(await listed('', world.bob)).toEqual([]);
    await endAll();
  });
}
