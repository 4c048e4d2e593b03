import type { TurnPaused } from '../../conversation/conversation.events.js';
import type { Frame } from '../../journal/message.events.js';
import { type Message, type MessageDigest, pauseFrames } from '../../journal/message.policy.js';
import { mayBeRequeued } from '../../conversation/turn.decider.js';
import type { Turn } from '../../conversation/turn.policy.js';
import { deniedRecord, inCallOrder, withToolCalls } from '../../conversation/tool-call.policy.js';
import type { Journal } from '../../journal/journal.js';
import type { Resumption, Transcript } from '../loop/transcript.js';

/** The notice that the reader of a turn gets while no worker is alive to take it. */
export const NO_WORKER_NOTICE = 'No worker is available right now. The answer begins as soon as there is one.';

/** The content of a journal as it was read. */
export type JournalSoFar = Readonly<{
  digest: MessageDigest;
  message: Message;
  /** The frames of the last run, its `message_id` first. */
  sinceLastRun: readonly Frame[];
}>;

/** Whether an agent's program can continue after the given frames of its run. */
export type CanContinue = (transcript: Transcript, shown: readonly Frame[]) => Promise<boolean>;

/** The first frame of a run. */
export const firstFrame = ({ asked, beginsConversation, resumption }: Transcript): Frame => ({
  type: 'message_id',
  message_id: asked.turnId,
  // A caller that resumes a turn already knows the conversation's id from the pause.
  conversation_id: beginsConversation && !resumption ? null : asked.conversationId,
  request_id: asked.requestId,
});

/** The frames of a pause that the journal does not have yet. */
export function missingOfPause(journal: Journal, paused: TurnPaused['data']): readonly Frame[] {
  const missing = paused.lastId - journal.digest.lastId;
  return missing > 0 ? pauseFrames(paused).slice(-missing) : [];
}

/** Whether a paused turn ended without a decision on its calls: the pause expired, or the conversation continued. */
export const isUnresumed = ({ decisions }: Resumption): boolean =>
  [...decisions.values()].some(
    (decision) =>
      decision.type === 'ToolCallDenied' && (decision.data.notRun === 'expired' || decision.data.notRun === 'moved_on'),
  );

/** The frames of the last run of such a turn that are not journaled yet. They report only that its calls were not run. */
export function unresumedFrames(
  transcript: Transcript,
  { paused, decisions }: Resumption,
  { lastId }: MessageDigest,
): readonly Frame[] {
  const denied = paused.calls.map((call) => {
    const decision = decisions.get(call.callId);
    const { notRun, comment } = decision?.type === 'ToolCallDenied' ? decision.data : { notRun: null, comment: null };
    return deniedRecord(call, notRun, comment);
  });
  const frames: readonly Frame[] = [
    firstFrame(transcript),
    ...denied.map((data): Frame => ({ type: 'tool_call', data })),
    { type: 'source', source: paused.sources },
    { type: 'tool_calls', tool_calls: inCallOrder(withToolCalls(paused.toolCalls, denied), paused.calls) },
    { type: 'id', id: paused.conversationId },
    { type: 'end' },
  ];
  return frames.slice(Math.max(0, lastId - paused.lastId));
}

/**
 * Whether another producer may continue a run whose producer is gone. It may if the run has shown nothing, or only results of
 * calls that a client decided on. Approved calls stay approved. For an agent that records its steps, its program decides.
 */
export async function isResumable(transcript: Transcript, soFar: JournalSoFar, canContinue: CanContinue): Promise<boolean> {
  const { folded, asked } = transcript;
  const turn = folded?.state.turns.get(asked.turnId);
  if (folded?.state.status !== 'open' || turn === undefined || !mayBeRequeued(turn)) return false;
  return allowsMore(transcript, soFar, canContinue);
}

/** Whether another producer may add frames to what the last run has shown. */
export async function allowsMore(transcript: Transcript, soFar: JournalSoFar, canContinue: CanContinue): Promise<boolean> {
  const turn = transcript.folded?.state.turns.get(transcript.asked.turnId);
  return turn?.goesOn ? canContinue(transcript, shownOf(turn, soFar)) : hasOnlyDecided(transcript, soFar);
}

/** The frames shown of the run that continues; empty if only the previous run, which ended in a pause, is shown. */
export const shownOf = ({ runs }: Turn, { message, sinceLastRun }: JournalSoFar): readonly Frame[] =>
  message.runs < runs ? [] : sinceLastRun;

/** Whether the run has so far begun and shown only calls that a client decided on. A first run has no such calls. */
function hasOnlyDecided({ resumption, asked, folded, calls }: Transcript, { message, sinceLastRun }: JournalSoFar): boolean {
  const turn = folded?.state.turns.get(asked.turnId);
  if (!turn) return false;
  const decided = new Set(resumption?.paused.calls.map(({ callId }) => callId));
  const before = new Set(resumption?.paused.toolCalls.map((call) => call['call_id']));
  // The model would repeat the calls that it requested since the pause, and those may have begun without a frame that shows them.
  if ([...calls.started.keys()].some((callId) => !decided.has(callId) && !before.has(callId))) return false;
  if (message.runs < turn.runs) return true;
  return sinceLastRun.every(
    (frame) =>
      frame.type === 'message_id' ||
      (frame.type === 'notice' && frame.notice === NO_WORKER_NOTICE) ||
      (frame.type === 'tool_call' && decided.has(frame.data.call_id)),
  );
}
