import { beforeEach, expect, it } from '@jest/globals';
import { InMemoryEventStore } from '../../../test/support/in-memory-event-store.js';
import { newEvent } from '../../../test/contracts/event-store.subject.js';
import { VirtualTiming } from '../../../test/support/virtual-timing.js';
import type { Commands } from '../../kernel/commands.js';
import type { ExpectedRevision } from '../../kernel/event-sourcing/event-store.js';
import { deterministicId } from '../../kernel/ids.js';
import type { KeyValue } from '../../kernel/messaging/key-value.js';
import { agentStream } from '../../resources/agents/agent.events.js';
import type { AgentKeyDirectory } from '../../resources/identity/agent-key-directory.port.js';
import { type SeedSource, seedingTask } from '../../resources/sources/seed-source.js';
import { taskStream } from '../../work/tasks/task.events.js';
import { SeedDemo } from './seed-demo.js';

const AGENT_ID = deterministicId('demo', 'agent');
const TASK = taskStream(seedingTask(deterministicId('demo', 'source')));
const never = new AbortController().signal;

let store: InMemoryEventStore;
let timing: VirtualTiming;
/** The positions that read models had to reach before the demo was usable. */
let awaited: bigint[];
let workers: string[];
let demo: SeedDemo;

const append = (stream: string, expected: ExpectedRevision, type: string) => store.append(stream, expected, [newEvent({ type })]);

beforeEach(async () => {
  [store, timing, awaited, workers] = [new InMemoryEventStore(), new VirtualTiming(), [], ['workers.1']];
  demo = new SeedDemo(
    store,
    {} as Commands,
    {} as SeedSource,
    { reached: async (_, position) => (awaited.push(position!), true) },
    { byHash: async () => ({ agentId: AGENT_ID }) } as unknown as AgentKeyDirectory,
    { keys: async () => workers } as unknown as KeyValue,
    timing,
  );
  await append(agentStream(AGENT_ID), 'none', 'AgentCreated');
});

it('the demo is usable only after its documents are ingested', async () => {
  await append(TASK, 'none', 'TaskQueued');
  let isUsable = false;
  const seeding = demo.seed(never).then((usable) => (isUsable = usable));
  await timing.pause(10_000);
  expect(isUsable).toBe(false);
  await append(TASK, 0, 'TaskStarted');
  await timing.pause(10_000);
  expect(isUsable).toBe(false);
  const { position } = await append(TASK, 1, 'TaskSucceeded');
  await seeding;
  expect([isUsable, awaited.at(-1)]).toEqual([true, position]);
});

it('an attempt to seed fails if the ingestion takes too long', async () => {
  await expect(demo.seed(never)).rejects.toThrow('not ingested within 60000 ms');
  expect(timing.elapsedMs()).toBe(60_000);
});

it('an attempt to seed fails without waiting if no worker is alive', async () => {
  workers = [];
  await expect(demo.seed(never)).rejects.toThrow('No worker is alive');
  expect(timing.pauses).toEqual([]);
});

it('an attempt to seed ends when the process stops', async () => {
  const stopping = new AbortController();
  const seeding = demo.seed(stopping.signal);
  seeding.catch(() => undefined);
  await timing.pause(1_000);
  stopping.abort();
  await expect(seeding).rejects.toThrow('not ingested');
  expect(timing.elapsedMs()).toBe(1_000);
});
