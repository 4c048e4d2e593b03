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
const wholeAnswerTo = async (asked: ModelRequest) => textOf(await collect(asked));
/** The answer without the line that introduces the model. */
const answerTo = async (asked: ModelRequest) => (await wholeAnswerTo(asked)).replace(/^This is the built-in [^\n]*\n\n/, '');
const quoting = (title: string, text: string) => ({ documents: [{ title, text, source: 'docs' }] });

describe('the offline model', () => {
  it('quotes the sentences that fit the question and names their document', async () => {
    expect(await answerTo(request('How long are message events kept?'))).toBe(
      'According to “Retention.md”: Message events are kept for 14 days.',
    );
  });

  it('introduces itself and names the settings for another model in the first answer of a conversation only', async () => {
    const asked = request('How long are message events kept?');
    const [line, empty] = (await wholeAnswerTo(asked)).split('\n');
    expect(line).toMatch(/built-in extractive model.*OPENAI_BASE_URL/);
    expect(empty).toBe('');
    expect(await wholeAnswerTo({ ...asked, documents: [] })).toMatch(/^This is the built-in/);
    const later = [{ role: 'user', content: 'Hello' }, { role: 'assistant', content: 'Hello.' }, ...asked.messages] as const;
    expect(await wholeAnswerTo({ ...asked, messages: later })).toMatch(/^According to/);
  });

  it('quotes no code blocks and no table heads, and each matching table row on a line with its cells', async () => {
    const text =
      'Fry:\n\n```\nask "How are onions fried?"\n```\n\n| Onions | Fried |\n|---|---|\n| red onions | fried slowly |\n| bread | toasted |\n| onions | fried fast |\n';
    expect(await answerTo(request('How are onions fried?', quoting('Dishes.md', text)))).toBe(
      'According to “Dishes.md”:\n\n- red onions – fried slowly\n- onions – fried fast',
    );
  });

  it('quotes the matching rows of a spreadsheet', async () => {
    const text = 'Dish: onions, Price: 3. Cheap\nDish: bread, Price: 4\nDish: fried onions, Price: 5';
    expect(await answerTo(request('What is the price of onions?', quoting('Menu.csv', text)))).toBe(
      'According to “Menu.csv”:\n\n- Dish: onions, Price: 3. Cheap\n- Dish: fried onions, Price: 5',
    );
  });

  it.each([
    ['marked', '# How onions are fried\nSlowly, in butter.'],
    ['underlined', 'How onions are fried\n====\nSlowly, in butter.'],
    ['equal to the title of the page', 'How onions are fried\n\nSlowly, in butter.'],
  ])('quotes the text under a heading but never the heading: %s', async (_, text) => {
    const asked = request('How are onions fried?', quoting('How onions are fried', text));
    expect(await answerTo(asked)).toBe('According to “How onions are fried”: Slowly, in butter.');
  });

  it('separates sentences, list items and rows', async () => {
    const text = '## Onions\nOnions are fried.\n- Cut onions. Peel onions first.\n* Weigh onions\n\n| onions | two |\nThe end.';
    expect(await answerTo(request('onions', quoting('A', text)))).toBe(
      'According to “A”: Onions are fried.\n\n- Cut onions. Peel onions first.\n- Weigh onions\n- onions – two',
    );
  });

  it('opens the answer with the first retrieved document, even if another fits better', async () => {
    const asked = request('How long does a stew take?', {
      documents: [{ title: 'Pots.md', text: 'A pot for a stew is heavy.', source: 'docs' }, ...documents],
    });
    expect(await answerTo(asked)).toBe(
      'According to “Pots.md”: A pot for a stew is heavy.\n\n“Cooking.md” adds: A stew takes three hours.',
    );
  });

  it('answers the same request identically and word by word', async () => {
    const [first, second] = [await collect(request('How are onions fried?')), await collect(request('How are onions fried?'))];
    expect(first).toEqual(second);
    expect(first.filter(({ type }) => type === 'text').length).toBeGreaterThan(7);
  });

  it('says that it found nothing, with and without documents', async () => {
    for (const asked of [request('Who won the chess tournament?'), request('How are onions fried?', { documents: [] })]) {
      expect(await answerTo(asked)).toMatch(/^I found nothing about this/);
    }
  });

  it('relates a question without meaningful words to the previous question', async () => {
    const messages = [
      { role: 'user', content: 'How long does a stew take?' },
      { role: 'assistant', content: 'Three hours.' },
      { role: 'user', content: 'Why is that?' },
    ] as const;
    expect(await answerTo(request('Why is that?', { messages }))).toContain('A stew takes three hours.');
  });

  it('reports its usage and why it stopped at the end', async () => {
    const chunks = await collect(request('How are onions fried?', { maxTokens: 2 }));
    expect(chunks.slice(-2)).toEqual([
      { type: 'usage', promptTokens: 6, completionTokens: 2 },
      { type: 'finish', reason: 'length' },
    ]);
  });

  it('stops as soon as the signal aborts', async () => {
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

describe('the offline model with a response schema', () => {
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
    'a recursive tree': {
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

  it.each(Object.keys(schemas))('answers with valid JSON for %s', async (name) => {
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    for (const question of ['How long does a stew take?', 'Who won the chess tournament?']) {
      const value: unknown = JSON.parse(await answerTo(request(question, { responseSchema: schemas[name]! })));
      expect({ valid: ajv.validate(schemas[name]!, value), errors: ajv.errors }).toEqual({ valid: true, errors: null });
    }
  });

  const node = {
    type: 'object',
    properties: Object.fromEntries(Array.from({ length: 40 }, (_, at) => [`p${at}`, { $ref: '#/$defs/n' }])),
  };
  it.each<[string, object]>([
    ['long lists', { type: 'array', minItems: 10_000_000, items: { type: 'string' } }],
    [
      'long lists of long lists',
      { type: 'array', minItems: 10_000, items: { type: 'array', minItems: 10_000, items: { type: 'null' } } },
    ],
    ['long texts', { type: 'string', minLength: 100_000_000 }],
    ['wide trees', { ...node, $defs: { n: node } }],
    [
      'parts that multiply',
      {
        type: 'object',
        allOf: Array(30).fill({ $ref: '#/$defs/a' }),
        $defs: { a: { allOf: Array(30).fill({ $ref: '#/$defs/a' }) } },
      },
    ],
  ])('limits the size of its answer to a schema that requires %s', async (_, responseSchema) => {
    expect((await answerTo(request('How long does a stew take?', { responseSchema }))).length).toBeLessThan(5_000_000);
  });
});
