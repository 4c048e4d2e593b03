import { expect, it } from '@jest/globals';
import { documentBlock } from './document-block.policy.js';

it.each([
  [
    'the file and the pages it comes from',
    { filename: 'report.pdf', title: 'report, pages 2–4' },
    'report.pdf (report, pages 2–4)',
  ],
  ['the file alone if the title adds nothing', { filename: 'report.pdf', title: 'report' }, 'report.pdf'],
  ['the title if there is no file', { title: 'Report' }, 'Report'],
  ['the source if there is neither', { title: '' }, 'docs'],
])('the label of a document is %s', (_, document, label) => {
  expect(documentBlock([{ text: 'Text.', source: 'docs', ...document }])).toBe(`[1] ${label}\nText.`);
});
