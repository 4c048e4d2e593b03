import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { isDiskFull } from '../../src/kernel/full-disk.js';
import { KeyValueUnavailable } from '../../src/kernel/messaging/key-value.js';
import { NatsKeyValue } from '../../src/platform/messaging/key-value/nats-key-value.js';
import { ServerTime } from '../../src/platform/messaging/key-value/server-time.js';
import { NatsConnection } from '../../src/platform/messaging/nats/nats-connection.js';
import { eventually } from '../support/eventually.js';
import { NatsServer } from '../support/nats-server.js';
import { keyValueContract } from './key-value.contract.js';

let server: NatsServer;
beforeAll(async () => (server = await NatsServer.start()));
afterAll(() => server.stop());

describe('key-value over NATS', () => {
  keyValueContract(async () => {
    const [one, two] = [new NatsConnection({ url: server.url }), new NatsConnection({ url: server.url })];
    let later = 0;
    const ahead = () => later;
    return {
      here: new NatsKeyValue(one, new ServerTime(ahead)),
      there: new NatsKeyValue(two, new ServerTime(ahead)),
      ahead: (ms) => void (later = ms),
      close: async () => void (await Promise.all([one.close(), two.close()])),
    };
  });
});

it('keeps nothing of a deleted key on the server', async () => {
  const nats = new NatsConnection({ url: server.url, prefix: 'deleting' });
  const keyValue = new NatsKeyValue(nats);
  for (let n = 0; n < 20; n++) {
    await keyValue.create(`slot.${n}`, 'x');
    await keyValue.delete(`slot.${n}`);
  }
  const jsm = await jetstreamManager(await nats.ready());
  expect((await jsm.streams.info('KV_deleting_state')).state.messages).toBe(0);
  await nats.close();
});

it('reports that the store is unavailable, and has its content when the store is back', async () => {
  const own = await NatsServer.start();
  const nats = new NatsConnection({ url: own.url, deadlineMs: 500 });
  const keyValue = new NatsKeyValue(nats);
  await eventually(() => keyValue.put('kept', 'x').then(() => true));
  await own.kill();
  await expect(keyValue.get('kept')).rejects.toThrow(KeyValueUnavailable);
  await expect(keyValue.create('new', 'x')).rejects.toThrow(KeyValueUnavailable);
  await expect(keyValue.keys('')).rejects.toThrow(KeyValueUnavailable);
  await own.restart();
  await eventually(async () => (await keyValue.get('kept'))?.value === 'x');
  await nats.close();
  await expect(keyValue.get('kept')).rejects.toThrow(KeyValueUnavailable);
  await own.stop();
});

it('reports a server without space as a full disk, also when it is only checked, and works again once there is space', async () => {
  const own = await NatsServer.start({ spaceBytes: 300_000 });
  const nats = new NatsConnection({ url: own.url });
  const keyValue = new NatsKeyValue(nats);
  await keyValue.check();
  const jsm = await jetstreamManager(await nats.ready());
  await jsm.streams.add({ name: 'other', subjects: ['other'] });
  const publish = () => jetstream(nats.current!).publish('other', 'x'.repeat(50_000));
  await eventually(() =>
    publish().then(
      () => false,
      () => true,
    ),
  );
  const full = (work: Promise<unknown>) => work.then(() => undefined, isDiskFull);
  expect(await Promise.all([full(keyValue.put('a', 'x')), full(keyValue.create('b', 'x')), full(keyValue.check())])).toEqual([
    true,
    true,
    true,
  ]);
  await jsm.streams.purge('other');
  await eventually(() =>
    keyValue.check().then(
      () => true,
      () => false,
    ),
  );
  await nats.close();
  await own.stop();
});

it('reports within its deadline that a server keeps the connection but does not respond', async () => {
  const own = await NatsServer.start();
  const nats = new NatsConnection({ url: own.url, deadlineMs: 300 });
  const keyValue = new NatsKeyValue(nats);
  await eventually(() => keyValue.put('kept', 'x').then(() => true));
  await own.freeze();
  await expect(keyValue.get('kept')).rejects.toMatchObject({ cause: { message: 'No answer within 300 ms.' } });
  own.thaw();
  await eventually(async () => (await keyValue.get('kept'))?.value === 'x');
  await nats.close();
  await own.stop();
});
