import type { EventStore, StoredEvent } from './event-store.js';
import type { Cause, Event, Recorded } from './events.js';

/** Converts event data from one version to the next. */
type Upcast = (data: never) => unknown;

/** For each event type, the upcasts from version 1 to the current version, which is their number plus one. */
export type Codec<E extends Event = Event> = Readonly<Record<E['type'], readonly Upcast[]>>;

type Metadata = Readonly<{
  $correlationId: string;
  $causationId: string;
  actor: string;
  credential: Cause['credential'];
  version: number;
}>;

/** A stored event that this program cannot read: invalid JSON, or a newer version. */
export class Undecodable extends Error {
  override readonly name = 'Undecodable';
  constructor(
    readonly event: Pick<StoredEvent, 'stream' | 'revision' | 'type'>,
    cause: unknown,
  ) {
    super(`${event.type} at ${event.stream}@${event.revision} cannot be decoded.`, { cause });
  }
}

/** Metadata as JSON. `$correlationId` and `$causationId` are the names that EventStoreDB's own projections read. */
export const encodeMetadata = (cause: Cause, version = 1): string =>
  JSON.stringify({
    $correlationId: cause.correlationId,
    $causationId: cause.causationId,
    actor: cause.actor,
    credential: cause.credential,
    version,
  } satisfies Metadata);

export function decodeCause(metadata: string): Cause & { version: number } {
  const { $correlationId, $causationId, actor, credential, version } = JSON.parse(metadata) as Metadata;
  return { actor, credential, correlationId: $correlationId, causationId: $causationId, version };
}

export const currentVersion = (codec: Codec, type: string): number => (codec[type]?.length ?? 0) + 1;

/** The event in its current version; undefined for a type that the codec does not know. @throws Undecodable */
export function decode<E extends Event>(codec: Codec<E>, stored: StoredEvent): Recorded<E> | undefined {
  const steps = (codec as Codec)[stored.type];
  if (!steps) return undefined;
  try {
    const { version, ...cause } = decodeCause(stored.metadata);
    if (version > steps.length + 1) throw new Error(`Version ${version} is newer than ${steps.length + 1}.`);
    const data = steps.slice(version - 1).reduce<unknown>((older, step) => step(older as never), JSON.parse(stored.data));
    const { id, type, stream, revision, position, at } = stored;
    return { id, type, stream, revision, position, at, cause, data } as Recorded<E>;
  } catch (error) {
    throw new Undecodable(stored, error);
  }
}

/** All events of a stream that the codec knows, in order. @throws Undecodable */
export async function recordedEvents<E extends Event>(
  store: Pick<EventStore, 'read'>,
  stream: string,
  codec: Codec<E>,
): Promise<readonly Recorded<E>[]> {
  const events: Recorded<E>[] = [];
  for await (const page of store.read(stream)) events.push(...page.flatMap((stored) => decode(codec, stored) ?? []));
  return events;
}
