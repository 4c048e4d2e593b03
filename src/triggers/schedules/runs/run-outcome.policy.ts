import type { RunFailed, RunFinished, RunRefused } from '../../../background/runs/run.events.js';
import { GUARDRAIL } from '../../../dialogue/journal/message.events.js';
import type { RunReport } from './scheduled-run.events.js';
import type { RunEnding } from '../schedule/slot-ledger.decider.js';

/** Maximum length of a run's answer that the schedule shows. */
export const OUTPUT_CHARACTERS_MAX = 24_000;
export const ERROR_CHARACTERS_MAX = 1_024;

export type RunOver = RunFinished | RunRefused | RunFailed;

/** The result of a run for its schedule, and the part of its answer that is kept. */
export function outcomeOf(event: RunOver): Readonly<{ ending: RunEnding; report: RunReport }> {
  switch (event.type) {
    case 'RunFinished': {
      const { answer, toolCalls, usage, error } = event.data;
      const promptTokens = usage?.promptTokens ?? 0;
      const generatedTokens = usage?.completionTokens ?? 0;
      const tokens = promptTokens + generatedTokens;
      const report = { ...said(answer), error: error ? cut(error.text) : null, promptTokens, generatedTokens };
      const errorType = error?.code === GUARDRAIL ? 'stream_error' : 'agent_error';
      if (error) return { ending: { status: 'failed', errorType, tokens }, report };
      if (answer.trim() !== '' || toolCalls.length > 0 || generatedTokens > 0) {
        return { ending: { status: 'success', errorType: null, tokens }, report };
      }
      return { ending: { status: 'failed', errorType: 'empty_output', tokens }, report };
    }
    case 'RunRefused':
      return { ending: { status: 'failed', errorType: 'budget_exceeded', tokens: 0 }, report: nothingSaid(event.data.error) };
    case 'RunFailed': {
      const { error, reason } = event.data;
      const ending = reason === 'timeout' ? TIMED_OUT : FAILED;
      return { ending, report: nothingSaid(error) };
    }
  }
}

const TIMED_OUT: RunEnding = { status: 'timeout', errorType: 'timeout', tokens: 0 };
const FAILED: RunEnding = { status: 'failed', errorType: 'internal', tokens: 0 };

const said = (answer: string) => ({
  output: answer === '' ? null : answer.slice(0, OUTPUT_CHARACTERS_MAX).toWellFormed(),
  isOutputTruncated: answer.length > OUTPUT_CHARACTERS_MAX,
});

const nothingSaid = (error: string): RunReport => ({
  output: null,
  isOutputTruncated: false,
  error: cut(error),
  promptTokens: 0,
  generatedTokens: 0,
});

const cut = (text: string): string => text.slice(0, ERROR_CHARACTERS_MAX).toWellFormed();
