import { beforeAll, describe, expect, it } from '@jest/globals';
import { ESLint } from 'eslint';

const QUADRATIC = [
  ['a run with an ambiguous end', 'export const words = /\\w+\\.\\w+/gu;'],
  ['a run up to the end', "export const base = (url: string) => url.replace(/\\/+$/, '');"],
  ['a quantifier within a quantifier', 'export const nested = /^(?:a+)+$/;'],
] as const;

let eslint: ESLint;
/** The lint rules that a text breaks as the content of a file. */
const rulesBroken = async (code: string, filePath: string): Promise<(string | null)[]> => {
  const [result] = await eslint.lintText(code, { filePath });
  return result!.messages.map(({ ruleId }) => ruleId);
};

beforeAll(() => {
  eslint = new ESLint({ ruleFilter: ({ ruleId }) => ruleId.startsWith('regexp') });
});

describe('patterns that take quadratic time', () => {
  it.each(QUADRATIC)('are refused: %s', async (_, code) => {
    for (const file of [
      'src/resources/sources/probe.ts',
      'projections/chunks/probe.ts',
      'src/resources/documents/formats/probe.ts',
    ])
      expect(await rulesBroken(code, file)).toEqual([expect.stringMatching(/^regexp\/no-super-linear-(move|backtracking)$/)]);
  });

  it('are allowed for text that only tests write', async () => {
    expect(await rulesBroken(QUADRATIC[0][1], 'test/support/probe.ts')).toEqual([]);
  });

  it('are distinguished from linear ones', async () => {
    expect(await rulesBroken('export const words = /[\\w.]+/gu;', 'src/resources/sources/probe.ts')).toEqual([]);
  });
});
