import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { askDemo, expectSourced, untilReady } from '../stories/demo.story.js';
import { onEventStoreDbAndNats } from '../support/backing.js';
import { Client } from '../support/client.js';
import { PackedImage, type RunningImage } from './packed-image.js';

const SECRETS = {
  JWT_SECRET_KEY: 'a secret for tests that is long enough',
  ENCRYPTION_SECRET_KEY: 'another secret that is long enough',
};

let image: PackedImage;
beforeAll(async () => {
  image = await PackedImage.pack();
}, 900_000);
afterAll(() => image.remove());

it('answers the demo’s question without other services', async () => {
  const running = await image.run({});
  const client = new Client(running.url);
  await untilReady(client);
  expectSourced(await askDemo(client));
  expect(await running.stop()).toBe(0);
});

it('starts in every role, and together they answer the demo’s question', async () => {
  const backing = await onEventStoreDbAndNats();
  const running = new Map<string, RunningImage>();
  for (const role of ['projector', 'api', 'worker', 'scheduler']) {
    running.set(role, await image.run({ ...backing.environment, ...SECRETS, ROLES: role }));
  }
  const client = new Client(running.get('api')!.url);
  await untilReady(client);
  expectSourced(await askDemo(client));
  for (const [role, each] of running) {
    expect({ role, isRunning: each.isRunning }).toEqual({ role, isRunning: true });
    expect({ role, code: await each.stop() }).toEqual({ role, code: 0 });
  }
  await backing.close();
});
