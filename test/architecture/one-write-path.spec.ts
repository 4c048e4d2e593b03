import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, it } from '@jest/globals';

/** Files that append without a command, each for the stated reason. They make no decisions. */
const RAW_WRITERS = {
  'src/dialogue/journal/journal.ts':
    'the writer of an answer’s journal: its frames are appended as they come, and no state decides on them',
  'src/dialogue/journal/stored-turn-additions.ts': 'the writer of the journal of an answer that was given elsewhere',
  'src/resources/sources/chunks/chunk-writer.ts':
    'the writer of source chunks: they are worked out from a file, and appended batch by batch',
  'src/views/notifications/user-journal.ts': 'the writer of user events: they repeat what was decided elsewhere',
} as const;

/** The code with which all others append, and the store of idempotency keys, which are appended directly. */
const FOUNDATION = ['src/kernel/event-sourcing/', 'src/platform/event-store/'];

/** Code that handlers of several commands share. Only they import it. */
const OF_HANDLERS = ['src/triggers/schedules/schedule/catch-up.ts'];

type Source = Readonly<{ file: string; text: string }>;

const DECIDED = /\.\s*transact\s*[(<]|streams\s*[?!]?\.\s*record\s*[(<]/giu;
const RAW = /\.\s*appendEvents\s*[(<]|(?:streams|store)\s*[?!]?\.\s*append\s*[(<]/giu;

const callsIn = ({ text }: Source, pattern: RegExp): readonly string[] =>
  (text.match(pattern) ?? []).map((call) => call.replace(/\s/gu, ''));

/** Calls that append outside command handlers. Raw writers may append, but not decide. */
function violationsIn(sources: readonly Source[]): readonly string[] {
  return sources.flatMap((source) => {
    const { file } = source;
    if (file.endsWith('.commands.ts') || OF_HANDLERS.includes(file) || FOUNDATION.some((folder) => file.startsWith(folder)))
      return [];
    const calls = [...callsIn(source, DECIDED), ...(file in RAW_WRITERS ? [] : callsIn(source, RAW))];
    return calls.map((call) => `${file} calls ${call}`);
  });
}

const sources: readonly Source[] = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts') && !file.endsWith('.spec.ts'))
  .map((file) => join('src', file))
  .map((file) => ({ file, text: readFileSync(file, 'utf8') }));

describe('events are appended', () => {
  it('only by command handlers and by the named raw writers', () => {
    expect(sources.length).toBeGreaterThan(500);
    expect(violationsIn(sources)).toEqual([]);
  });

  it.each(Object.entries(RAW_WRITERS))('directly by %s, because: %s', (file) => {
    expect(
      callsIn(
        sources.find((source) => source.file === file)!,
        RAW,
      ),
    ).not.toEqual([]);
  });

  it.each(OF_HANDLERS)('for command handlers only by %s', (file) => {
    const importing = sources.filter(({ text }) => text.includes(`/${basename(file, '.ts')}.js'`));
    expect(importing.map((each) => each.file).filter((each) => !each.endsWith('.commands.ts'))).toEqual([]);
    expect(importing.length).toBeGreaterThan(0);
  });
});

describe('a violation', () => {
  const violation = 'src/resources/agents/probe.ts';

  it.each([
    ['a decision', 'await this.streams.transact(stream, agent, remove(ownerId), cause);', '.transact('],
    ['a decision with its types', 'await this.streams.transact<Agent, AgentEvent>(stream, agent, decide, cause);', '.transact<'],
    ['a decision through another variable', 'await log.transact(stream, agent, decide, cause);', '.transact('],
    ['a recorded event', 'await this.parts.streams.record(stream, agent, decide, cause);', 'streams.record('],
    ['a call over several lines', 'await this.parts.streams\n  .record(stream, agent, decide, cause);', 'streams.record('],
    ['a raw append', "await streams.append(stream, 'none', codec, events, cause);", 'streams.append('],
    ['an append past the streams', "await this.streams.store.append(stream, 'none', events);", 'store.append('],
    ['an append of encoded events', "await this.streams.appendEvents(stream, 'none', events);", '.appendEvents('],
  ])('is %s outside a handler', (_, text, call) => {
    expect(violationsIn([{ file: violation, text }])).toEqual([`${violation} calls ${call}`]);
  });

  it('is a decision by a raw writer', () => {
    for (const file of Object.keys(RAW_WRITERS)) {
      const text =
        'await this.streams.transact(stream, job, decide, cause); await this.streams.append(stream, 1, codec, [], cause);';
      expect(violationsIn([{ file, text }])).toEqual([`${file} calls .transact(`]);
    }
  });

  it.each([
    ['src/resources/agents/agent.commands.ts', 'await this.streams.transact(stream, agent, remove(ownerId), cause);'],
    ['src/kernel/event-sourcing/idempotency.ts', 'await streams.appendEvents(stream, expected, [event]);'],
    ['src/platform/event-store/postgres/probe.ts', 'await store.append(stream, expected, events);'],
    [violation, "url.searchParams.append('a', 'b'); headers.append(name, value);"],
    [violation, 'const { state } = await this.streams.fold(stream, agent); return this.record(state);'],
  ])('is not, in %s: %s', (file, text) => {
    expect(violationsIn([{ file, text }])).toEqual([]);
  });
});
