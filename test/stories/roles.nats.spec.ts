import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { onPostgresAndNats, type Backing } from '../support/backing.js';
import { Client } from '../support/client.js';
import { eventually } from '../support/eventually.js';
import { serviceForTests, type TestService } from '../support/service.js';
import { readinessOf, untilReady } from './demo.story.js';

let backing: Backing;
const running = new Set<TestService>();
beforeAll(async () => {
  backing = await onPostgresAndNats();
});
afterAll(async () => {
  for (const service of running) await service.close();
  await backing.close();
});

/** One of several processes over the same stores. */
async function start(roles: string, settings: Readonly<Record<string, string>> = {}): Promise<TestService> {
  const shared = async () => ({ ...backing, close: async () => undefined });
  const service = await serviceForTests({ ROLES: roles, ...settings }, shared);
  running.add(service);
  return service;
}

async function stop(service: TestService): Promise<void> {
  running.delete(service);
  await service.close();
}

const NO_WORKER = 'No worker is alive: questions and tasks wait for one.';

it('an api process reports itself as degraded while no worker or no projector is alive, and still accepts requests', async () => {
  const projector = await start('projector');
  const front = await start('api', { SEED_DEMO: 'true' });
  const client = new Client(front.url);
  const readiness = () => readinessOf(client);
  const reasons = async () => (await readiness()).reasons;

  await eventually(async () => (await readiness()).code === 200);
  expect(await readiness()).toMatchObject({ status: 'degraded', reasons: expect.arrayContaining([NO_WORKER]) as unknown });
  expect(await reasons()).toContainEqual(expect.stringMatching(/^The demo agent is not there yet.* No worker is alive/));
  expect((await client.get('/api/get_agents')).status).toBe(200);

  const worker = await start('worker,scheduler');
  await untilReady(client);
  expect(await reasons()).toEqual([]);

  await stop(worker);
  await eventually(async () => (await reasons()).includes(NO_WORKER));
  await stop(projector);
  await eventually(async () =>
    (await reasons()).some((reason) => reason.startsWith('No projector is alive that writes access-tokens, agents')),
  );
  expect(await readiness()).toMatchObject({ code: 200, status: 'degraded' });
});
