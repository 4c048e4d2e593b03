import { describe, expect, it } from '@jest/globals';
import { olderQuestionIn } from './older-question.policy.js';

const ID = '00000000-0000-4000-8000-000000000000';

describe('a question of an older client', () => {
  it('can have its history as text, list or empty text, and one or several sources', () => {
    const exchanges = [{ prompt: 'Hi', response: 'Hello' }];
    expect(olderQuestionIn({ question: 'Why?', history: JSON.stringify(exchanges), active_docs: ID })).toEqual({
      question: 'Why?',
      exchanges,
      sources: [ID],
    });
    expect(olderQuestionIn({ question: 'Why?', history: exchanges, active_docs: [ID, 'default', ID] }).sources).toEqual([ID]);
    for (const nothing of ['', 'default', undefined, null])
      expect(olderQuestionIn({ question: 'Why?', history: '', active_docs: nothing })).toMatchObject({
        exchanges: [],
        sources: [],
      });
  });

  it.each([
    [{}, 'Missing required fields: question'],
    [{ question: ' ' }, 'Missing required fields: question'],
    [{ question: 'x'.repeat(131_073) }, 'question has more than 131072 characters'],
    [
      { question: 'x', active_docs: 'x'.repeat(2_001) },
      'active_docs must name at most 100 sources, each with at most 2000 characters',
    ],
    [{ question: 'x', active_docs: [7] }, 'active_docs must name at most 100 sources, each with at most 2000 characters'],
    [
      { question: 'x', active_docs: Array(101).fill(ID) },
      'active_docs must name at most 100 sources, each with at most 2000 characters',
    ],
  ])('is refused: %#', (body, message) => {
    expect(() => olderQuestionIn(body)).toThrow(message);
  });
});
