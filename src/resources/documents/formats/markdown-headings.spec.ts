import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import { lexer } from 'marked';
import { headingsIn } from './markdown-headings.js';

const ours = (text: string): readonly string[] => headingsIn(text).map((heading) => heading.text);
/** The headings that a full Markdown parser finds. */
const marked = (text: string): readonly string[] =>
  lexer(text).flatMap((token) => (token.type === 'heading' ? [String(token.text).replaceAll('\n', ' ')] : []));

it.each([
  ['# One\n\n## Two ##\ntext\n###### Six\n####### Seven\n#None', ['One', 'Two', 'Six']],
  ['One\n===\nTwo\nlines\n---\n\n---\ntext\n\n===\n', ['One', 'Two lines']],
  ['```\n# code\n```\n~~~ sh\n# code\n```\n~~~~\n# One', ['One']],
  ['> quoted\nlazy\n===\n\n- # item\n  # item\n\n  text\n---\n\n# One', ['One']],
  ['> # quoted\nTwo\n===\n> > ```\n\n# One', ['Two', 'One']],
  ['1. item\n\n   # inside\n\n# One\n\n2. item', ['One']],
  ['    # code\n\ntext\n    # text\n\n\t# code', []],
  ['<div>\n# html\n\n# One\n<!-- \n# comment\n\n-->\n<pre>\n\n# pre\n</pre>\n# Two', ['One', 'Two']],
  ['| a |\n|---|\n| b |\n\n# One', ['One']],
  ['# *One* `two`', ['*One* `two`']],
])('finds the headings of %j', (text, headings) => {
  expect(ours(text)).toEqual(headings);
  expect(marked(text)).toEqual(headings);
});

it('returns the position of a heading, also of one with several lines', () => {
  const text = 'Intro.\n\nOne\nmore\n===\n\n  ## Two\n';
  expect(headingsIn(text).map(({ start }) => text.slice(start, start + 5))).toEqual(['One\nm', '  ## ']);
});

it('finds the same headings as a full Markdown parser', () => {
  const block = fc.constantFrom(
    '# Heading',
    '## Heading ##',
    'Heading\n=======',
    'Two lines\nof a heading\n---',
    'A paragraph.\nOf two lines.',
    '- item\n- item\n  # inside\n\n  more',
    '- item\n  - item\n    - item\n\n      # inside',
    '1. item\n2. item\n\n   # inside',
    '> quoted\n> # quoted\n> > more',
    '> quoted\nlazy',
    '> # quoted',
    '```sh\n# code\n```',
    '~~~\n# code\n\n# code\n~~~',
    '    # code\n\n    # code',
    '<div>\n# html\n</div>',
    '<!-- # comment\n\n# comment -->',
    '<details>\n\n# Heading\n\n</details>',
    '| a | b |\n|---|---|\n| # | d |',
    '***',
    '- - -',
    '[link]: http://example.org',
    '![picture](a.png)',
  );
  const parts = fc.array(fc.tuple(block, fc.constantFrom('\n\n', '\n\n\n', '\n \n')), { maxLength: 8 });
  fc.assert(
    fc.property(parts, (blocks) => {
      const text = blocks.flat().join('');
      expect(ours(text)).toEqual(marked(text));
    }),
    { numRuns: 1_000 },
  );
});
