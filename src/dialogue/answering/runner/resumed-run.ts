import type { TurnPaused } from '../../conversation/conversation.events.js';
import type { Frame } from '../../journal/message.events.js';
import { type Message, type MessageDigest, pauseFrames } from '../../journal/message.policy.js';
import { mayBeRequeued } from '../../conversation/pause.decider.js';
import type { Turn } from '../../conversation/turn.policy.js';
import { deniedRecord, inCallOrder, withToolCalls } from '../../conversation/tool-call.policy.js';
import type { Journal } from '../../journal/journal.js';
import type { Resumption, Transcript } from '../loop/transcript.js';

/** What the reader of a turn is told while no worker is alive to take it. */
export const NO_WORKER_NOTICE = 'No worker is available right now. The answer begins as soon as there is one.';

/** What a journal holds. */
export type JournalSoFar = Readonly<{
  digest: MessageDigest;
  message: Message;
  /** The frames of the last run. */
  sinceLastRun: readonly Frame[];
}>;

/** Whether an agent's program can go on after the given frames of its run. */
export type CanContinue = (transcript: Transcript, shown: readonly Frame[]) => Promise<boolean>;

/** What the journal of a run begins with. */
export const firstFrame = ({ asked, beginsConversation, resumption }: Transcript): Frame => ({
  type: 'message_id',
  message_id: asked.turnId,
  // A caller that saw the pause knows the conversation by then.
  conversation_id: beginsConversation && !resumption ? null : asked.conversationId,
  request_id: asked.requestId,
});

/** What a pause still has to show at the end of its run, from wherever the journal got to. */
export function missingOfPause(journal: Journal, paused: TurnPaused['data']): readonly Frame[] {
  const missing = paused.lastId - journal.digest.lastId;
  return missing > 0 ? pauseFrames(paused).slice(-missing) : [];
}

/** Whether a turn ended without anybody deciding on what it waited for. */
export const isUnresumed = ({ decisions }: Resumption): boolean =>
  [...decisions.values()].some(
    (decision) =>
      decision.type === 'ToolCallDenied' && (decision.data.notRun === 'expired' || decision.data.notRun === 'moved_on'),
  );

/** The last run of such a turn, as far as it is not shown yet. It tells nothing but that its calls were not run. */
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
 * Whether another producer may go on with a run whose own is gone: one that has shown nothing yet, or nothing but what became of
 * calls that were decided on. What was approved stays approved. Of an agent that records what it has done, its program decides.
 */
export async function isResumable(transcript: Transcript, soFar: JournalSoFar, canContinue: CanContinue): Promise<boolean> {
  const { folded, asked } = transcript;
  const turn = folded?.state.turns.get(asked.turnId);
  if (folded?.state.status !== 'open' || turn === undefined || !mayBeRequeued(turn)) return false;
  return allowsMore(transcript, soFar, canContinue);
}

/** Whether what was shown of the last run lets another producer add to it. */
export async function allowsMore(transcript: Transcript, soFar: JournalSoFar, canContinue: CanContinue): Promise<boolean> {
  const turn = transcript.folded?.state.turns.get(transcript.asked.turnId);
  return turn?.goesOn ? canContinue(transcript, shownOf(turn, soFar)) : hasOnlyDecided(transcript, soFar);
}

/** What is shown of the run that is to go on; none where only the run before it, which ended in a pause, is shown. */
export const shownOf = ({ runs }: Turn, { message, sinceLastRun }: JournalSoFar): readonly Frame[] =>
  message.runs < runs ? [] : sinceLastRun;

/** Whether the run, as far as it came, is about nothing but the calls that were decided on; at first there are none. */
function hasOnlyDecided({ resumption, asked, folded, calls }: Transcript, { message, sinceLastRun }: JournalSoFar): boolean {
  const turn = folded?.state.turns.get(asked.turnId);
  if (!turn) return false;
  const decided = new Set(resumption?.paused.calls.map(({ callId }) => callId));
  const before = new Set(resumption?.paused.toolCalls.map((call) => call['call_id']));
  // What the model asked for since, it would ask for again; it may not have been shown yet.
  if ([...calls.begun.keys()].some((callId) => !decided.has(callId) && !before.has(callId))) return false;
  if (message.runs < turn.runs) return true;
  return sinceLastRun.every(
    (frame) =>
      frame.type === 'message_id' ||
      (frame.type === 'notice' && frame.notice === NO_WORKER_NOTICE) ||
      (frame.type === 'tool_call' && decided.has(frame.data.call_id)),
  );
}
