import { expect, it } from '@jest/globals';
import { callNamedBy, toolCallId } from './call-id.policy.js';

const CONVERSATION = '6f9619ff-8b86-4011-b42d-00c04fc964ff';

it.each(['c_1', 'call_2', 'two\nlines'])('the id of the call %j names its conversation and the call', (callId) => {
  const call = { conversationId: CONVERSATION, callId };
  expect(callNamedBy(toolCallId(call))).toEqual(call);
});

it.each([
  'call_abc',
  CONVERSATION,
  `call_${CONVERSATION}`,
  `call_${CONVERSATION}_`,
  `x_call_${CONVERSATION}_c_1`,
  // Characters and length of a UUID, but not its form.
  `call_${'-'.repeat(36)}_c_1`,
])('%j is not the id of a call of this service', (id) => expect(callNamedBy(id)).toBeUndefined());
