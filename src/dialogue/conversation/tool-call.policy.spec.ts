import { expect, it } from '@jest/globals';
import { deniedRecord, denialFor } from './tool-call.policy.js';

it('a record shows 200 characters of the comment of a denial, and the model reads all of it', () => {
  const call = {
    callId: 'c',
    toolId: 't',
    toolName: 'ntfy',
    actionName: 'send',
    name: 'send',
    arguments: {},
    argumentsSha256: '',
  };
  const [whole, long] = ['x'.repeat(200), 'x'.repeat(201)];
  expect([whole, long].map((comment) => deniedRecord(call, null, comment).comment)).toEqual([whole, `${'x'.repeat(199)}…`]);
  expect(denialFor(long, null)).toContain(long);
});
