import { expect, it } from '@jest/globals';
import { readNodeConfig } from './node-config.policy.js';
import type { WorkflowNode } from './workflow-graph.policy.js';

type Read = Pick<WorkflowNode, 'type' | 'data'>;
const list = (count: number) => Array.from({ length: count }, () => ({}));

it.each<readonly [what: string, max: number, node: (n: number) => Read]>([
  ['chunks of an agent', 500, (n) => ({ type: 'agent', data: { chunks: n } })],
  ['cases of a condition', 50, (n) => ({ type: 'condition', data: { cases: list(n) } })],
  ['operations on the state', 50, (n) => ({ type: 'state', data: { operations: list(n) } })],
  ['seconds of code', 3_600, (n) => ({ type: 'code', data: { code: 'pass', timeout: n } })],
  ['characters of an expression', 10_000, (n) => ({ type: 'condition', data: { cases: [{ expression: 'x'.repeat(n) }] } })],
])('%s are at most %i', (_, max, node) => {
  const problems = (n: number) => readNodeConfig(node(n)).problems.filter((problem) => problem.includes(String(max)));
  expect([problems(max), problems(max + 1).length]).toEqual([[], 1]);
});
