import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { NatsConnection } from '../../src/platform/messaging/nats/nats-connection.js';
import { NatsSignals } from '../../src/platform/messaging/signals/nats-signals.js';
import { eventually } from '../support/eventually.js';
import { NatsServer } from '../support/nats-server.js';
import { signalsContract } from './signals.contract.js';

let server: NatsServer;
beforeAll(async () => (server = await NatsServer.start()));
afterAll(() => server.stop());

const flushed = async (...connections: readonly NatsConnection[]): Promise<void> => {
  for (const connection of connections) await (await connection.ready()).flush();
};

describe('signals over NATS', () => {
  signalsContract(async () => {
    const [one, two] = [new NatsConnection({ url: server.url }), new NatsConnection({ url: server.url })];
    const errors: unknown[] = [];
    return {
      here: new NatsSignals(one),
      there: new NatsSignals(two, (error) => errors.push(error)),
      errors,
      settled: () => flushed(two, one),
      close: async () => void (await Promise.all([one.close(), two.close()])),
    };
  });
});

it('separate installations with different prefixes on one server', async () => {
  const connections = ['blue', 'green'].map((prefix) => new NatsConnection({ url: server.url, prefix }));
  const [blue, green] = connections.map((connection) => new NatsSignals(connection)) as [NatsSignals, NatsSignals];
  const heard: string[] = [];
  blue.subscribe('news', (payload) => void heard.push(payload));
  await flushed(...connections);
  green.publish('news', 'from green');
  blue.publish('news', 'from blue');
  await flushed(...connections);
  await eventually(() => heard.length === 1);
  expect(heard).toEqual(['from blue']);
  await Promise.all(connections.map((connection) => connection.close()));
});
