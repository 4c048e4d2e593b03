import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { NatsConnection } from '../../src/platform/messaging/nats/nats-connection.js';
import { NatsSignals } from '../../src/platform/messaging/signals/nats-signals.js';
import { eventually } from '../support/eventually.js';
import { NatsServer } from '../support/nats-server.js';

let server: NatsServer;
let connections: NatsConnection[];
beforeEach(async () => {
  server = await NatsServer.start();
  connections = [];
});
afterEach(async () => {
  await Promise.all(connections.map((connection) => connection.close()));
  await server.stop();
});

function newSignals(): NatsSignals {
  const connection = new NatsConnection({ url: server.url });
  connections.push(connection);
  return new NatsSignals(connection);
}

/** Publishes repeatedly until a publication is received. */
async function untilHeard(publisher: NatsSignals, subject: string, heard: readonly string[], mark: string): Promise<void> {
  await eventually(() => {
    publisher.publish(subject, mark);
    return heard.includes(mark);
  });
}

it('signals do not throw while the server is down, report it in their health, and arrive again once it is back', async () => {
  const [here, there] = [newSignals(), newSignals()];
  const heard: string[] = [];
  there.subscribe('message.1', (payload) => void heard.push(payload));
  await untilHeard(here, 'message.1', heard, 'before');
  expect([here.healthy, there.healthy]).toEqual([true, true]);

  await server.kill();
  await eventually(() => !here.healthy && !there.healthy);
  for (let n = 0; n < 100_000; n++) here.publish('message.1', `while away ${n}`);
  const newcomer: string[] = [];
  there.subscribe('message.2', (payload) => void newcomer.push(payload));
  there.subscribe('message.3', () => undefined)();

  await server.restart();
  await eventually(() => here.healthy && there.healthy);
  await untilHeard(here, 'message.1', heard, 'after');
  await untilHeard(here, 'message.2', newcomer, 'after');
  expect(heard.filter((payload) => payload.startsWith('while away'))).toEqual([]);
});

it('signals are delivered once within the process, whether or not the server is up', async () => {
  const signals = newSignals();
  const heard: string[] = [];
  signals.subscribe('message.1', (payload) => void heard.push(payload));
  signals.publish('message.1', 'before the first connection');
  await eventually(() => signals.healthy);
  signals.publish('message.1', 'with the server');
  await (await connections[0]!.ready()).flush();
  await server.kill();
  await eventually(() => !signals.healthy);
  signals.publish('message.1', 'without the server');
  await eventually(() => heard.length === 3);
  expect(heard).toEqual(['before the first connection', 'with the server', 'without the server']);
});

it('signals arrive again after each of many short losses', async () => {
  const [here, there] = [newSignals(), newSignals()];
  const heard: string[] = [];
  there.subscribe('message.1', (payload) => void heard.push(payload));
  for (let loss = 0; loss < 5; loss++) {
    await untilHeard(here, 'message.1', heard, `before ${loss}`);
    await server.restart();
  }
  await untilHeard(here, 'message.1', heard, 'after');
  expect(there.subjects).toBe(1);
});

it('signals start without a server, unhealthy, and arrive once there is one', async () => {
  await server.kill();
  const [here, there] = [newSignals(), newSignals()];
  const heard: string[] = [];
  const left: string[] = [];
  const leave = there.subscribe('left', (payload) => void left.push(payload));
  there.subscribe('message.1', (payload) => void heard.push(payload));
  leave();
  here.publish('message.1', 'lost');
  expect(here.healthy).toBe(false);

  await server.restart();
  await eventually(() => here.healthy && there.healthy);
  here.publish('left', 'x');
  await untilHeard(here, 'message.1', heard, 'found');
  expect(heard).not.toContain('lost');
  expect(left).toEqual([]);
});

it('signals detect a server that keeps the connection and has stopped responding', async () => {
  const [here, there] = [newSignals(), newSignals()];
  const heard: string[] = [];
  there.subscribe('message.1', (payload) => void heard.push(payload));
  await untilHeard(here, 'message.1', heard, 'before');
  await server.freeze();
  await eventually(() => !here.healthy && !there.healthy);
  here.publish('message.1', 'lost');
  server.thaw();
  await eventually(() => here.healthy && there.healthy);
  await untilHeard(here, 'message.1', heard, 'after');
});

it('signals do not throw after the connection is closed, and close without a server', async () => {
  const signals = newSignals();
  await eventually(() => signals.healthy);
  await connections[0]!.close();
  signals.publish('message.1', 'x');
  signals.subscribe('message.1', () => undefined)();
  expect(signals.healthy).toBe(false);
  await server.kill();
  const other = newSignals();
  other.publish('message.1', 'x');
  await connections[1]!.close();
  other.subscribe('message.1', () => undefined)();
  expect(other.subjects).toBe(0);
});
