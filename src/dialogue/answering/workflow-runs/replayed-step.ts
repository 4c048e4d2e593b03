import type { AnswerDelta } from '../loop/answer-delta.js';
import type { RunStep } from './run/workflow-run.decider.js';
import type { NodeCompleted } from './run/workflow-run.events.js';
import type { RunValues } from './run-values.js';
import type { StepAdditions } from './step-collector.js';
import { haveText, shownVariables, sinceLastStep, type WorkflowSession } from './workflow-session.js';

/** Yields the additions of a step that has already ended, and its end if that is not shown yet. */
export async function* replayedStep(values: RunValues, session: WorkflowSession, step: RunStep): AsyncGenerator<AnswerDelta> {
  const { frames, run } = session;
  const { ended } = step;
  if (ended && 'contribution' in ended) yield* recordedAdditions(values, session, step, ended);
  if (run.signal.aborted) return;
  const delta = frames.isNextMissing ? await values.recallAll(ended!.stateDelta) : {};
  if ('error' in ended!) {
    yield* frames.failed(step, await shownVariables(values, session, step, delta), ended.error);
    return;
  }
  const output = frames.isNextMissing && ended!.output ? await values.recall(ended!.output) : null;
  yield* frames.completed(step, await shownVariables(values, session, step, delta), output);
}

/**
 * Yields the recorded additions of a step. Texts are yielded only if they are not journaled, as in headless runs and held
 * answers.
 */
async function* recordedAdditions(
  values: RunValues,
  { transcript, waiting, run, frames }: WorkflowSession,
  { step, nodeType }: RunStep,
  { contribution, usage }: NodeCompleted['data'],
): AsyncGenerator<AnswerDelta> {
  const { asked } = transcript;
  const isHeadless = asked.conversationId === asked.turnId;
  const { answer, thought, sources, toolCalls } = contribution;
  const isCutOff = nodeType === 'end' && frames.isNextMissing && !haveText(sinceLastStep(run.shown));
  // Text before a pause was shown with the pause.
  const isHeld = run.guard?.holdsOutput === true && step >= (waiting?.workflow.step ?? 0);
  const shown = isHeld && step === waiting?.workflow.step ? waiting.workflow.made.answer.length : 0;
  if (answer && (isHeadless || asked.settings.responseSchema || isCutOff || isHeld))
    yield { type: 'text', text: ((await values.recall(answer)) as string).slice(shown) };
  if (thought && isHeadless) yield { type: 'thought', text: (await values.recall(thought)) as string };
  if (sources) yield { type: 'found', sources: (await values.recall(sources)) as StepAdditions['sources'] };
  if (toolCalls) {
    for (const record of (await values.recall(toolCalls)) as StepAdditions['toolCalls']) yield { type: 'tool-call', record };
  }
  // Each attempt of a headless run counts only its own usage. The usage before a pause was counted with the pause.
  if (usage && !isHeadless && step > (waiting?.workflow.step ?? 0)) yield { type: 'usage', ...usage };
}
