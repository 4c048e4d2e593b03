import { readdir } from 'node:fs/promises';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Client } from '../../../test/support/client.js';
import { serviceForTests, type TestService } from '../../../test/support/service.js';
import { TabForTests } from '../../../test/support/tab.js';
import { eventually } from '../../../test/support/eventually.js';
import { LOG_START } from '../../kernel/event-sourcing/event-store.js';
import { SessionTokens } from './session-tokens.js';

const EMAIL = 'ann@example.org';

let service: TestService;
beforeAll(async () => {
  service = await serviceForTests({ AUTH_TYPE: 'session_jwt' });
});
afterAll(() => service.close());

const signedIn = async (subject: string): Promise<Client> => {
  const token = await service.service.app.get(SessionTokens, { strict: false }).issue({ subject, roles: [] });
  return new Client(service.url, { authorization: `Bearer ${token}` });
};

const idOf = async (client: Client): Promise<unknown> => (await client.json('/api/user/me'))['user_id'];

it('a user has the same opaque id in every answer and event', async () => {
  const ann = await signedIn(EMAIL);
  const id = await idOf(ann);
  expect(id).toMatch(/^[0-9a-f-]{36}$/);
  const tab = await TabForTests.open(ann);
  await ann.stream({ question: 'Who am I?', visibility: 'listed' });
  await eventually(() => tab.events.length > 0);
  expect(new Set(tab.events.map(({ user_id, topic }) => `${user_id} ${topic}`))).toEqual(
    new Set([`${String(id)} user:${String(id)}`]),
  );
  await tab.close();
});

it('no stream, actor, event or file name contains the issuer’s name for a user', async () => {
  const ann = await signedIn(EMAIL);
  await ann.post('/api/create_agent', { name: 'Guide', description: 'Knows', chunks: 2, retriever: 'classic', status: 'draft' });
  const form = new FormData();
  form.append('name', 'Handbook');
  form.append('file', new Blob(['Tea is at four.']), 'handbook.md');
  const { task_id } = (await (await ann.send('/api/upload', form)).json()) as { task_id: string };
  await eventually(async () => (await ann.json(`/api/task_status?task_id=${task_id}`))['status'] === 'SUCCESS');
  let events = 0;
  for await (const page of service.backing.store.readAll({ after: LOG_START })) {
    events += page.events.length;
    for (const { stream, data, metadata } of page.events) expect(`${stream} ${data} ${metadata}`).not.toContain(EMAIL);
  }
  expect(events).toBeGreaterThan(5);
  for (const name of await readdir(service.dataDir, { recursive: true })) expect(name).not.toContain('ann');
});

it('the user "local" of a service without sign-in stays the same user, and no other subject maps to it', async () => {
  await service.restart({ AUTH_TYPE: 'none' });
  expect(await idOf(new Client(service.url))).toBe('local');
  await service.restart({ AUTH_TYPE: 'session_jwt' });
  expect(await idOf(await signedIn('local'))).toBe('local');
  expect(await idOf(await signedIn('Local'))).not.toBe('local');
});

it('a user has the same id after a restart', async () => {
  const before = await idOf(await signedIn(EMAIL));
  await service.restart();
  expect(await idOf(await signedIn(EMAIL))).toBe(before);
});
