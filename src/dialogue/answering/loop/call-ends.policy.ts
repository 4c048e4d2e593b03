import type { CalledTool, ToolCallFinished } from '../../conversation/conversation.events.js';
import { isWaiting, NOT_BEGUN_TEXT, outcomeUnknown, recordOf, type ToolCallRecord } from '../../conversation/tool-call.policy.js';
import { forReader, isErrorResult, textOf } from './tool-result.policy.js';

/** The end of a call: the record that is shown and the text that the model reads. */
export type CallEnd = Readonly<{ record: ToolCallRecord; text: string }>;

/** The recorded calls with effects of a turn, by call id. */
export type CallHistory = Readonly<{
  started: ReadonlyMap<string, CalledTool>;
  finished: ReadonlyMap<string, ToolCallFinished['data']>;
}>;

/** Maximum length of the `artifact_id` in a result, which clients use to show the artifact beside the call. */
const ARTIFACT_ID_CHARACTERS_MAX = 64;

export function outcomeOf(call: CalledTool, result: unknown): CallEnd {
  const status = isErrorResult(result) ? 'error' : 'completed';
  return { record: recordOf(call, { status, result: forReader(result), artifact_id: artifactIn(result) }), text: textOf(result) };
}

/** The end of a call that failed. */
export const failureOf = (call: CalledTool, text: string): CallEnd => ({
  record: recordOf(call, { status: 'error', error: forReader(text) ?? '' }),
  text,
});

const HEADLESS_DENIAL = 'Tool denied (headless): ';

/** The end of a call that does not run because it needs a user and the run is headless. */
export const deniedHeadless = (call: CalledTool, reason: string, type: NonNullable<ToolCallRecord['error_type']>): CallEnd => ({
  record: recordOf(call, { status: 'denied', error: reason, error_type: type }),
  text: `${HEADLESS_DENIAL}${reason}`,
});

/** The end of a call as it was recorded. */
export function finishedAs(call: CalledTool, { status, result: text }: ToolCallFinished['data']): CallEnd {
  if (status === 'denied') return deniedHeadless(call, text.slice(HEADLESS_DENIAL.length), 'connection_required');
  const result = valueOf(text);
  if (status === 'error' && !isErrorResult(result)) return failureOf(call, text);
  const { record } = outcomeOf(call, result);
  // The recorded text is shown, because a text that only looks like JSON would be written in another way.
  return { record: result === null ? record : { ...record, result: forReader(text) }, text };
}

type Entry = Readonly<Record<string, unknown>>;

const isOver = (record: Entry | undefined): boolean =>
  record !== undefined && record['status'] !== 'pending' && !isWaiting(record);

/**
 * The records of calls that are running or waiting when their turn ends. A started call with effects gets its recorded end;
 * without one its outcome is unknown.
 */
export function interruptedCalls(records: readonly Entry[], { started, finished }: CallHistory): readonly ToolCallRecord[] {
  const known = new Map(records.map((record) => [record['call_id'], record]));
  const others = records.filter((record) => !isOver(record) && !started.has(record['call_id'] as string));
  return [
    ...others.map((record) => ({ ...record, ...notRun(record) }) as unknown as ToolCallRecord),
    ...[...started.values()]
      .filter(({ callId }) => !isOver(known.get(callId)))
      .map((call) => {
        const end = finished.get(call.callId);
        return end ? finishedAs(call, end).record : outcomeUnknown(call);
      }),
  ];
}

const notRun = (record: Entry) =>
  isWaiting(record) ? { status: 'skipped', result: NOT_BEGUN_TEXT } : { status: 'error', error: 'The call was interrupted.' };

function artifactIn(result: unknown): string | null {
  const { artifact_id: id } = (result ?? {}) as { artifact_id?: unknown };
  return typeof id === 'string' && id.length <= ARTIFACT_ID_CHARACTERS_MAX ? id : null;
}

/** Parses a recorded result. Text that is not JSON was the result itself. */
function valueOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
