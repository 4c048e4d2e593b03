import { describe, expect, it } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { approvalTurn, FIRST_RUN_FRAMES, RESUMED_RUN_FRAMES } from '../../../../test/support/approval-turns.js';
import { door } from '../../../../test/support/door.js';
import { eventually } from '../../../../test/support/eventually.js';
import { InMemoryBlobs } from '../../../../test/support/in-memory-blobs.js';
import { InMemoryEventStore } from '../../../../test/support/in-memory-event-store.js';
import { MortalStore } from '../../../../test/support/mortal-store.js';
import {
  composerOver,
  offeredAction,
  roundOf,
  ScriptedModels,
  text,
  toolCall,
  ToolsForTests,
  WITH_TOOLS,
} from '../../../../test/support/tool-turns.js';
import { askedTurn, cause, eventsOf, framesOf, workerOver } from '../../../../test/support/turns.js';
import { Streams } from '../../../kernel/event-sourcing/streams.js';
import { InProcessSignals } from '../../../platform/messaging/signals/in-process-signals.js';
import { systemTiming } from '../../../platform/system-timing.js';
import { conversation } from '../../conversation/conversation.decider.js';
import { requestStop } from '../../conversation/turn.decider.js';
import { type AnswerParts, conversationStream, type TurnPaused } from '../../conversation/conversation.events.js';
import { resume } from '../../conversation/pause.decider.js';
import { requeue } from '../../conversation/turn.decider.js';
import type { Decide } from '../../conversation/turn.policy.js';
import { messageStream } from '../../journal/message.events.js';

Logger.overrideLogger(false);

const stream = conversationStream('c1');
const journal = messageStream('t1');

describe('a producer that is considered dead', () => {
  it('continues undisturbed if it has appended an event since', async () => {
    const { log, process, begin, approve, turn, outline } = approvalTurn();
    await begin();
    await process().run('c1', 't1');
    await approve();
    const [judged, stated, answering, settled] = [door(), door(), door(), door()];
    const mistaken = new MortalStore(log, Infinity, (_, types) => {
      if (!types.includes('TurnRequeued')) return undefined;
      judged.open();
      return stated.opened;
    });
    const busy = new MortalStore(log, Infinity, (_, types) => {
      if (types.includes('ToolCallStarted')) return judged.opened;
      if (!types.includes('TurnAnswered')) return undefined;
      answering.open();
      return settled.opened;
    });
    const producer = process(busy);
    const running = producer.run('c1', 't1');
    await eventually(async () => (await framesOf(log, 't1')).length > FIRST_RUN_FRAMES.length + 1);
    const settling = process(mistaken).recover('c1', 't1');
    await answering.opened;
    stated.open();
    await settling;
    settled.open();
    await running;
    expect(await outline()).toEqual([...FIRST_RUN_FRAMES, ...RESUMED_RUN_FRAMES]);
    expect((await turn()).requeues).toBe(0);
  });

  it('shows no text beyond the recorded answer if its turn was to be stopped', async () => {
    const log = new InMemoryEventStore();
    const streams = new Streams(log, systemTiming);
    const [told, stopping, goesOn] = [door(), door(), door()];
    const models = new ScriptedModels(async function* () {
      yield text('Let me ');
      await told.opened;
      yield text('see.');
    });
    const tools = new ToolsForTests([]);
    const process = (store = new MortalStore(log)) =>
      workerOver(store, new InProcessSignals(), composerOver(models, tools, new InMemoryBlobs())).runner;
    await askedTurn(log, 'c1', 't1');
    const running = process().run('c1', 't1');
    await eventually(async () => (await framesOf(log, 't1')).length === 2);
    await streams.transact(stream, conversation, requestStop('t1'), cause);
    const settling = process(
      new MortalStore(log, Infinity, (_, types) => {
        if (!types.includes('TurnStopped')) return undefined;
        stopping.open();
        return goesOn.opened;
      }),
    ).recover('c1', 't1');
    await stopping.opened;
    told.open();
    await running;
    goesOn.open();
    await settling;
    expect((await framesOf(log, 't1')).filter(({ type }) => type === 'answer')).toHaveLength(1);
    const stopped = (await eventsOf(log, stream)).filter(({ type }) => type === 'TurnStopped');
    expect(stopped.map(({ data }) => (JSON.parse(data) as AnswerParts).answer)).toEqual(['Let me ']);
  });
});

it.each(['works', 'waits as well'])('a producer whose successor %s cannot append a pause', async (how) => {
  const log = new InMemoryEventStore();
  const blobs = new InMemoryBlobs();
  const streams = new Streams(log, systemTiming);
  const tools = new ToolsForTests([offeredAction('send_card', { requiresApproval: true })]);
  const process = (to: string, store = new MortalStore(log), told: Promise<void> = Promise.resolve()) => {
    const models = new ScriptedModels(async function* (request) {
      await told;
      yield toolCall(`k${roundOf(request)}`, 'send_card', { to });
    });
    return workerOver(store, new InProcessSignals(), composerOver(models, tools, blobs), blobs).runner;
  };
  const decide = (decision: Decide) => streams.transact(stream, conversation, decision, cause);
  const [reached, held, asked, told] = [door(), door(), door(), door()];
  await askedTurn(log, 'c1', 't1', WITH_TOOLS);
  await process('ann').run('c1', 't1');
  await decide(resume([{ callId: 'k0', decision: 'denied', comment: null }], { userId: 'alice' }, new Date()));
  const slowStore = new MortalStore(log, Infinity, (_, types) => {
    if (!types.includes('TurnPaused')) return undefined;
    reached.open();
    return held.opened;
  });
  const slow = process('bob', slowStore);
  const running = slow.run('c1', 't1');
  await reached.opened;
  await decide(requeue('t1', slow.producer));

  const nextStore = new MortalStore(log, Infinity, async (name) => {
    const types = (await eventsOf(log, stream)).map(({ type }) => type);
    if (name !== journal || types.filter((type) => type === 'TurnPaused').length < 2) return;
    asked.open();
    await told.opened;
  });
  const next = process('carol', nextStore, how === 'works' ? told.opened : Promise.resolve()).run('c1', 't1');
  if (how === 'works') await eventually(async () => (await eventsOf(log, stream)).at(-1)!.type === 'TurnStarted');
  else await asked.opened;
  held.open();
  await running;
  told.open();
  await next;

  const paused = (await eventsOf(log, stream)).filter(({ type }) => type === 'TurnPaused');
  expect(paused).toHaveLength(2);
  const { lastId, calls } = JSON.parse(paused[1]!.data) as TurnPaused['data'];
  const frames = await framesOf(log, 't1');
  expect(frames).toHaveLength(lastId + 1);
  expect(calls.map((call) => call.arguments)).toEqual([{ to: 'carol' }]);
  expect(JSON.stringify(frames)).not.toContain('bob');
});
