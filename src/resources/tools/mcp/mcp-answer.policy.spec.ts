import { describe, expect, it } from '@jest/globals';
import { resultOf, withoutSecrets } from './mcp-answer.policy.js';

describe('the result of a call', () => {
  it('is the structured content if there is any, even null or 0', () => {
    const content = [{ type: 'text', text: 'nine' }];
    expect([{ of: 9 }, [], null, 0].map((structuredContent) => resultOf({ content, structuredContent }))).toEqual([
      { of: 9 },
      [],
      null,
      0,
    ]);
  });

  it('is otherwise its text, in lines', () => {
    expect(
      resultOf({
        content: [
          { type: 'text', text: 'a' },
          { type: 'text', text: 'b' },
        ],
      }),
    ).toBe('a\nb');
    expect(resultOf({})).toBe('');
  });

  it('has the text of an embedded resource, and only names one that is not text', () => {
    const [uri, mimeType] = ['repo://a/README.md', 'text/plain'];
    const resources = [
      { uri, mimeType, text: '# Read me' },
      { uri, mimeType: 'image/png', blob: 'AA==' },
    ];
    expect(resultOf({ content: resources.map((resource) => ({ type: 'resource', resource })) })).toBe(
      '[resource repo://a/README.md]\n# Read me\n[resource repo://a/README.md, image/png, not shown]',
    );
  });

  it('names content of an unknown type', () => {
    expect(resultOf({ content: [{ type: 'hologram' }] })).toBe('[hologram, not shown]');
  });

  it('is an error if the tool failed, even without a text', () => {
    expect(resultOf({ isError: true, structuredContent: { ignored: true } })).toEqual({
      status: 'error',
      error: 'The tool failed without saying why.',
    });
  });
});

describe('a result', () => {
  it('has the secrets that were sent replaced, also JSON-escaped', () => {
    const secret = 'a "long" secret\\';
    expect(withoutSecrets({ deep: [`key=${secret}!`] }, [secret])).toEqual({ deep: ['key=[removed]!'] });
  });

  it('keeps secrets that are too short to be distinguished from words', () => {
    expect(withoutSecrets({ name: 'ann' }, ['ann', ''])).toEqual({ name: 'ann' });
  });
});
