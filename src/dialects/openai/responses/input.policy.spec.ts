import { describe, expect, it } from '@jest/globals';
import { toolCallId } from '../asking/call-id.policy.js';
import { inputOf, withAttachments } from './input.policy.js';

const ID = '6f9619ff-8b86-4011-b42d-00c04fc964ff';
const CALL = toolCallId({ conversationId: ID, callId: 'c_1' });
const PNG = 'data:image/png;base64,aGk=';
const user = (content: unknown) => ({ role: 'user', content });
const stored = (item: object) => inputOf([item, user('Q')], null).items[0];
const refusal = (param: string, message: string) =>
  expect.objectContaining({ code: 'invalid-request', message, details: { param } });

describe('the input of a response', () => {
  it('may be one text', () =>
    expect(inputOf('Q', null)).toMatchObject({
      said: { kind: 'question', question: 'Q' },
      instructions: '',
      items: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Q' }] }],
    }));

  it('follows the instructions, also if they are empty', () => {
    const developer = { role: 'developer', content: 'B' };
    expect(inputOf([developer, user('Q')], 'A')).toMatchObject({
      instructions: 'A\n\nB',
      instructionsAt: ['instructions', 'input[0]'],
    });
    expect(inputOf('Q', '')).toMatchObject({ instructions: '', instructionsAt: ['instructions'] });
    expect(inputOf('Q', null).instructionsAt).toEqual([]);
  });

  it('may hold earlier reasoning, which is ignored', () => {
    const { ignored, said, items } = inputOf([{ type: 'reasoning', summary: ['S'] }, { type: 'reasoning' }, user('Q')], null);
    expect(said).toMatchObject({ question: 'Q', history: [] });
    expect(ignored).toEqual(['input[0]', 'input[1]']);
    expect(items.slice(0, 2)).toEqual([
      { type: 'reasoning', summary: ['S'] },
      { type: 'reasoning', summary: [] },
    ]);
  });

  it('may be results of calls', () => {
    const call = { type: 'function_call', call_id: CALL, name: 'pick', arguments: '{}', status: 'completed' };
    const result = { type: 'function_call_output', call_id: CALL, output: [{ type: 'input_text', text: 'green' }], id: 'x' };
    expect(inputOf([user('Q'), call, result], null)).toMatchObject({
      said: { kind: 'results', results: [{ callId: 'c_1', text: 'green' }], conversationId: ID },
    });
    expect(stored(call)).toEqual({ type: 'function_call', call_id: CALL, name: 'pick', arguments: '{}' });
    expect(stored(result)).toEqual({ type: 'function_call_output', call_id: CALL, output: result.output });
  });

  it.each<[unknown, string, string]>([
    [null, 'input', 'input is required.'],
    ['', 'input', 'input is required.'],
    [7, 'input', 'input must be a text, or an array with at least one item.'],
    [[], 'input', 'input must be a text, or an array with at least one item.'],
    [['Q'], 'input[0]', 'input[0] must be an object.'],
    [[{ type: 'item_reference' }], 'input[0].type', 'input[0].type item_reference is not supported.'],
    [[{ type: 7 }], 'input[0].type', 'input[0].type this is not supported.'],
    [[{ role: 'tool' }], 'input[0].role', 'input[0].role must be user, assistant, system or developer.'],
    [[{ type: 'function_call', call_id: 'A' }], 'input[0].call_id', 'input[0].call_id is not the id of a call of this service.'],
    [
      [{ type: 'function_call_output', call_id: 'A', output: '' }],
      'input[0].call_id',
      'input[0].call_id is not the id of a call of this service.',
    ],
  ])('%j is refused', (given, param, message) => expect(() => inputOf(given, null)).toThrow(refusal(param, message)));
});

describe('a stored message', () => {
  it.each([
    [{ role: 'assistant', content: 'A' }, [{ type: 'output_text', text: 'A', annotations: [], logprobs: [] }]],
    [{ role: 'system', content: 'A' }, [{ type: 'input_text', text: 'A' }]],
    [{ role: 'developer', content: [{ type: 'text', text: 'A' }] }, [{ type: 'input_text', text: 'A' }]],
    [user(null), []],
    [user('A'), [{ type: 'input_text', text: 'A' }]],
    [user([{ type: 'input_text', text: 'A', more: 1 }]), [{ type: 'input_text', text: 'A' }]],
    [user([{ type: 'input_image', image_url: PNG }]), [{ type: 'input_image', detail: 'auto', file_id: 'input[0].content[0]' }]],
    [
      user([{ type: 'input_image', image_url: PNG, detail: 'low' }]),
      [{ type: 'input_image', detail: 'low', file_id: 'input[0].content[0]' }],
    ],
    [user([{ type: 'input_file', file_data: PNG }]), [{ type: 'input_file', file_id: 'input[0].content[0]' }]],
    [
      user([{ type: 'input_file', file_data: PNG, filename: 'a.png' }]),
      [{ type: 'input_file', file_id: 'input[0].content[0]', filename: 'a.png' }],
    ],
  ])('of %j has no bytes', (item, content) => expect(stored(item)).toEqual({ type: 'message', role: item.role, content }));

  it('names the attachments that were made of its files', () => {
    const picture = { type: 'input_image', detail: 'auto', file_id: 'input[0].content[0]' };
    const lost = { type: 'input_file', file_id: 'input[0].content[1]' };
    const text = { type: 'input_text', text: 'Q' };
    const rest = [
      { type: 'reasoning', summary: [] },
      { type: 'message', role: 'assistant', content: [lost] },
    ];
    expect(
      withAttachments(
        [{ type: 'message', role: 'user', content: [picture, lost, text] }, ...rest],
        new Map([['input[0].content[0]', ID]]),
      ),
    ).toEqual([
      { type: 'message', role: 'user', content: [{ ...picture, file_id: ID }, { ...lost, file_id: null }, text] },
      ...rest,
    ]);
  });
});
