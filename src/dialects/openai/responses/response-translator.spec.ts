import { describe, expect, it } from '@jest/globals';
import type { Frame } from '../../../dialogue/journal/message.events.js';
import type { ResponseHead } from './response-object.policy.js';
import { ResponseTranslator, type TranslatedEvent } from './response-translator.js';

const TURN = '0b9d3f6e-21c4-4f0b-8a55-3c1f6f0d9e01';
const CONVERSATION = '6f0c0a52-6b0e-4a3c-9a57-0c7f5d1f2b10';
const HEAD: ResponseHead = {
  responseId: TURN,
  conversationId: CONVERSATION,
  turnId: TURN,
  after: -1,
  createdAt: 1_790_000_000,
  translator: 1,
  isStored: true,
  echo: {
    background: false,
    instructions: null,
    max_output_tokens: null,
    metadata: {},
    model: 'agent',
    previous_response_id: null,
    temperature: null,
    text: { format: { type: 'text' } },
    tools: [],
    top_p: null,
  },
};
const END = { usage: { promptTokens: 3, completionTokens: 2 }, completedAt: 1_790_000_009 };

const BEGIN: Frame = { type: 'message_id', message_id: TURN, conversation_id: null, request_id: 'r' };
const CLOSE: readonly Frame[] = [
  { type: 'source', source: [] },
  { type: 'tool_calls', tool_calls: [] },
  { type: 'id', id: CONVERSATION },
  { type: 'end' },
];

function told(frames: readonly Frame[], head = HEAD): readonly TranslatedEvent[] {
  const translator = new ResponseTranslator(head);
  const events = [...translator.opening(), ...frames.flatMap((frame, id) => translator.add(id, frame))];
  return translator.ending ? [...events, ...translator.closing(END)] : events;
}

const short = ({ type, sequence_number: number, response, ...rest }: TranslatedEvent): string =>
  `${number} ${type.replace(/^response\./, '')} ${JSON.stringify(response ? (response as { status: string }).status : rest)}`;

describe('version 1 of the translation', () => {
  // Events that a client has received must never change. If this test fails, a new version is needed, not another expectation.
  it('translates thoughts, text and the end of an answer to exactly these events', () => {
    const frames: Frame[] = [
      BEGIN,
      { type: 'thought', thought: 'Hm' },
      { type: 'answer', answer: 'At ' },
      { type: 'answer', answer: '4' },
    ];
    expect(told([...frames, ...CLOSE]).map(short)).toEqual([
      '0 created "in_progress"',
      '1 in_progress "in_progress"',
      `2 output_item.added {"output_index":0,"item":{"id":"rs_${TURN}_1","type":"reasoning","status":"in_progress","summary":[],"content":[]}}`,
      `3 content_part.added {"item_id":"rs_${TURN}_1","output_index":0,"content_index":0,"part":{"type":"reasoning_text","text":""}}`,
      `4 reasoning_text.delta {"item_id":"rs_${TURN}_1","output_index":0,"content_index":0,"delta":"Hm"}`,
      `5 reasoning_text.done {"item_id":"rs_${TURN}_1","output_index":0,"content_index":0,"text":"Hm"}`,
      `6 content_part.done {"item_id":"rs_${TURN}_1","output_index":0,"content_index":0,"part":{"type":"reasoning_text","text":"Hm"}}`,
      `7 output_item.done {"output_index":0,"item":{"id":"rs_${TURN}_1","type":"reasoning","status":"completed","summary":[],"content":[{"type":"reasoning_text","text":"Hm"}]}}`,
      `8 output_item.added {"output_index":1,"item":{"id":"msg_${TURN}_2","type":"message","status":"in_progress","role":"assistant","content":[]}}`,
      `9 content_part.added {"item_id":"msg_${TURN}_2","output_index":1,"content_index":0,"part":{"type":"output_text","annotations":[],"logprobs":[],"text":""}}`,
      `10 output_text.delta {"item_id":"msg_${TURN}_2","output_index":1,"content_index":0,"delta":"At ","logprobs":[]}`,
      `11 output_text.delta {"item_id":"msg_${TURN}_2","output_index":1,"content_index":0,"delta":"4","logprobs":[]}`,
      `12 output_text.done {"item_id":"msg_${TURN}_2","output_index":1,"content_index":0,"text":"At 4","logprobs":[]}`,
      `13 content_part.done {"item_id":"msg_${TURN}_2","output_index":1,"content_index":0,"part":{"type":"output_text","annotations":[],"logprobs":[],"text":"At 4"}}`,
      `14 output_item.done {"output_index":1,"item":{"id":"msg_${TURN}_2","type":"message","status":"completed","role":"assistant","content":[{"type":"output_text","annotations":[],"logprobs":[],"text":"At 4"}]}}`,
      '15 completed "completed"',
    ]);
  });

  it('empties items that a guardrail retracts, and keeps their indexes', () => {
    const guardrail = { stage: 'output', categories: [], checks: ['secrets'] };
    const events = told([
      BEGIN,
      { type: 'answer', answer: 'It is' },
      { type: 'guardrail', guardrail, retract: true },
      { type: 'error', error: 'No.', code: 'guardrail' },
      { type: 'id', id: CONVERSATION },
      { type: 'end' },
    ]);
    expect(events.at(-1)).toMatchObject({
      type: 'response.incomplete',
      response: {
        status: 'incomplete',
        incomplete_details: { reason: 'content_filter' },
        output: [
          { content: [], status: 'incomplete' },
          { content: [{ type: 'refusal', refusal: 'No.' }], status: 'completed' },
        ],
      },
    });
  });

  it.each<[string, Frame[], object]>([
    [
      'stopped',
      [BEGIN, { type: 'answer', answer: 'At' }, { type: 'error', error: 'x', code: 'stopped' }],
      { status: 'cancelled' },
    ],
    [
      'interrupted',
      [BEGIN, { type: 'error', error: 'Broken.', code: 'interrupted' }, { type: 'id', id: CONVERSATION }, { type: 'end' }],
      { status: 'failed', error: { code: 'server_error', message: 'Broken.' } },
    ],
    [
      'structured',
      [BEGIN, { type: 'structured_answer', answer: '{"a":1}', structured: true, schema: null }, { type: 'end' }],
      { status: 'completed', output: [{ content: [{ text: '{"a":1}' }] }] },
    ],
  ])('ends with the right response for an answer that was %s', (_, frames, response) => {
    expect(told(frames).at(-1)).toMatchObject({ response });
  });

  it('returns the same events each time and numbers them without gaps, also in the background', () => {
    const frames: Frame[] = [BEGIN, { type: 'answer', answer: 'At 4' }, ...CLOSE];
    const background = { ...HEAD, echo: { ...HEAD.echo, background: true } };
    for (const head of [HEAD, background]) {
      expect(JSON.stringify(told(frames, head))).toBe(JSON.stringify(told(frames, head)));
      expect(told(frames, head).map(({ sequence_number }) => sequence_number)).toEqual(told(frames, head).map((_, at) => at));
    }
    expect(told([], background).map(({ type }) => type)).toEqual(['response.created', 'response.queued']);
  });
});
