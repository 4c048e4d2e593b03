import type { StoredEvent } from '../../../kernel/event-sourcing/event-store.js';
import { MessageFields } from './message-fields.js';

/** One message of a read or a subscription. What does not concern us is `other`. */
export type Answer =
  | Readonly<{ kind: 'event'; event: StoredEvent; bytes: number }>
  | Readonly<{ kind: 'checkpoint'; position: bigint }>
  | Readonly<{ kind: 'stream-end'; revision: number }>
  | Readonly<{ kind: 'caught-up' | 'fell-behind' | 'other' }>;

const CAUGHT_UP: Answer = { kind: 'caught-up' };
const FELL_BEHIND: Answer = { kind: 'fell-behind' };
const OTHER: Answer = { kind: 'other' };

const TICKS_PER_MS = 10_000;

/**
 * A `ReadResp` taken apart by hand: the stubs copy every event several times on the way to an object, and make a string
 * of every number. This reads twice as many events in a second.
 */
export function decodeAnswer(bytes: Buffer): Answer {
  const fields = new MessageFields(bytes);
  while (fields.next()) {
    if (fields.number === 1) return readEvent(fields.message(), bytes.length);
    if (fields.number === 3) return checkpoint(fields.message());
    if (fields.number === 6) return { kind: 'stream-end', revision: fields.integer() };
    if (fields.number === 8) return CAUGHT_UP;
    if (fields.number === 9) return FELL_BEHIND;
  }
  return OTHER;
}

/** The event itself; a link, which has the linked event in its place, is none of ours. */
function readEvent(fields: MessageFields, bytes: number): Answer {
  while (fields.next()) if (fields.number === 1) return { kind: 'event', event: recordedEvent(fields.message()), bytes };
  return OTHER;
}

function recordedEvent(fields: MessageFields): StoredEvent {
  let [id, stream, revision, position, data, metadata] = ['', '', 0, 0n, '', ''];
  let described: Described = { type: '', created: 0 };
  while (fields.next()) {
    if (fields.number === 1) id = only(fields.message(), 2);
    else if (fields.number === 2) stream = only(fields.message(), 3);
    else if (fields.number === 3) revision = fields.integer();
    else if (fields.number === 5) position = fields.bigint();
    else if (fields.number === 6) described = describe(fields.message(), described);
    else if (fields.number === 7) metadata = fields.text();
    else if (fields.number === 8) data = fields.text();
  }
  return {
    id,
    type: described.type,
    data,
    metadata,
    stream,
    revision,
    position,
    at: new Date(Math.floor(described.created / TICKS_PER_MS)),
  };
}

type Described = Readonly<{ type: string; created: number }>;

/** One entry of the server's own metadata: a name and a text. */
function describe(fields: MessageFields, known: Described): Described {
  let [name, value] = ['', ''];
  while (fields.next()) {
    if (fields.number === 1) name = fields.text();
    else if (fields.number === 2) value = fields.text();
  }
  if (name === 'type') return { ...known, type: value };
  return name === 'created' ? { ...known, created: Number(value) } : known;
}

/** The text of the one field that a wrapper is there for. */
function only(fields: MessageFields, number: number): string {
  let text = '';
  while (fields.next()) if (fields.number === number) text = fields.text();
  return text;
}

/** A subscription that has considered nothing yet gives the largest number there is for its position: that is none. */
const NO_POSITION = 2n ** 64n - 1n;

function checkpoint(fields: MessageFields): Answer {
  let position = 0n;
  while (fields.next()) if (fields.number === 1) position = fields.bigint();
  return position === NO_POSITION ? OTHER : { kind: 'checkpoint', position };
}

/** What an answer costs to hold. */
export const bytesOf = (answer: Answer): number => (answer.kind === 'event' ? answer.bytes : 0);

/** How far an answer shows the log considered. */
export function positionOf(answer: Answer): bigint | undefined {
  if (answer.kind === 'event') return answer.event.position;
  return answer.kind === 'checkpoint' ? answer.position : undefined;
}

/** The events among answers, without those that the store writes itself. */
export function eventsIn(answers: readonly Answer[]): StoredEvent[] {
  const events: StoredEvent[] = [];
  for (const answer of answers) if (answer.kind === 'event' && !answer.event.type.startsWith('$')) events.push(answer.event);
  return events;
}
