import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type FullBacking, onEventStoreDbAndNats } from '../support/backing.js';
import { Client } from '../support/client.js';
import { serviceForTests, type TestService, USUAL_DEADLINES } from '../support/service.js';
import { replyOf } from '../support/world.js';

const MAX = 10;
const ALL = 3 * MAX;

let backing: FullBacking;
let fronts: readonly TestService[];
beforeAll(async () => {
  backing = await onEventStoreDbAndNats();
  const shared = async () => ({ ...backing, close: async () => undefined });
  const settings = { AUTH_TYPE: 'session_jwt', WRONG_CREDENTIALS_MAX_PER_MINUTE: String(MAX), TRUSTED_PROXIES: 'loopback' };
  // Long enough that a test machine that stalls for a while does not look like an unavailable server.
  const start = () => serviceForTests({ ...USUAL_DEADLINES, NATS_DEADLINE_SECONDS: '10', ...settings }, shared);
  fronts = [await start(), await start()];
});
afterAll(async () => {
  for (const front of fronts) await front.close();
  await backing.close();
});

/** Sends wrong credentials to both processes at once. Returns the number of responses per status. */
async function tries(from: string): Promise<Readonly<Record<number, number>>> {
  const clients = fronts.map(({ url }) => new Client(url, { 'x-forwarded-for': from, authorization: 'Bearer nonsense' }));
  const replies = await Promise.all(
    Array.from({ length: ALL }, (_, index) => replyOf(clients[index % clients.length]!.get('/api/user/me'))),
  );
  const counts: Record<number, number> = {};
  for (const { status } of replies) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

it('two processes share the count of wrong credentials', async () => {
  // A share of the budget is restored every six seconds, even while a slow machine runs this test.
  const first = await tries('203.0.113.1');
  expect(first[401]).toBeGreaterThanOrEqual(MAX);
  expect(first[401]).toBeLessThan(2 * MAX);
  expect(first[429]).toBe(ALL - first[401]!);
});

it('wrong credentials are 401 and right ones work while attempts cannot be counted', async () => {
  await backing.nats.kill();
  expect(await tries('203.0.113.2')).toEqual({ 401: ALL });
  for (const { url } of fronts) {
    const { token } = await new Client(url).json<{ token: string }>('/api/generate_token');
    expect((await new Client(url, { authorization: `Bearer ${token}` }).get('/api/user/me')).status).toBe(200);
  }
  await backing.nats.restart();
});
