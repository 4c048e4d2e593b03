import type { CalledTool, ToolCallFinished } from '../../conversation/conversation.events.js';
import { isWaiting, NOT_BEGUN_TEXT, outcomeUnknown, recordOf, type ToolCallRecord } from '../../conversation/tool-call.policy.js';
import { forReader, isErrorResult, textOf } from './tool-result.policy.js';

/** How a call ended: as it is shown, and as the model reads it. */
export type CallEnd = Readonly<{ record: ToolCallRecord; text: string }>;

/** What the log says of the calls of a turn that have effects, by their ids. */
export type CallHistory = Readonly<{
  begun: ReadonlyMap<string, CalledTool>;
  finished: ReadonlyMap<string, ToolCallFinished['data']>;
}>;

/** A result may name the note or list it wrote, which clients show beside the call. */
const ARTIFACT_ID_CHARACTERS_MAX = 64;

/** Of a call that gave something. */
export function outcomeOf(call: CalledTool, result: unknown): CallEnd {
  const status = isErrorResult(result) ? 'error' : 'completed';
  return { record: recordOf(call, { status, result: forReader(result), artifact_id: artifactIn(result) }), text: textOf(result) };
}

/** Of a call that came to nothing. */
export const failureOf = (call: CalledTool, text: string): CallEnd => ({
  record: recordOf(call, { status: 'error', error: forReader(text) as string }),
  text,
});

const HEADLESS_DENIAL = 'Tool denied (headless): ';

/** Of a call that is not run because there is no user who could help. */
export const deniedHeadless = (call: CalledTool, reason: string, type: NonNullable<ToolCallRecord['error_type']>): CallEnd => ({
  record: recordOf(call, { status: 'denied', error: reason, error_type: type }),
  text: `${HEADLESS_DENIAL}${reason}`,
});

/** The end of a call as the log has it. */
export function finishedAs(call: CalledTool, { status, result: text }: ToolCallFinished['data']): CallEnd {
  if (status === 'denied') return deniedHeadless(call, text.slice(HEADLESS_DENIAL.length), 'connection_required');
  const result = valueOf(text);
  return status === 'error' && !isErrorResult(result) ? failureOf(call, text) : { ...outcomeOf(call, result), text };
}

type Entry = Readonly<Record<string, unknown>>;

const isOver = (record: Entry | undefined): boolean =>
  record !== undefined && record['status'] !== 'pending' && !isWaiting(record);

/**
 * The ends of calls that run or wait when their turn ends. A call with effects that has begun ends as the log has it; where the
 * log has no end, the outcome is unknown.
 */
export function interruptedCalls(records: readonly Entry[], { begun, finished }: CallHistory): readonly ToolCallRecord[] {
  const known = new Map(records.map((record) => [record['call_id'], record]));
  const others = records.filter((record) => !isOver(record) && !begun.has(record['call_id'] as string));
  return [
    ...others.map((record) => ({ ...record, ...notRun(record) }) as unknown as ToolCallRecord),
    ...[...begun.values()]
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

/** A result that was kept as text, as it was before. */
function valueOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
