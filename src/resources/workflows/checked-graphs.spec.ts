import { expect, it } from '@jest/globals';
import { CheckedGraphs } from './checked-graphs.js';

it('a workflow has at most 1 MiB as it is sent', async () => {
  const graphs = new CheckedGraphs({ compile: async () => [] } as never, {} as never, {} as never, {} as never);
  const problems = async (bytes: number) => {
    const nodes = ['x'.repeat(bytes - JSON.stringify([[''], null]).length)];
    return (await graphs.check('ann', nodes, undefined)).problems.join('\n');
  };
  const MIB = 1024 * 1024;
  expect(await problems(MIB)).not.toContain('bytes');
  expect(await problems(MIB + 1)).toBe(`The workflow has ${MIB + 1} bytes; at most ${MIB} are kept`);
});
