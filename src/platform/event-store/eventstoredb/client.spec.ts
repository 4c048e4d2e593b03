import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { expect, it } from '@jest/globals';
import { assertInternals, CLIENT_VERSION, openClient } from './client.js';
import { connectionTarget } from './connection-string.js';
import * as stubs from './stubs.js';

const open = (text: string) => openClient(connectionTarget(text));

it.each(['GRPCStreamCreator', 'callArguments', 'handleError', 'capabilities', 'dispose'])(
  'fails at start when the installed client has no %s',
  async (member) => {
    const client = open('esdb://127.0.0.1:1?tls=false');
    const without = new Proxy(client, { has: (of, name) => name !== member && name in of });
    expect(() => assertInternals(without)).toThrow(`has no ${member}: this program needs version ${CLIENT_VERSION}.`);
    await client.dispose();
  },
);

it('finds every required member in the installed version', async () => {
  const { version } = JSON.parse(
    readFileSync(createRequire(import.meta.url).resolve('@eventstore/db-client/package.json'), 'utf8'),
  ) as { version: string };
  expect(version).toBe(CLIENT_VERSION);
  for (const text of ['esdb://127.0.0.1:1?tls=false', 'esdb+discover://a,b,c', 'esdb://admin:changeit@a?tls=true']) {
    await open(text).dispose();
  }
});

it('finds every message and service of the protocol in the stubs', () => {
  expect(Object.entries(stubs).filter(([, stub]) => stub === undefined)).toEqual([]);
  expect(stubs.StreamsService).toMatchObject({ read: { path: expect.any(String) }, batchAppend: expect.anything() });
});
