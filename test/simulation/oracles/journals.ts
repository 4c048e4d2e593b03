import { createHash } from 'node:crypto';
import type { Frame } from '../../../src/dialogue/journal/message.events.js';
import type { LogView } from '../world/log-view.js';

/** A letter per frame type, so that an order of frames is a regular expression. */
const LETTERS: Readonly<Record<Frame['type'], string>> = {
  message_id: 'm',
  answer: 'x',
  thought: 'x',
  notice: 'x',
  tool_call: 'x',
  source: 's',
  tool_calls: 't',
  tool_calls_pending: 'p',
  research_plan: 'x',
  research_progress: 'x',
  workflow_run: 'x',
  workflow_step: 'x',
  structured_answer: 'a',
  guardrail: 'g',
  error: 'e',
  id: 'i',
  end: 'd',
};

/** A run: an answer, a pause, a failure or interruption, or a stop (also of an answer that has just failed). */
const RUN = /^(?:mx*sta?id|mx*stpid|m[xsta]*eid|mx*ge(?:id|E)|m[xsta]*e?E)$/;
/** The end of a stream whose conversation is deleted during a pause. */
const DELETED = /^E$/;

const letterOf = (frame: Frame): string => (frame.type === 'error' && frame.code === 'stopped' ? 'E' : LETTERS[frame.type]);

/** The frame orders of a message's runs. The last run may be unfinished. */
const runsOf = (frames: readonly Frame[]): readonly string[] =>
  frames
    .map(letterOf)
    .join('')
    .match(/.+?(?:d|E)|.+$/g) ?? [];

const digestOf = (data: readonly string[]): string =>
  createHash('sha256')
    .update(data.map((each, id) => `id: ${id}\ndata: ${each}\n`).join(''))
    .digest('hex');

/** Each stream follows the protocol: ids without gaps, runs in order with one terminal frame each, and a seal that matches. */
export function* journals(log: LogView): Generator<string> {
  const deleted = new Set(log.named('ConversationDeleted').map(({ data }) => data['conversationId']));
  for (const { data: asked } of log.named('TurnAsked')) {
    const turnId = asked['turnId'] as string;
    const isDeleted = deleted.has(asked['conversationId']);
    const stored = log.journal(turnId);
    const gap = stored.findIndex(({ revision }, index) => revision !== index);
    if (gap !== -1) yield `The journal of ${turnId} has a gap at ${gap}.`;
    const frames = stored.map(({ data }) => JSON.parse(data) as Frame);
    const runs = runsOf(frames);
    for (const [index, run] of runs.entries()) {
      const isAllowed = RUN.test(run) || (isDeleted && DELETED.test(run));
      if (!isAllowed) yield `Run ${index} of ${turnId} shows ${run}.`;
      if (index < runs.length - 1 && !run.endsWith('pid'))
        yield `Run ${index} of ${turnId} (${run}) is followed by ${runs[index + 1]}.`;
    }
    if (frames.some((frame) => frame.type === 'message_id' && frame.message_id !== turnId))
      yield `${turnId} is shown as another message.`;
    const [seal] = log.named('TurnSealed').filter(({ data }) => data['turnId'] === turnId);
    if (!seal) continue;
    const { lastId, frames: count, sha256 } = seal.data;
    if (lastId !== stored.length - 1 || count !== stored.length)
      yield `${turnId} was sealed with ${String(count)} of ${stored.length} frames.`;
    else if (sha256 !== digestOf(stored.map(({ data }) => data))) yield `${turnId} was sealed with another digest.`;
    const terminal = stored.at(-1);
    if (terminal && terminal.position > seal.stored.position) yield `${turnId} was sealed before its last frame.`;
  }
}
