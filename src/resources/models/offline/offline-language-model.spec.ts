import { describe, expect, it } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { ModelChunk, ModelRequest } from '../model/language-model.port.js';
import { OfflineLanguageModel } from './offline-language-model.js';

const documents = [
  {
    title: 'Retention.md',
    text: '# Retention\n\nMessage events are kept for 14 days. After that a replay answers 410.\n\nBackups run at night.',
    source: 'docs',
  },
  { title: 'Cooking.md', text: 'Onions are fried first. A stew takes three hours.', source: 'docs' },
];
const request = (question: string, more: Partial<ModelRequest> = {}): ModelRequest => ({
  modelId: 'offline',
  messages: [{ role: 'user', content: question }],
  question,
  documents,
  ...more,
});
const collect = async (asked: ModelRequest, signal = new AbortController().signal) => {
  const chunks: ModelChunk[] = [];
  for await (const chunk of new OfflineLanguageModel().stream(asked, signal)) chunks.push(chunk);
  return chunks;
};
const textOf = (chunks: readonly ModelChunk[]) => chunks.map((chunk) => (chunk.type === 'text' ? chunk.text : '')).join('');
const answerTo = async (asked: ModelRequest) => textOf(await collect(asked));

describe('the offline model', () => {
  it('quotes the sentences that fit the question and names their document', async () => {
    expect(await answerTo(request('How long are message events kept?'))).toBe(
      'According to “Retention.md”: Message events are kept for 14 days.',
    );
  });

  it('quotes no blocks of code, and rows of tables as their cells', async () => {
    const text = 'Try it:\n\n```\nask "How are onions fried?"\n```\n\n| Dish | How |\n|---|---|\n| onions | fried slowly |';
    const asked = request('How are onions fried?', { documents: [{ title: 'Dishes.md', text, source: 'docs' }] });
    expect(await answerTo(asked)).toBe('According to “Dishes.md”: onions – fried slowly');
  });

  it('answers the same request the same every time, word by word', async () => {
    const [first, second] = [await collect(request('How are onions fried?')), await collect(request('How are onions fried?'))];
    expect(first).toEqual(second);
    expect(first.filter(({ type }) => type === 'text')).toHaveLength(7);
  });

  it('says plainly that nothing was found, with documents and without', async () => {
    for (const asked of [request('Who won the chess tournament?'), request('How are onions fried?', { documents: [] })]) {
      expect(await answerTo(asked)).toMatch(/^I found nothing about this/);
    }
  });

  it('takes a question that names nothing to be about the question before', async () => {
    const messages = [
      { role: 'user', content: 'How long does a stew take?' },
      { role: 'assistant', content: 'Three hours.' },
      { role: 'user', content: 'Why is that?' },
    ] as const;
    expect(await answerTo(request('Why is that?', { messages }))).toContain('A stew takes three hours.');
  });

  it('ends with what it used and why it stopped', async () => {
    const chunks = await collect(request('How are onions fried?', { maxTokens: 2 }));
    expect(chunks.slice(-2)).toEqual([
      { type: 'usage', promptTokens: 6, completionTokens: 4 },
      { type: 'finish', reason: 'length' },
    ]);
  });

  it('stops at once when it is told to', async () => {
    const stop = new AbortController();
    const chunks: ModelChunk[] = [];
    for await (const chunk of new OfflineLanguageModel({ wordDelayMs: 5 }).stream(
      request('How are onions fried?'),
      stop.signal,
    )) {
      chunks.push(chunk);
      stop.abort();
    }
    expect(chunks).toHaveLength(1);
  });
});

describe('the offline model, asked for structured output', () => {
  const schemas: Record<string, object> = {
    'an answer with a confidence': {
      type: 'object',
      properties: {
        answer: { type: 'string' },
        confidence: { type: 'number', minimum: 0, maximum: 1 },
        found: { type: 'boolean' },
        quotes: { type: 'array', items: { type: 'string' }, minItems: 2 },
        kind: { enum: ['soup', 'stew', 'other'] },
      },
      required: ['answer', 'confidence', 'found', 'quotes', 'kind'],
      additionalProperties: false,
    },
    'a tree that refers to itself': {
      $ref: '#/$defs/node',
      $defs: {
        node: {
          type: 'object',
          properties: { name: { type: 'string', maxLength: 10 }, children: { type: 'array', items: { $ref: '#/$defs/node' } } },
          required: ['name', 'children'],
        },
      },
    },
    'alternatives, constants and combined schemas': {
      type: 'object',
      properties: {
        version: { const: 2 },
        when: { type: ['string', 'null'], format: 'date' },
        either: { anyOf: [{ type: 'null' }, { type: 'integer', exclusiveMinimum: 4, multipleOf: 3 }] },
        both: { allOf: [{ type: 'object', properties: { a: { type: 'string', minLength: 200 } } }, { required: ['a'] }] },
      },
      required: ['version', 'when', 'either', 'both'],
    },
  };

  it.each(Object.keys(schemas))('gives valid JSON for %s', async (name) => {
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    for (const question of ['How long does a stew take?', 'Who won the chess tournament?']) {
      const value: unknown = JSON.parse(await answerTo(request(question, { responseSchema: schemas[name]! })));
      expect({ valid: ajv.validate(schemas[name]!, value), errors: ajv.errors }).toEqual({ valid: true, errors: null });
    }
  });
});
