import { expect, it } from '@jest/globals';
import { SealingKey } from '../../../platform/credentials/sealing-key.js';
import { InProcessKeyValue } from '../../../platform/messaging/key-value/in-process-key-value.js';
import { OneTimeSecrets } from './one-time-secrets.js';

const keyValue = new InProcessKeyValue();
const secrets = (name = 'login', secret = 'a secret for tests') =>
  new OneTimeSecrets<{ text: string }>(keyValue, new SealingKey(secret), name, 60_000);

it('are taken once by concurrent calls, in any process', async () => {
  const secret = secrets().newSecret();
  await secrets().keep(secret, { text: 'kept' });
  const taken = await Promise.all(Array.from({ length: 20 }, () => secrets().take(secret)));
  expect(taken.filter((value) => value !== undefined)).toEqual([{ text: 'kept' }]);
});

it('are not found by another secret or for another use', async () => {
  const secret = secrets().newSecret();
  await secrets().keep(secret, { text: 'kept' });
  expect(await secrets().take(`${secret}x`)).toBeUndefined();
  expect(await secrets('hand-over').take(secret)).toBeUndefined();
  expect(await secrets().take(secret)).toEqual({ text: 'kept' });
});

it('cannot be read in the store or with another key', async () => {
  const secret = secrets().newSecret();
  await secrets().keep(secret, { text: 'kept' });
  const keys = await keyValue.keys('login.');
  const values = await Promise.all(keys.map((key) => keyValue.get(key)));
  expect(JSON.stringify([keys, values])).not.toContain(secret);
  expect(JSON.stringify(values)).not.toContain(Buffer.from('kept').toString('base64').slice(0, 4));
  expect(await secrets('login', 'another secret').take(secret)).toBeUndefined();
});
