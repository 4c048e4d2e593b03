import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type AnsweringRoute, askOver } from '../support/asked.js';
import type { MakeBacking } from '../support/backing.js';
import type { Client } from '../support/client.js';
import { eventually } from '../support/eventually.js';
import { call, say, type Step, wait } from '../support/scripted-model-server.js';
import { endOf, taskOf, webhookPath } from '../support/webhooks.js';
import { openWorld, type Reply, replyOf, type World } from '../support/world.js';

const ROUTES: readonly AnsweringRoute[] = ['/stream', '/api/answer'];
const DAY_SECONDS = 86_400;
/** Quotas begin anew at midnight UTC, so no test begins in the time before it that a test may take. */
const TEST_MS_MAX = 120_000;
const OVER_THE_LIMIT = 'Exceeding usage limit, please try again later.';

/** The content of a refusal, in either format. */
function toldIn(body: unknown) {
  const { success, message, error, code, ...rest } = body as Record<string, unknown>;
  return { ...(success === false ? { text: message, code: error } : { text: error, code }), rest };
}

/** An answer for which the endpoint reports this usage. */
const charged = (promptTokens: number, completionTokens: number): Step[] => [
  ...say('Well.'),
  { do: 'usage', promptTokens, completionTokens },
];

const tomorrow = (): Date => new Date(new Date().setUTCHours(24, 0, 0, 0));
const secondsSince = (moment: number): number => (Date.now() - moment) / 1000;

type Bucket = Readonly<{ bucket: string; tokens: Readonly<{ used: number }>; cost: object; resets_at: string }>;
type Quota = Readonly<{ success: boolean; period: string; resets_at: string; buckets: readonly Bucket[] }>;

/** Limits are enforced exactly on every route, and a refusal says when to retry. */
export function limitsStory(makeBacking: MakeBacking): void {
  let world: World;
  /** When the test began. */
  let since: number;
  beforeAll(async () => {
    world = await openWorld({}, makeBacking);
  });
  afterAll(() => world.close());
  beforeEach(async () => {
    world.model.reset();
    const toMidnightMs = tomorrow().getTime() - Date.now();
    if (toMidnightMs < TEST_MS_MAX) await pause(toMidnightMs);
    since = Date.now();
  }, 2 * TEST_MS_MAX);

  const replyTo = (client: Client, route: AnsweringRoute, body: object): Promise<Reply> =>
    replyOf(client.post(route, { ...('tool_actions' in body ? {} : { question: 'Why?' }), ...body }));
  const asked = (route: AnsweringRoute, key: string, more: object = {}) =>
    replyTo(world.nobody, route, { api_key: key, ...more });

  function expectOverTheLimit({ status, body, headers }: Reply): void {
    expect([status, toldIn(body)]).toEqual([429, { text: OVER_THE_LIMIT, code: 'usage_limit', rest: {} }]);
    expect(headers.get('content-type')).toMatch(/^application\/json/);
    const seconds = Number(headers.get('retry-after'));
    expect(seconds).toBeGreaterThanOrEqual(Math.floor(DAY_SECONDS - secondsSince(since)));
    expect(seconds).toBeLessThanOrEqual(DAY_SECONDS);
  }

  describe.each(ROUTES)('over %s', (route) => {
    const requestsLimited = (limit: number) => world.agent({ limited_request_mode: true, request_limit: limit });
    const tokensLimited = (limit: number) => world.agent({ limited_token_mode: true, token_limit: limit });

    it('the holders of a key have as many requests as the agent allows, even in quick succession', async () => {
      const { key } = await requestsLimited(2);
      for (let count = 0; count < 2; count++) expect((await asked(route, key)).status).toBe(200);
      const before = world.model.completions.length;
      expectOverTheLimit(await asked(route, key));
      expect(world.model.completions).toHaveLength(before);
    });

    it('the same number succeeds of many concurrent requests', async () => {
      const { key } = await requestsLimited(3);
      world.model.always([wait(50), ...say('Well.')]);
      const replies = await Promise.all(Array.from({ length: 12 }, () => asked(route, key)));
      expect(replies.filter(({ status }) => status === 200)).toHaveLength(3);
      for (const reply of replies.filter(({ status }) => status !== 200)) expectOverTheLimit(reply);
    });

    it('the request that uses up the tokens is answered, and the next one is refused, however soon it follows', async () => {
      const { key } = await tokensLimited(100);
      world.model.next(charged(60, 39), charged(1, 0));
      expect((await asked(route, key)).status).toBe(200);
      expect((await asked(route, key)).status).toBe(200);
      expectOverTheLimit(await asked(route, key));
    });

    it('the usage of a failed answer counts', async () => {
      const limit = { limited_token_mode: true, token_limit: 100 };
      const { key } = await world.agent({ ...limit, json_schema: { type: 'object', required: ['why'], properties: {} } });
      world.model.next(charged(100, 5));
      await asked(route, key);
      expectOverTheLimit(await asked(route, key));
    });

    it('the signed-in owner has the same limits, and no others without the agent', async () => {
      const { id, key } = await requestsLimited(2);
      expect((await replyTo(world.alice, route, { agent_id: id })).status).toBe(200);
      expect((await asked(route, key)).status).toBe(200);
      expectOverTheLimit(await asked(route, key));
      expectOverTheLimit(await replyTo(world.alice, route, { agent_id: id }));
      expect((await replyTo(world.alice, route, {})).status).toBe(200);
    });

    it('calls of its webhook have the same limits', async () => {
      const { id, key } = await requestsLimited(2);
      const hook = await webhookPath(world.alice, id);
      const outcome = async () => endOf(world.nobody, await taskOf(world.nobody.post(hook, {})));
      expect(await outcome()).toMatchObject({ status: 'SUCCESS', result: { status: 'success' } });
      expect((await asked(route, key)).status).toBe(200);
      const before = world.model.completions.length;
      const refused = { status: 'quota_exceeded', error: OVER_THE_LIMIT };
      expect(await outcome()).toEqual({ status: 'SUCCESS', result: refused });
      expectOverTheLimit(await asked(route, key));
      expect(world.model.completions).toHaveLength(before);
    });

    it('a repetition counts as the same request, even when nothing is left', async () => {
      const { key } = await requestsLimited(1);
      const again = () =>
        replyOf(world.nobody.post(route, { question: 'Why?', api_key: key }, { 'idempotency-key': `${route}-once` }));
      const first = await again();
      const second = await again();
      expect([second.status, second.text]).toEqual([200, first.text]);
      expectOverTheLimit(await asked(route, key));
    });

    it('a paused turn continues once there are tokens for it, and waits until then', async () => {
      const { id, key } = await tokensLimited(50);
      const pick = { type: 'function', function: { name: 'pick', description: 'Picks', parameters: { type: 'object' } } };
      world.model.next([call('c1', 'pick', {}), { do: 'usage', promptTokens: 50, completionTokens: 9 }]);
      const { conversationId, pending } = await askOver(route, world.nobody, {
        question: 'Which?',
        api_key: key,
        client_tools: [pick],
      });
      expect(pending).toHaveLength(1);
      const decided = { conversation_id: conversationId, tool_actions: [{ call_id: 'c1', result: 'red' }] };
      expectOverTheLimit(await asked(route, key, decided));
      const more = { limited_token_mode: true, token_limit: 60 };
      expect((await world.alice.put(`/api/update_agent/${id}`, more)).status).toBe(200);
      expect((await asked(route, key, decided)).status).toBe(200);
    });
  });

  describe('a quota', () => {
    let limited: World;
    beforeAll(async () => {
      limited = await openWorld({ QUOTA_PERIOD: 'day', QUOTA_TOKENS_PER_USER: '100' }, makeBacking);
    });
    afterAll(() => limited.close());
    beforeEach(() => limited.model.reset());

    const quotaOf = (client: Client) => client.json<Quota>('/api/user/quota');

    function expectUsedUp({ status, body, headers }: Reply, usage: number): void {
      const { text, code, rest } = toldIn(body);
      expect([status, text, code]).toEqual([429, expect.stringContaining(`${usage} of 100 tokens`), 'quota_exceeded']);
      expect(rest).toEqual({
        error_code: 'quota_exceeded',
        limit_scope: 'user_quota',
        dimension: 'tokens',
        unit: 'tokens',
        usage,
        limit: 100,
        bucket: 'all',
        source: 'instance',
        resets_at: tomorrow().toISOString(),
      });
      const late = (tomorrow().getTime() - since) / 1000 - Number(headers.get('retry-after'));
      expect(late).toBeGreaterThan(-1);
      expect(late).toBeLessThan(secondsSince(since) + 1);
    }

    it.each(ROUTES)('is shared by everything that a user is charged for, over %s', async (route) => {
      const carol = await limited.as(`carol${route}`);
      const { key } = await limited.agent({}, carol);
      limited.model.next(charged(40, 20), charged(30, 15));
      expect((await replyTo(carol, route, {})).status).toBe(200);
      expect((await replyTo(limited.nobody, route, { api_key: key })).status).toBe(200);
      expectUsedUp(await replyTo(carol, route, {}), 105);
      expectUsedUp(await replyTo(limited.nobody, route, { api_key: key }), 105);
      expect((await replyTo(limited.bob, route, {})).status).toBe(200);
    });

    it('is charged for headless runs, and prevents the next one when it is used up', async () => {
      const fay = await limited.as('fay');
      const { id } = await limited.agent({}, fay);
      const hook = await webhookPath(fay, id);
      const outcomeOf = async (body: object) => endOf(limited.nobody, await taskOf(limited.nobody.post(hook, body)));
      limited.model.next(charged(90, 20));
      expect(await outcomeOf({ number: 1 })).toMatchObject({ status: 'SUCCESS', result: { status: 'success' } });
      // However soon: once the end of a run is visible, its usage is counted.
      expect(await outcomeOf({ number: 2 })).toEqual({
        status: 'SUCCESS',
        result: { status: 'quota_exceeded', error: expect.stringContaining('110 of 100 tokens') },
      });
      expect(limited.model.completions).toHaveLength(1);
      expectUsedUp(await replyTo(fay, '/stream', {}), 110);
    });

    it('can be read by its user', async () => {
      const dora = await limited.as('dora');
      const { key } = await limited.agent({}, dora);
      limited.model.next(charged(40, 2), charged(10, 1));
      await replyTo(dora, '/api/answer', {});
      await replyTo(limited.nobody, '/api/answer', { api_key: key });
      await eventually(async () => (await quotaOf(dora)).buckets[0]!.tokens.used === 53);
      const bucket = (name: string, tokens: { used: number; limit?: number; source?: string }) => ({
        bucket: name,
        tokens: { limit: null, source: null, source_id: null, ...tokens },
        cost: { limit: null, used: 0, source: null, source_id: null },
        resets_at: tomorrow().toISOString(),
      });
      expect(await quotaOf(dora)).toEqual({
        success: true,
        period: 'day',
        starts_at: new Date(new Date().setUTCHours(0, 0, 0, 0)).toISOString(),
        resets_at: tomorrow().toISOString(),
        buckets: [
          bucket('all', { used: 53, limit: 100, source: 'instance' }),
          bucket('direct', { used: 42 }),
          bucket('agent', { used: 11 }),
        ],
      });
    });

    it('cannot be read by others or with a key', async () => {
      expect((await limited.nobody.get('/api/user/quota')).status).toBe(401);
    });
  });

  it('users without a quota see their usage without a limit', async () => {
    world.model.next(charged(7, 3));
    const erin = await world.as('erin');
    await replyTo(erin, '/stream', {});
    const allOf = async () => (await erin.json<Quota>('/api/user/quota')).buckets[0]!.tokens;
    await eventually(async () => (await allOf()).used === 10);
    expect(await allOf()).toEqual({ limit: null, used: 10, source: null, source_id: null });
  });
}
