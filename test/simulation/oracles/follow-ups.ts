import type { Fact, LogView } from '../world/log-view.js';
import type { World } from '../world/world.js';

const JOB_ENDS = ['JobCompleted', 'JobFailed', 'JobCancelled', 'JobLost'];
const SETTLED = ['WakeDelivered', 'WakeFolded', 'WakeSuppressed', 'WakeSuperseded', 'WakeFailed'];

/** A job has one end, and that is told once: to a conversation that is to go on with it. */
export function* jobs(log: LogView): Generator<string> {
  for (const [stream, facts] of log.of('job')) {
    const count = (...types: readonly string[]) => facts.filter(({ type }) => types.includes(type)).length;
    if (count('JobStarted') !== 1) yield `${stream} began ${count('JobStarted')} times.`;
    if (count(...JOB_ENDS) !== 1) yield `${stream} came to ${count(...JOB_ENDS)} ends.`;
    const { jobId } = facts[0]!.data;
    const woken = log.named('WakeRequested').filter(({ data }) => data['refId'] === jobId).length;
    const told = facts.filter(({ type }) => type === 'JobTold');
    if (told.length > 1 || woken > 1) yield `The end of ${stream} was told ${Math.max(told.length, woken)} times.`;
    const isSilent = count('JobCancelled') > 0;
    if (told.length + woken > 0 && isSilent) yield `${stream} was cancelled, and that was told.`;
    if (!isSilent && woken !== told.length) yield `The end of ${stream} was told, and nothing was woken.`;
  }
}

/** A check of a monitor is claimed and reported once, by one look; each time it finds something, one wake says so. */
export function* monitors(log: LogView, { outside }: Pick<World, 'outside'>): Generator<string> {
  const looks = new Set<string>();
  for (const look of outside.looks) {
    if (looks.has(look)) yield `Somebody looked twice for one check: ${look}.`;
    looks.add(look);
  }
  for (const [stream, facts] of log.of('monitor')) {
    yield* checks(stream, facts);
    const keys = facts.flatMap(({ type, data }) => wakeKeyOf(stream.slice('monitor-'.length), type, data));
    if (new Set(keys).size !== keys.length) yield `${stream} found the same twice.`;
    for (const key of keys) {
      const wakes = log.named('WakeRequested').filter(({ data }) => data['dedupeKey'] === key);
      if (wakes.length !== 1) yield `${wakes.length} wakes were requested for ${key}.`;
    }
    const own = log.named('WakeRequested').filter(({ data }) => data['refId'] === facts[0]!.data['monitorId']);
    if (own.length !== keys.length) yield `${stream} has ${own.length} wakes for ${keys.length} occasions.`;
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

function wakeKeyOf(monitorId: string, type: string, data: Fact['data']): readonly string[] {
  if (type === 'MonitorWoke') return [`monitor:${monitorId}:${String(data['wake'])}`];
  if (type === 'MonitorPaused' && data['reason'] !== null) return [`monitor_paused:${monitorId}:${String(data['pause'])}`];
  return type === 'MonitorCompleted' && data['isNews'] === true ? [`monitor_expired:${monitorId}:end`] : [];
}

/** What happened is told once, in a turn of its conversation, or it is said why not. */
export function* wakes(log: LogView): Generator<string> {
  const unasked = log.named('TurnAsked').filter(({ data }) => (data['origin'] as { kind: string } | undefined)?.kind === 'wake');
  for (const [stream, facts] of log.of('wakes')) {
    const keys = facts.filter(({ type }) => type === 'WakeRequested').map(({ data }) => data['dedupeKey']);
    if (new Set(keys).size !== keys.length) yield `${stream} was asked twice for the same.`;
    for (const { data: wake } of facts.filter(({ type }) => type === 'WakeRequested')) {
      const ends = facts.filter(({ type, data }) => SETTLED.includes(type) && data['wakeId'] === wake['wakeId']);
      if (ends.length !== 1) yield `${stream}: ${String(wake['dedupeKey'])} was settled ${ends.length} times.`;
      const turns = unasked.filter(
        ({ data }) =>
          data['conversationId'] === wake['conversationId'] && (data['question'] as string).includes(wake['text'] as string),
      );
      const isTold = ends.some(({ type }) => type === 'WakeDelivered' || type === 'WakeFolded');
      if (turns.length !== (isTold ? 1 : 0))
        yield `${stream}: ${String(wake['dedupeKey'])} was told in ${turns.length} turns, and is said to be ${ends[0]?.type ?? 'open'}.`;
      if (isTold && turns[0] && turns[0].data['turnId'] !== ends[0]!.data['turnId'])
        yield `${stream}: ${String(wake['dedupeKey'])} was told in another turn than is said.`;
    }
  }
}
