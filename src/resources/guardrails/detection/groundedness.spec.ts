import { describe, expect, it } from '@jest/globals';
import { ungrounded } from './groundedness.js';

describe('an answer', () => {
  const settings = { min_overlap: 0.3, min_words: 5, require_retrieval: true };
  const answer = 'Zebras migrate across Kenyan grasslands during summer';
  it.each([
    [
      'is grounded if a document contains its words',
      answer,
      ['In summer zebras migrate across the grasslands.'],
      settings,
      undefined,
    ],
    [
      'is ungrounded if no document contains its words',
      answer,
      ['Invoices are paid monthly.'],
      settings,
      { category: 'UNGROUNDED', score: 0 },
    ],
    ['has no sources if there are no documents', answer, [], settings, { category: 'NO_SOURCES', score: 0 }],
    ['needs no documents if the settings require none', answer, [], { ...settings, require_retrieval: false }, undefined],
    ['is not judged if it is too short', 'Yes, zebras do.', [], settings, undefined],
    [
      'in Chinese is compared character by character',
      '斑马在夏天穿越草原',
      ['发票每月支付'],
      settings,
      { category: 'UNGROUNDED', score: 0 },
    ],
  ] as const)('%s', (_, text, documents, its, expected) => expect(ungrounded(text, documents, its)).toEqual(expected));
});
