import { describe, expect, it } from '@jest/globals';
import type { MessagePart } from '../../../resources/models/model/language-model.port.js';
import {
  CHARACTERS_PER_TOKEN,
  documentsThatFit,
  messagesFor,
  type Prompted,
  RESERVED_TOKENS,
  SOURCES_BYTES_MAX,
} from './messages.policy.js';

const tokensOf = (count: number): string => 'x'.repeat(count * CHARACTERS_PER_TOKEN);
const exchange = (name: string) => ({ prompt: name.padEnd(35), response: 'x'.repeat(35) });
const prompted = (more: Partial<Prompted> = {}): Prompted => ({
  systemPrompt: 'Be brief.',
  holdsDocuments: false,
  documents: undefined,
  exchanges: [],
  question: 'What is tea?',
  attached: { parts: [], tokens: 0 },
  contextWindow: 10_000,
  ...more,
});
const chunk = (text: string, tokens: number) => ({
  source: 'Tea',
  sourceId: 's1',
  text,
  title: 'Tea',
  filename: 'tea.md',
  tokens,
  score: 1,
});
const lastOf = (more: Partial<Prompted>) => messagesFor(prompted(more)).at(-1)!.content;

describe('the messages for a model', () => {
  it('are the prompt, the history and the question', () =>
    expect(messagesFor(prompted({ exchanges: [{ prompt: 'Hi', response: 'Hello' }] }))).toEqual([
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: 'Hello' },
      { role: 'user', content: 'What is tea?' },
    ]));

  it('have as much of the newest history as the context window holds', () => {
    const past = { systemPrompt: '', question: '', exchanges: ['first', 'second', 'third'].map(exchange) };
    const asked = (tokens: number, more: Partial<Prompted> = {}) =>
      messagesFor(prompted({ ...past, contextWindow: RESERVED_TOKENS + tokens, ...more }))
        .filter(({ role }) => role === 'user')
        .map(({ content }) => (content as string).trim());
    expect(asked(60)).toEqual(['first', 'second', 'third', '']);
    expect(asked(59)).toEqual(['second', 'third', '']);
    expect(asked(20)).toEqual(['third', '']);
    expect(asked(19)).toEqual(['']);
    expect(asked(50, { systemPrompt: tokensOf(10), attached: { parts: [], tokens: 20 } })).toEqual(['third', '']);
  });

  it('have the documents that were found, unless the prompt contains them', () => {
    const documents = [chunk('Tea is a drink.', 5)];
    expect(lastOf({ documents })).toMatch(/^<documents>\n[^]*Tea is a drink\.[^]*<\/documents>\n[^]*\n\nWhat is tea\?$/);
    expect(lastOf({ documents, holdsDocuments: true })).toBe('What is tea?');
    expect(lastOf({ documents: [] })).toMatch(/found nothing[^]*What is tea\?$/);
    expect(lastOf({ documents: undefined })).toBe('What is tea?');
  });

  it('have attachments before the question, as one text if all of them are text', () => {
    const text: MessagePart = { type: 'text', text: 'A list.' };
    const picture: MessagePart = { type: 'image', dataUrl: 'data:image/png;base64,AA==' };
    const question = { type: 'text', text: 'What is tea?' };
    expect(lastOf({ attached: { parts: [text], tokens: 1 } })).toBe('A list.\n\nWhat is tea?');
    expect(lastOf({ attached: { parts: [text, picture], tokens: 1 } })).toEqual([text, picture, question]);
  });
});

describe('the documents that fit', () => {
  it('take at most nine tenths of the context window, beside what is reserved', () => {
    const window = RESERVED_TOKENS + 1_000;
    expect(documentsThatFit([chunk('a', 900)], window)).toHaveLength(1);
    expect(documentsThatFit([chunk('a', 901)], window)).toEqual([]);
  });
  it('may take a hundred tokens of the smallest context window', () =>
    expect(documentsThatFit([chunk('a', 100), chunk('b', 1)], 0).map(({ text }) => text)).toEqual(['a']));
  it('leave out a document that is too large, and keep later ones', () =>
    expect(documentsThatFit([chunk('a', 60), chunk('b', 60), chunk('c', 40)], 0).map(({ text }) => text)).toEqual(['a', 'c']));
  it('take at most SOURCES_BYTES_MAX', () => {
    const large = chunk('x'.repeat(SOURCES_BYTES_MAX / 2), 1);
    expect(documentsThatFit([large, large, chunk('c', 1)], 100_000)).toEqual([large, chunk('c', 1)]);
  });
});
