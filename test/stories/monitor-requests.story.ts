import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { newId } from '../../src/kernel/ids.js';
import type { MakeBacking } from '../support/backing.js';
import { type Fields, WatchedShop } from '../support/watched-shop.js';

const NOT_FOUND = { success: false, message: 'Monitor not found' };

/** Which monitors models may create, and who may manage them. */
export function monitorRequestsStory(makeBacking: MakeBacking): void {
  let shop: WatchedShop;
  beforeAll(async () => {
    shop = await WatchedShop.open(makeBacking);
  });
  afterAll(() => shop.close());
  beforeEach(() => shop.reset());

  describe('a model', () => {
    it.each<[string, Fields, RegExp]>([
      ['without a description', { description: ' ' }, /description is required/],
      ['for an unknown source', { source: { type: 'thing' } }, /source/],
      ['for an invalid address', { source: { type: 'webpage', url: 'file:///etc/passwd' } }, /source\.url must be/],
      [
        'for an address with a password',
        { source: { type: 'webpage', url: 'https://a:b@c.example' } },
        /must not hold a user name/,
      ],
      ['for an internal address', { source: { type: 'webpage', url: 'http://127.0.0.1:1/' } }, /cannot be watched/],
      ['for an unknown tool', { source: { type: 'tool', action: 'get_all' } }, /no such tool and action/],
      ['for an action that writes', { source: { type: 'tool', action: 'memory_create' } }, /only reads/],
      ['for a missing source', { source: { type: 'ingest', source_id: newId() } }, /source of the user/],
      ['with a broken pattern', { check: { type: 'regex', pattern: '(' } }, /not a valid regular expression/],
      ['with a path without a value', { check: { type: 'threshold', value_path: 'a.b', op: '<', value: 1 } }, /no number/],
      ['with an interval in words', { interval: 'often' }, /interval must be/],
      ['with no follow-ups', { max_wakes: 0 }, /max_wakes/],
    ])('gets an error and no monitor %s, and no slot is used', async (_, fields, why) => {
      const { text } = await shop.use('monitor_create', { description: 'Anything', source: shop.page, ...fields });
      expect(text).toMatch(/^Error/);
      expect(text).toMatch(why);
    });

    it('monitors the result of a user’s tool', async () => {
      const source = { type: 'tool', action: 'memory_view', arguments: { path: '/' } };
      const { monitor } = await shop.create({ source });
      expect(monitor).toMatchObject({ source_type: 'tool', watching: 'memory: memory_view', current: 'The memory is empty.' });
      await shop.endAll();
    });

    it('cancels only the monitors of its own chat', async () => {
      const { conversationId, monitor } = await shop.create();
      const { monitor_id: id } = monitor;
      expect((await shop.use('monitor_cancel', { monitor_id: id })).text).toBe('Error: Monitor not found');
      expect((await shop.use('monitor_cancel', { monitor_id: id }, { conversation_id: conversationId })).text).toContain(
        'cancelled',
      );
      expect((await shop.viewOf(id)).status).toBe('cancelled');
    });

    it('cannot create one for callers with an agent’s key', async () => {
      const { key } = await shop.world.agent();
      const { text } = await shop.use(
        'monitor_create',
        { description: 'More', source: shop.page },
        { api_key: key },
        shop.world.nobody,
      );
      expect(text).not.toContain('monitor_id');
      expect(await shop.listed()).toEqual([]);
    });
  });

  it('monitors are closed to other users and to programs', async () => {
    const { monitor } = await shop.create();
    const { monitor_id: id } = monitor;
    const { key } = await shop.world.agent();
    const paths = [['GET', ''], ['GET', '/secret'], ['PUT', '/secret'], ['POST', '/pause'], ['POST', '/resume'], ['POST', '/cancel']] as const; // oxfmt-ignore
    for (const [method, path] of paths) {
      for (const [which, client] of [
        [id, shop.world.bob],
        [newId(), shop.world.alice],
        ['7', shop.world.alice],
      ] as const) {
        // oxfmt-ignore
        const { status, body } = await shop.send(method, `/api/monitors/${which}${path}`, client);
        expect([status, body]).toEqual([404, NOT_FOUND]);
      }
      expect((await shop.send(method, `/api/monitors/${id}${path}`, shop.world.nobody)).status).toBe(401);
      expect((await shop.send(method, `/api/monitors/${id}${path}?api_key=${key}`, shop.world.nobody)).status).toBe(401);
    }
    const refusal = async (method: 'GET' | 'POST' | 'PUT', path: string) => {
      const { status, body } = await shop.send(method, `/api/monitors${path}`);
      return [status, (body as { message: string }).message];
    };
    expect(await refusal('GET', '?conversation_id=7')).toEqual([400, 'conversation_id must be a conversation id']);
    expect(await refusal('GET', '?status=some')).toEqual([400, 'status must be active, live or all']);
    expect(await refusal('POST', `/${id}/stop`)).toEqual([404, 'action must be pause, resume or cancel']);
    expect(await refusal('GET', `/${id}/secret`)).toEqual([404, 'No signing secret for this monitor']);
    expect(await refusal('PUT', `/${id}/secret`)).toEqual([404, 'No signed link for this monitor']);
    expect(await shop.listed('', shop.world.bob)).toEqual([]);
    await shop.endAll();
  });
}
