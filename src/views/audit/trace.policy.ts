/** What a trace is made of. */
export type TracedEvent = Readonly<{
  position: bigint;
  id: string;
  stream: string;
  revision: number;
  type: string;
  at: Date;
  actor: string | null;
  causationId: string | null;
  data: string;
}>;

/** The frames of an answer, as their seal sums them up: the last links of the chain, which are too many to list. */
type Journal = Readonly<{ stream: string; frames: number; lastId: number; sha256: string }>;

export type TraceNode = Readonly<{ event: TracedEvent; journal: Journal | undefined; caused: readonly TraceNode[] }>;

/** What lies deeper is shown beside what led to it: neither a reader nor `JSON` goes down without end. */
export const TRACE_DEPTH_MAX = 200;

/** Events under what led to each of them; at the top those that the request itself led to. In the order of the log. */
export function traceOf(events: readonly TracedEvent[]): readonly TraceNode[] {
  const places = new Map<string, { depth: number; above: string | undefined }>();
  const effects = new Map<string | undefined, TracedEvent[]>();
  for (const event of events) {
    // What leads to something comes before it; whatever says otherwise is no link.
    const cause = places.get(event.causationId ?? '');
    const depth = cause ? Math.min(cause.depth + 1, TRACE_DEPTH_MAX) : 0;
    const above = cause && (cause.depth === TRACE_DEPTH_MAX ? cause.above : event.causationId!);
    places.set(event.id, { depth, above });
    const siblings = effects.get(above);
    if (siblings) siblings.push(event);
    else effects.set(above, [event]);
  }
  return nodesFrom(effects);
}

/** From the newest to the oldest, so that every node finds its effects made already, however long the chain. */
function nodesFrom(effects: ReadonlyMap<string | undefined, readonly TracedEvent[]>): readonly TraceNode[] {
  const made = new Map<string, TraceNode>();
  const all = [...effects.values()].flat().sort((one, other) => (one.position < other.position ? 1 : -1));
  const nodesOf = (id: string | undefined) => (effects.get(id) ?? []).map((event) => made.get(event.id)!);
  for (const event of all) made.set(event.id, { event, journal: journalOf(event), caused: nodesOf(event.id) });
  return nodesOf(undefined);
}

/** Events that sum up the frames of an answer, be it made in the conversation or added to it. */
const SEALS: ReadonlySet<string> = new Set(['TurnSealed', 'TurnAppended']);

function journalOf({ type, data }: TracedEvent): Journal | undefined {
  if (!SEALS.has(type)) return undefined;
  const { turnId, frames, lastId, sha256 } = JSON.parse(data) as { turnId: string } & Journal;
  return { stream: `message-${turnId}`, frames, lastId, sha256 };
}

/** Whether some of a chain is not kept any more: an event was caused by another that is not there. What a request caused bears its id. */
export function isCutOff(events: readonly Pick<TracedEvent, 'id' | 'causationId'>[], correlationId: string): boolean {
  const kept = new Set<string | null>([correlationId, null, ...events.map(({ id }) => id)]);
  return events.some(({ causationId }) => !kept.has(causationId));
}

/** Whether a user may see how a chain of events went: the user answers for all that people did in it. */
export function isOwnTrace(events: readonly Pick<TracedEvent, 'actor'>[], actors: readonly string[]): boolean {
  const people = events.filter((event) => !event.actor?.startsWith('system:'));
  return people.length > 0 && people.every(({ actor }) => actor !== null && actors.includes(actor));
}
