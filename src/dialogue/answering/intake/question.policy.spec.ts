import { describe, expect, it } from '@jest/globals';
import { JSON_ENTRIES_MAX } from '../../../kernel/bounded-json.js';
import {
  askedByReader,
  HISTORY_CHARACTERS_MAX,
  HISTORY_EXCHANGES_MAX,
  parseHistory,
  QUESTION_CHARACTERS_MAX,
  requireLengths,
  SYSTEM_PROMPT_CHARACTERS_MAX,
} from './question.policy.js';

describe('the texts of a question', () => {
  it.each([
    ['question', QUESTION_CHARACTERS_MAX],
    ['system_prompt_override', SYSTEM_PROMPT_CHARACTERS_MAX],
  ])('%s has at most %i characters, where a surrogate pair counts as one', (field, max) => {
    for (const character of ['x', '\u{1f642}']) {
      requireLengths({ [field]: character.repeat(max) });
      for (const text of [character.repeat(max + 1), character.repeat(max) + 'x', character.repeat(2 * max + 1)])
        expect(() => requireLengths({ [field]: text })).toThrow(
          expect.objectContaining({
            code: 'invalid-request',
            message: `${field} must be shorter than or equal to ${max} characters`,
          }),
        );
    }
    requireLengths({ [field]: null });
  });
});

describe('a history', () => {
  const exchange = { prompt: 'Why?', response: 'Because.' };

  it('is an array of exchanges or its JSON text, and other fields of entries are dropped', () => {
    const given = [{ ...exchange, sources: [1] }, { prompt: 'Unanswered' }, exchange];
    for (const history of [given, JSON.stringify(given)]) expect(parseHistory(history)).toEqual([exchange, exchange]);
    for (const history of [undefined, null, '', ' ']) expect(parseHistory(history)).toEqual([]);
  });

  it('may have the maximum number of long exchanges', () => {
    const long = Array.from({ length: HISTORY_EXCHANGES_MAX }, () => ({ ...exchange, response: 'x'.repeat(4_000) }));
    expect(parseHistory(JSON.stringify(long))).toEqual(long);
  });

  it.each([
    [
      'of too many exchanges',
      [...Array(HISTORY_EXCHANGES_MAX + 1).keys()].map(() => exchange),
      'invalid-request',
      /at most 1000 entries/,
    ],
    ['of too many entries inside', `[{"a":[${'0,'.repeat(JSON_ENTRIES_MAX)}0]}]`, 'too-large', /^history holds more than 20000/],
    ['nested too deep', '['.repeat(1_000_000), 'invalid-request', /^history is nested deeper than 100/],
    ['of too many characters', ' '.repeat(HISTORY_CHARACTERS_MAX) + '[]', 'too-large', /more than 4194304 characters/],
    ['that is no JSON', '[{', 'invalid-request', /must be valid JSON/],
  ])('%s is refused', (_, history, code, message) => {
    expect(() => parseHistory(history)).toThrow(
      expect.objectContaining({ code, message: expect.stringMatching(message) as unknown }),
    );
  });
});

describe('a reader of a link', () => {
  const terms = { agentId: null, promptId: 'p1', sourceId: 's1', chunks: 3 };

  it('sets only the question, its history and its place; the link sets the rest', () => {
    const own = { question: 'Why?', history: [], conversation_id: 'c1', index: 1 };
    const others = {
      agent_id: 'a1',
      prompt_id: 'p2',
      active_docs: 's2',
      chunks: 9,
      model_id: 'm',
      visibility: 'listed',
      passthrough: {},
    };
    const asked = { ...own, agent_id: null, prompt_id: 'p1', active_docs: 's1', chunks: 3 };
    expect(askedByReader({ ...own, ...others }, terms)).toEqual(asked);
  });

  it.each([{ client_tools: [{}] }, { attachments: ['a'] }])('must not send %j', (more) =>
    expect(() => askedByReader({ question: 'Why?', ...more }, terms)).toThrow('no tools and no files'),
  );
});
