import type { Frame } from '../../../src/dialogue/journal/message.events.js';
import { messageOf } from '../../support/message.js';
import type { Fact, LogView } from '../world/log-view.js';

const OUTCOMES = ['TurnAnswered', 'TurnFailed', 'TurnStopped'];

/**
 * Each turn has one outcome, recorded before its end is shown, and the outcome matches what was shown. After the deletion of the
 * conversation, an outcome has no text.
 */
export function* turns(log: LogView): Generator<string> {
  for (const [, facts] of log.of('conversation')) {
    const isDeleted = facts.some(({ type }) => type === 'ConversationDeleted');
    for (const { data } of facts.filter(({ type }) => type === 'TurnAsked')) {
      const turnId = data['turnId'] as string;
      const own = facts.filter((fact) => fact.data['turnId'] === turnId);
      yield* oneOutcome(turnId, own, isDeleted);
      yield* asShown(
        turnId,
        own,
        log,
        facts.find(({ type }) => type === 'ConversationDeleted'),
      );
      yield* decidedOnce(turnId, own);
    }
    yield* inOrder(facts);
  }
}

function* oneOutcome(turnId: string, own: readonly Fact[], isDeleted: boolean): Generator<string> {
  const count = (...types: readonly string[]) => own.filter(({ type }) => types.includes(type)).length;
  const outcomes = count(...OUTCOMES);
  if (outcomes > 1 || (outcomes === 0 && !isDeleted)) yield `${turnId} has ${outcomes} outcomes.`;
  if (count('TurnSealed') > 1) yield `${turnId} was sealed ${count('TurnSealed')} times.`;
  if (count('TurnAsked') > 1) yield `${turnId} was asked ${count('TurnAsked')} times.`;
}

function* asShown(turnId: string, own: readonly Fact[], log: LogView, deletion: Fact | undefined): Generator<string> {
  const outcome = own.find(({ type }) => OUTCOMES.includes(type));
  const stored = log.journal(turnId);
  if (!outcome || stored.length === 0) return;
  const { parts } = messageOf(stored.map(({ data }) => data));
  const kept = deletion && deletion.stored.position < outcome.stored.position ? '' : parts.answer;
  if (outcome.data['answer'] !== kept) {
    yield `${turnId} was shown “${parts.answer}”, and is kept as “${String(outcome.data['answer'])}”.`;
  }
  const end = stored.findLast(({ data }) => ['end', 'id'].includes((JSON.parse(data) as Frame).type));
  if (end && end.position < outcome.stored.position && !own.some(({ type }) => type === 'TurnPaused'))
    yield `The end of ${turnId} was shown before its outcome was stated.`;
}

/** A call is decided once per pause. */
function* decidedOnce(turnId: string, own: readonly Fact[]): Generator<string> {
  const waiting = new Set<unknown>();
  let isPaused = false;
  for (const { type, data } of own) {
    if (type === 'TurnPaused') {
      if (isPaused) yield `${turnId} was paused twice.`;
      isPaused = true;
      for (const call of data['calls'] as readonly { callId: string }[]) waiting.add(call.callId);
    }
    if (type === 'ToolCallApproved' || type === 'ToolCallDenied' || type === 'ToolCallAnswered') {
      if (!waiting.delete(data['callId'])) yield `${String(data['callId'])} of ${turnId} was decided on and did not wait.`;
    }
    if (type === 'TurnResumed') {
      if (!isPaused) yield `${turnId} was resumed and did not wait.`;
      isPaused = false;
    }
    if (OUTCOMES.includes(type)) isPaused = false;
  }
}

/** The turns that are not superseded have the indexes 0, 1, 2 … */
function* inOrder(facts: readonly Fact[]): Generator<string> {
  let next = 0;
  for (const { type, data } of facts) {
    if (type === 'TurnsSuperseded') next = data['fromIndex'] as number;
    if (type !== 'TurnAsked' && type !== 'TurnAppended') continue;
    if (data['index'] !== next)
      yield `Turn ${String(data['turnId'])} has the index ${String(data['index'])}, and ${next} was next.`;
    next = (data['index'] as number) + 1;
  }
}
