import { beforeEach, describe, expect, it } from '@jest/globals';
import { InMemoryEventStore } from '../../../test/support/in-memory-event-store.js';
import { VirtualTiming } from '../../../test/support/virtual-timing.js';
import { newId } from '../ids.js';
import { encodeMetadata } from './codec.js';
import { type EventStore, LOG_START, type LogPage, type LogReading } from './event-store.js';
import { LOG_FORMAT, requireLogFormat, UnreadableLog } from './log-format.js';
import { LOG_FORMAT_STREAM } from './log-format.events.js';

const use = { version: '0.2.0', place: 'the data directory /data', advice: 'set DATA_DIR to another directory' };
const cause = { actor: 'user:alice', credential: 'none', correlationId: 'r', causationId: 'r' } as const;

let store: InMemoryEventStore;

beforeEach(() => {
  store = new InMemoryEventStore();
});

const start = (log: EventStore = store) =>
  requireLogFormat({ store: log, timing: new VirtualTiming(), clock: { now: () => new Date(0) }, ids: { next: newId } }, use);

const write = (stream: string, type: string, data: object, version = 1) =>
  store.append(stream, 'none', [{ id: newId(), type, data: JSON.stringify(data), metadata: encodeMetadata(cause, version) }]);

const log = async () => {
  const types: string[] = [];
  for await (const { events } of store.readAll({ after: LOG_START })) types.push(...events.map(({ type }) => type));
  return types;
};

/** A view of the log that shows no event for the first reads, like a lagging node. */
class Lagging extends InMemoryEventStore {
  constructor(
    private readonly whole: InMemoryEventStore,
    private hidden: number,
  ) {
    super();
    this.append = whole.append.bind(whole);
    this.lastRevision = whole.lastRevision.bind(whole);
  }

  override async *readAll(reading: LogReading): AsyncIterable<LogPage> {
    if (this.hidden-- > 0) yield { events: [], position: LOG_START, caughtUp: true };
    else yield* this.whole.readAll(reading);
  }
}

describe('an empty log', () => {
  it('gets the declaration of the format once', async () => {
    await start();
    await start();
    expect(await log()).toEqual(['LogFormatDeclared']);
    for await (const [first] of store.read(LOG_FORMAT_STREAM))
      expect(JSON.parse(first!.data)).toEqual({ format: LOG_FORMAT, version: '0.2.0', declaredAt: '1970-01-01T00:00:00.000Z' });
  });

  it('gets one declaration from several processes that start together', async () => {
    await Promise.all([start(), start(), start(), start()]);
    expect(await log()).toEqual(['LogFormatDeclared']);
  });

  it('gets one declaration if an answer is lost before or after the append', async () => {
    for (const when of ['before', 'after'] as const) {
      store = new InMemoryEventStore();
      store.failNextAppend(when);
      await start();
      expect(await log()).toEqual(['LogFormatDeclared']);
    }
  });

  it('is read until it shows the declaration that it accepted', async () => {
    await start(new Lagging(store, 5));
    expect(await log()).toEqual(['LogFormatDeclared']);
  });

  it('counts as unavailable if it never shows the declaration', async () => {
    await expect(start(new Lagging(store, Infinity))).rejects.toMatchObject({ name: 'StoreUnavailable' });
  });
});

describe('a log that another process has started', () => {
  it('continues after its declaration', async () => {
    await start();
    await write('conversation-c1', 'ConversationOpened', { conversationId: 'c1' });
    await start();
    expect(await log()).toEqual(['LogFormatDeclared', 'ConversationOpened']);
  });

  it("continues for the loser of a race that cannot read the winner's declaration yet", async () => {
    await start();
    await start(new Lagging(store, 3));
    expect(await log()).toEqual(['LogFormatDeclared']);
  });

  it('is refused and left unchanged if it starts with another event', async () => {
    await write('conversation-c1', 'ConversationStarted', { conversationId: 'c1' });
    await expect(start()).rejects.toThrow(UnreadableLog);
    await expect(start()).rejects.toThrow(
      'The log in the data directory /data was written by a version before 0.2.0, or its first event was changed or removed, and version 0.2.0 cannot read it: ' +
        'set DATA_DIR to another directory, or start the older version again.',
    );
    expect(await log()).toEqual(['ConversationStarted']);
  });

  it('is refused if a lagging node shows its first event late', async () => {
    await write('conversation-c1', 'ConversationStarted', { conversationId: 'c1' });
    await expect(start(new Lagging(store, 4))).rejects.toThrow(UnreadableLog);
  });

  it('is refused if it declares another format, with the version that can read it', async () => {
    await write(LOG_FORMAT_STREAM, 'LogFormatDeclared', { format: LOG_FORMAT + 1, version: '3.1.4', declaredAt: '' });
    await expect(start()).rejects.toThrow('was written by version 3.1.4, and version 0.2.0 cannot read it');
  });
});
