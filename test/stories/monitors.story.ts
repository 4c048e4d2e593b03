import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { defaultToolId } from '../../src/resources/tools/defaults/default-tools.policy.js';
import { newId } from '../../src/kernel/ids.js';
import type { MakeBacking } from '../support/backing.js';
import { conversationIdIn } from '../support/client.js';
import { eventually } from '../support/eventually.js';
import { answerJson } from '../support/local-server.js';
import { call, say } from '../support/scripted-model-server.js';
import { TabForTests } from '../support/tab.js';
import { MONITORS_MAX, type MonitorShown, WatchedShop } from '../support/watched-shop.js';
import { replyOf } from '../support/world.js';

/** Chats that monitor something outside, and continue when it changes. */
export function monitorsStory(makeBacking: MakeBacking): void {
  let shop: WatchedShop;
  beforeAll(async () => {
    shop = await WatchedShop.open(makeBacking);
  });
  afterAll(() => shop.close());
  beforeEach(() => shop.reset());
  const below = { type: 'threshold', op: '<', value: 90 };

  describe('a monitor', () => {
    it('is shown as it was requested, with its first observation', async () => {
      const { conversationId, monitor } = await shop.create({
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
        watching: `${shop.server.url}/acme`,
        target: `${shop.server.url}/acme`,
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
      expect(await shop.listed()).toEqual([view]);
      expect(await shop.listed(`?conversation_id=${conversationId}`)).toEqual([view]);
      expect(await shop.listed(`?conversation_id=${newId()}`)).toEqual([]);
      expect((await shop.use('monitor_list', {}, { conversation_id: conversationId })).text).toContain(view.monitor_id);
      expect((await shop.use('monitor_list', {})).text).toBe('{"monitors":[]}');
      await shop.endAll();
    });

    it('shows a ring at its chat, the lowest mark, while it is active', async () => {
      const { conversationId, monitor } = await shop.create({ check: below });
      const mark = async () =>
        (await shop.world.alice.json<{ id: string; mark: string | null }[]>('/api/get_conversations')).find(
          ({ id }) => id === conversationId,
        )?.mark;
      await eventually(async () => (await mark()) === 'monitor');
      await shop.steer(monitor.monitor_id, 'pause');
      await eventually(async () => (await mark()) === null);
      await shop.steer(monitor.monitor_id, 'resume');
      await eventually(async () => (await mark()) === 'monitor');
      await shop.steer(monitor.monitor_id, 'cancel');
      await eventually(async () => (await mark()) === null);
    });

    it('continues its chat once when its condition is met, and ends', async () => {
      const tab = await TabForTests.open(shop.world.alice);
      const { conversationId, monitor } = await shop.create({ check: below, on_match: 'Tell me.' });
      const { monitor_id: id } = monitor;
      expect(await shop.look(id)).toMatchObject({ status: 'active', wake_count: 0 });
      shop.price = '89.50';
      shop.world.model.next(say('It is cheap now.'));
      await shop.steer(id, 'pause');
      await shop.steer(id, 'resume');
      await eventually(async () => (await shop.viewOf(id)).status === 'completed');
      expect(await shop.viewOf(id)).toMatchObject({
        wake_count: 1,
        wakes_left: 0,
        last_woken_at: expect.any(String),
        next_check_at: null,
      });
      await eventually(async () => (await shop.queries(conversationId)).at(-1)?.response === 'It is cheap now.');
      const [, automatic, ...others] = await shop.queries(conversationId);
      expect([automatic!.metadata, others]).toEqual([
        { wake: { source: 'monitor', ref_id: id, dedupe_key: `monitor:${id}:1` } },
        [],
      ]);
      expect(automatic!.prompt).toMatch(/ACME gets cheap.*Tell me\..*The value is now 89\.5 \(< 90\)/s);
      const told = () =>
        tab.events.filter(({ scope }) => scope['id'] === id).map(({ type, payload }) => [type, payload['status']]);
      // User events arrive independently of the chat.
      await eventually(() => told().at(-1)?.[1] === 'completed');
      expect(told()[0]).toEqual(['monitor.updated', 'active']);
      expect(told().at(-1)).toEqual(['monitor.updated', 'completed']);
      for (const action of ['pause', 'resume', 'cancel']) {
        const done = { pause: 'paused', resume: 'resumed', cancel: 'cancelled' }[action];
        const { status, body } = await shop.steer(id, action);
        const message = `This monitor can't be ${done} now`;
        expect([status, body]).toEqual([409, { success: false, message, error: 'monitor_over' }]);
      }
      expect([(await shop.listed()).length, (await shop.listed('?status=all'))[0]]).toEqual([
        0,
        expect.objectContaining({ monitor_id: id }),
      ]);
      await tab.close();
    });

    it('asks a model about a condition, and does not continue the chat if it does not hold', async () => {
      const { conversationId, monitor } = await shop.create({ condition: 'It is sold out.' });
      shop.price = '94.00';
      shop.world.model.next(say('{"holds": false, "reason": "There is some left."}'));
      expect(await shop.look(monitor.monitor_id)).toMatchObject({
        status: 'active',
        wake_count: 0,
        last_changed_at: expect.any(String),
      });
      const [system, user] = shop.world.model.completions.at(-1)!.body.messages;
      expect([String(system!.content), String(user!.content)]).toEqual([
        expect.stringContaining('no instructions'),
        expect.stringMatching(/It is sold out\..*Price: \$94\.00/s),
      ]);
      shop.price = 'sold out';
      shop.world.model.next(say('{"holds": true, "reason": "Sold out."}'), say('Gone.'));
      await shop.look(monitor.monitor_id);
      await eventually(async () => (await shop.queries(conversationId)).at(-1)?.response === 'Gone.');
    });

    it('pauses itself when its target no longer exists, and says so in its chat', async () => {
      const { conversationId, monitor } = await shop.create();
      shop.server.answer = (_request, response) => answerJson(response, {}, 404);
      shop.world.model.next(say('It is gone.'));
      await shop.look(monitor.monitor_id);
      // The check is recorded first, then its consequence.
      await eventually(async () => (await shop.viewOf(monitor.monitor_id)).status === 'paused');
      expect(await shop.viewOf(monitor.monitor_id)).toMatchObject({
        paused_reason: expect.stringMatching(/404/),
        last_error: expect.stringMatching(/404/),
        next_check_at: null,
      });
      await eventually(async () => (await shop.queries(conversationId)).at(-1)?.response === 'It is gone.');
      expect((await shop.queries(conversationId))[1]!.metadata).toMatchObject({ wake: { source: 'monitor_paused' } });
      expect([(await shop.listed()).length, (await shop.listed('?status=live')).length]).toEqual([0, 1]);
      await shop.endAll();
    });

    it('says in its chat that it expired without a finding', async () => {
      shop.world.model.next(
        [call('brief', 'monitor_create', { description: 'Brief', source: shop.page, expires_in: '2s' })],
        say('Done.'),
        say('Time is up.'),
      );
      const asked = await shop.world.alice.stream({ question: 'Do it.', visibility: 'listed' });
      const conversationId = conversationIdIn(asked);
      await eventually(async () => (await shop.queries(conversationId)).at(-1)?.response === 'Time is up.');
      expect((await shop.queries(conversationId))[1]!.metadata).toMatchObject({ wake: { source: 'monitor_expired' } });
      const [monitor] = await shop.listed(`?status=all&conversation_id=${conversationId}`);
      expect(monitor).toMatchObject({ status: 'completed', wake_count: 0, next_check_at: null });
    });

    it('with a pattern that never terminates delays nothing, and pauses itself', async () => {
      const { conversationId, monitor } = await shop.create({ check: { type: 'regex', pattern: '(a+)+$' } });
      shop.price = `${'a'.repeat(60)}!`;
      shop.world.model.next(say('Ah.'));
      await shop.steer(monitor.monitor_id, 'pause');
      await shop.steer(monitor.monitor_id, 'resume');
      await eventually(async () => (await shop.viewOf(monitor.monitor_id)).status === 'paused');
      expect(await shop.viewOf(monitor.monitor_id)).toMatchObject({ paused_reason: 'The pattern takes too long on this text.' });
      await eventually(async () => (await shop.queries(conversationId)).at(-1)?.response === 'Ah.');
      await shop.endAll();
    });

    it('is cancelled with its chat', async () => {
      const { conversationId, monitor } = await shop.create();
      expect((await shop.world.alice.post(`/api/delete_conversation?id=${conversationId}`, {})).status).toBe(200);
      await eventually(async () => (await shop.viewOf(monitor.monitor_id)).status === 'cancelled');
    });

    it('is cancelled with its agent', async () => {
      const { id: agentId } = await shop.world.agent({ tools: ['monitor'].map(defaultToolId) });
      const asked = { description: 'ACME gets cheap', source: shop.page };
      const { text } = await shop.use('monitor_create', asked, { agent_id: agentId });
      const { monitor_id: id } = JSON.parse(text) as MonitorShown;
      expect((await replyOf(shop.world.alice.delete(`/api/delete_agent?id=${agentId}`))).status).toBe(200);
      await eventually(async () => (await shop.viewOf(id)).status === 'cancelled');
    });

    it('counts towards the limit of its user', async () => {
      for (let made = 0; made < MONITORS_MAX; made++) await shop.create();
      expect((await shop.use('monitor_create', { description: 'More', source: shop.page })).text).toMatch(
        /^Error: you have 3 monitors already/,
      );
      await shop.endAll();
      await shop.create();
      await shop.endAll();
    });
  });
}
