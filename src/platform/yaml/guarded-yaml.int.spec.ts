import { afterAll, describe, expect, it } from '@jest/globals';
import { GuardedYaml } from './guarded-yaml.js';

const MEGABYTE = 1_000_000;
const bounds = { nestingMax: 100, aliasesMax: 100, memoryMegabytesMax: 256 };
const yaml = new GuardedYaml({ deadlines: { textMs: 60_000, busyMs: 120_000 }, bounds });
afterAll(() => yaml.close());

/** A flow or block mapping with very many keys. V8 allocates its table in one piece. */
const keys = (count: number, separator: string) =>
  Array.from({ length: count }, (_, index) => `k${index.toString(36)}: 1`).join(separator);
const merged = (bytes: number) =>
  [`a: &a {${keys(bytes / 10, ', ')}}`, ...Array.from({ length: 99 }, (_, index) => `b${index}: {<<: *a}`)].join('\n');

describe('YAML in a process', () => {
  it('is read', async () => {
    expect(await yaml.read('a: &x [1]\nb: *x')).toEqual({ a: [1], b: [1] });
  });

  it('is refused with the reason', async () => {
    const problem = { name: 'YamlRefused', message: expect.stringMatching(/^Invalid YAML: .*dupl/) };
    await expect(yaml.read('a: 1\na: 2')).rejects.toMatchObject(problem);
  });

  it('is refused for now if too many texts are waiting', async () => {
    const results = await Promise.allSettled(Array.from({ length: 60 }, () => yaml.read('a: 1')));
    const refusals = results.flatMap((result) => (result.status === 'rejected' ? [result.reason as unknown] : []));
    expect(refusals).toHaveLength(8);
    for (const refusal of refusals) expect(refusal).toMatchObject({ name: 'YamlBusy' });
  });

  it.each([
    ['a block mapping', keys((6 * MEGABYTE) / 8, '\n')],
    ['a flow mapping', `{${keys((7 * MEGABYTE) / 9, ', ')}}`],
    ['merged mappings', merged(8 * MEGABYTE)],
  ])('does not end the service when it needs more memory than a thread may have: %s', async (_, text) => {
    const problem = { name: 'YamlRefused', message: expect.stringContaining('too much memory') };
    await expect(yaml.read(text)).rejects.toMatchObject(problem);
    expect(await yaml.read('a: 1')).toEqual({ a: 1 });
  });
});
