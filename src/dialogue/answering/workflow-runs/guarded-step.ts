import type { TurnGuard } from '../loop/turn-guard.js';
import type { NodeResult } from './nodes/node-context.js';
import type { StepCollector } from './step-collector.js';

/**
 * Checks and masks what a step is about to record: its output, the changed variables, its problems and its texts. Later steps
 * read the recorded values.
 * @throws GuardrailBlock
 */
export async function guardStep(guard: TurnGuard, result: NodeResult, made: StepCollector): Promise<void> {
  const { answer, thought } = made.soFar;
  // The output is stored under several names, but each value is checked once.
  const values = [...new Set<unknown>([answer, thought, ...result.problems, result.output, ...Object.values(result.delta)])];
  const kept = values.filter((value) => value !== undefined);
  const guarded = await guard.value('output', kept);
  const as = (value: unknown): unknown => (value === undefined ? undefined : guarded[kept.indexOf(value)]);
  made.rewrite({ answer: as(answer) as string, thought: as(thought) as string });
  result.output = as(result.output);
  for (const [name, value] of Object.entries(result.delta)) result.delta[name] = as(value);
  result.problems.splice(0, Infinity, ...result.problems.map((problem) => as(problem) as string));
}
