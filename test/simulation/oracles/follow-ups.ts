import type { Fact, LogView } from '../world/log-view.js';
import type { World } from '../world/world.js';

const JOB_ENDS = ['JobCompleted', 'JobFailed', 'JobCancelled', 'JobLost'];
const SETTLED = ['FollowUpDelivered', 'FollowUpMerged', 'FollowUpSuppressed', 'FollowUpSuperseded', 'FollowUpFailed'];

/** A job has one end, which is delivered once to a conversation that continues with it. A deleted conversation is told nothing. */
export function* jobs(log: LogView): Generator<string> {
  const isDeletedBefore = ({ stored }: Fact, conversationId: unknown) =>
    log
      .named('ConversationDeleted')
      .some((deleted) => deleted.data['conversationId'] === conversationId && deleted.stored.position < stored.position);
  for (const [stream, facts] of log.of('job')) {
    const count = (...types: readonly string[]) => facts.filter(({ type }) => types.includes(type)).length;
    if (count('JobStarted') !== 1) yield `${stream} began ${count('JobStarted')} times.`;
    if (count(...JOB_ENDS) !== 1) yield `${stream} came to ${count(...JOB_ENDS)} ends.`;
    const { jobId, conversationId } = facts[0]!.data;
    const automatic = log.named('FollowUpRequested').filter(({ data }) => data['refId'] === jobId).length;
    const told = facts.filter(({ type }) => type === 'JobReported');
    if (told.length > 1 || automatic > 1) yield `The end of ${stream} was told ${Math.max(told.length, automatic)} times.`;
    const isSilent = count('JobCancelled') > 0;
    if (told.length + automatic > 0 && isSilent) yield `${stream} was cancelled, and that was told.`;
    const isUntold = told[0]?.data['by'] === 'none';
    if (isUntold && !isDeletedBefore(told[0]!, conversationId)) yield `The end of ${stream} was not told to its conversation.`;
    if (!isSilent && !isUntold && automatic !== told.length)
      yield `The end of ${stream} was told, and no follow-up was requested.`;
  }
}

/**
 * A check of a monitor is claimed and reported once, with one request. Each finding has one follow-up, or none if the conversation
 * was deleted.
 */
export function* monitors(log: LogView, { outside }: Pick<World, 'outside'>): Generator<string> {
  const looks = new Set<string>();
  for (const look of outside.looks) {
    if (looks.has(look)) yield `Somebody looked twice for one check: ${look}.`;
    looks.add(look);
  }
  for (const [stream, facts] of log.of('monitor')) {
    yield* checks(stream, facts);
    const keys = facts.flatMap(({ type, data }) => followUpKeyOf(stream.slice('monitor-'.length), type, data));
    if (new Set(keys).size !== keys.length) yield `${stream} found the same twice.`;
    const isUntold = log.isDeleted(facts[0]!.data['conversationId']);
    for (const key of keys) {
      const followUps = log.named('FollowUpRequested').filter(({ data }) => data['dedupeKey'] === key);
      if (followUps.length > 1 || (followUps.length === 0 && !isUntold))
        yield `${followUps.length} follow-ups were requested for ${key}.`;
    }
    const own = log.named('FollowUpRequested').filter(({ data }) => data['refId'] === facts[0]!.data['monitorId']);
    if (isUntold ? own.length > keys.length : own.length !== keys.length)
      yield `${stream} has ${own.length} follow-ups for ${keys.length} occasions.`;
  }
}

function* checks(stream: string, facts: readonly Fact[]): Generator<string> {
  let open: unknown;
  let started = 0;
  let isOver = false;
  for (const { type, data } of facts) {
    if (isOver) yield `${stream} went on after its end: ${type}.`;
    if (type === 'MonitorCheckStarted') {
      if (data['check'] !== ++started) yield `${stream} began check ${String(data['check'])} after ${started - 1}.`;
      open = data['check'];
    }
    if (type === 'MonitorChecked') {
      if (data['check'] !== open) yield `${stream} was told of check ${String(data['check'])}, which was not under way.`;
      open = undefined;
    }
    if (type === 'MonitorPaused') open = undefined;
    isOver = type === 'MonitorCompleted' || type === 'MonitorCancelled';
  }
}

function followUpKeyOf(monitorId: string, type: string, data: Fact['data']): readonly string[] {
  if (type === 'MonitorFollowUpRequested') return [`monitor:${monitorId}:${String(data['followUp'])}`];
  if (type === 'MonitorPaused' && data['reason'] !== null) return [`monitor_paused:${monitorId}:${String(data['pause'])}`];
  return type === 'MonitorCompleted' && data['isNews'] === true ? [`monitor_expired:${monitorId}:end`] : [];
}

/** A follow-up is delivered once, in a turn of its conversation, or the reason why not is recorded. */
export function* followUps(log: LogView): Generator<string> {
  const unasked = log
    .named('TurnAsked')
    .filter(({ data }) => (data['origin'] as { kind: string } | undefined)?.kind === 'follow-up');
  for (const [stream, facts] of log.of('followUps')) {
    const keys = facts.filter(({ type }) => type === 'FollowUpRequested').map(({ data }) => data['dedupeKey']);
    if (new Set(keys).size !== keys.length) yield `${stream} was asked twice for the same.`;
    for (const { data: followUp } of facts.filter(({ type }) => type === 'FollowUpRequested')) {
      const ends = facts.filter(({ type, data }) => SETTLED.includes(type) && data['followUpId'] === followUp['followUpId']);
      if (ends.length !== 1) yield `${stream}: ${String(followUp['dedupeKey'])} was settled ${ends.length} times.`;
      const turns = unasked.filter(
        ({ data }) =>
          data['conversationId'] === followUp['conversationId'] &&
          (data['question'] as string).includes(followUp['text'] as string),
      );
      const isTold = ends.some(({ type }) => type === 'FollowUpDelivered' || type === 'FollowUpMerged');
      if (turns.length !== (isTold ? 1 : 0))
        yield `${stream}: ${String(followUp['dedupeKey'])} was told in ${turns.length} turns, and is said to be ${ends[0]?.type ?? 'open'}.`;
      if (isTold && turns[0] && turns[0].data['turnId'] !== ends[0]!.data['turnId'])
        yield `${stream}: ${String(followUp['dedupeKey'])} was told in another turn than is said.`;
    }
  }
}
