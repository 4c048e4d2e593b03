import type { LogView } from '../world/log-view.js';
import type { World } from '../world/world.js';

/** What clients were told is true. */
export function* clients(log: LogView, { history, isTroubled }: Pick<World, 'history' | 'isTroubled'>): Generator<string> {
  const asked = new Map<string, string[]>();
  for (const { data } of log.named('TurnAsked')) {
    const name = (data['question'] as string).split(' ')[0]!;
    asked.set(name, [...(asked.get(name) ?? []), data['turnId'] as string]);
  }
  for (const [key, { question, namesPlace }] of history.keysAsked) {
    const turnIds = asked.get(question) ?? [];
    const allowed = namesPlace ? 1 + retriesOf(log, turnIds) : 1;
    if (turnIds.length > allowed) yield `One Idempotency-Key gave ${turnIds.length} turns: ${key}.`;
    const told = history.messagesOfKey.get(key) ?? new Set();
    if (told.size > allowed) yield `One Idempotency-Key named ${told.size} messages: ${key}.`;
  }
  for (const [name, messageId] of history.accepted) {
    if (!asked.get(name)?.includes(messageId)) yield `${name} was accepted as ${messageId}, and was never asked.`;
  }
  const outcomes = new Map(
    log.named('TurnAnswered', 'TurnFailed', 'TurnStopped').map(({ type, data }) => [data['turnId'] as string, type]),
  );
  for (const messageId of history.stopsAccepted) {
    const outcome = outcomes.get(messageId);
    if (outcome !== undefined && outcome !== 'TurnStopped')
      yield `A stop of ${messageId} was accepted, and it came to ${outcome}.`;
  }
  for (const { what, fromMs, toMs, error } of history.unavailable) {
    if (!isTroubled(fromMs, toMs))
      yield `503 while the store was there: ${what}, after ${Math.round(toMs - fromMs)} ms: ${error}`;
  }
}

/** What each reader received matches the stored frames, from its first frame on. */
export function* readers(log: LogView, { history }: Pick<World, 'history'>): Generator<string> {
  for (const { messageId, first, frames } of history.readings) {
    if (messageId === undefined || frames.length === 0) continue;
    const stored = log.journal(messageId).slice(first, first + frames.length);
    const differs = frames.findIndex((frame, index) => stored[index]?.data !== frame);
    if (differs !== -1) yield `A reader of ${messageId} was shown as frame ${first + differs} what is not stored there.`;
  }
}

/** Each external effect happened once. */
export function* effects(_: LogView, { outside }: Pick<World, 'outside'>): Generator<string> {
  const seen = new Set<string>();
  for (const { turnId, callId, tool, args } of outside.effects) {
    const call = `${turnId} ${callId}`;
    const deed = `${turnId} ${tool} ${args}`;
    if (seen.has(call) || seen.has(deed)) yield `${tool} ran twice: ${args}, call ${callId} of ${turnId}.`;
    seen.add(call).add(deed);
  }
}

/** A delivery is one task with one end. */
export function* deliveries(log: LogView, { history }: Pick<World, 'history'>): Generator<string> {
  const queued = log.named('RunQueued').map(({ data }) => [data['runId'] as string, data['input'] as string] as const);
  for (const [key, tasks] of history.tasksOfKey) {
    if (tasks.size > 1) yield `The key ${key} of a webhook named ${tasks.size} tasks.`;
    const name = key.replace('delivery ', '');
    const runs = queued.filter(([, input]) => input.startsWith(`${name} `));
    if (runs.length !== 1) yield `The delivery under ${key} ran ${runs.length} times.`;
  }
  for (const [stream, facts] of [...log.of('task'), ...log.of('run')]) {
    const ends = facts.filter(({ type }) => ['TaskSucceeded', 'TaskFailed', 'RunFinished', 'RunFailed'].includes(type));
    if (ends.length > 1) yield `${stream} came to ${ends.length} ends.`;
    if (ends.some(({ type }) => type === 'TaskFailed' || type === 'RunFailed'))
      yield `${stream} failed: ${JSON.stringify(ends[0]!.data)}`;
  }
}

/** The number of turns that were asked after the preceding one failed or was stopped. Such a retry may keep its key. */
const retriesOf = (log: LogView, turnIds: readonly string[]): number =>
  turnIds.slice(1).filter((turnId, index) => {
    const course = log.facts.filter(({ data }) => data['turnId'] === turnId || data['turnId'] === turnIds[index]);
    const asked = course.findIndex(({ type, data }) => type === 'TurnAsked' && data['turnId'] === turnId);
    return course.slice(0, asked).some(({ type }) => type === 'TurnFailed' || type === 'TurnStopped');
  }).length;
