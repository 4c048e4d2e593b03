import { expect } from '@jest/globals';
import { conversation } from '../../src/dialogue/conversation/conversation.decider.js';
import { type AnswerParts, conversationStream } from '../../src/dialogue/conversation/conversation.events.js';
import { resume } from '../../src/dialogue/conversation/pause.decider.js';
import type { Decide } from '../../src/dialogue/conversation/turn.policy.js';
import { Streams } from '../../src/kernel/event-sourcing/streams.js';
import { InProcessSignals } from '../../src/platform/messaging/signals/in-process-signals.js';
import { systemTiming } from '../../src/platform/system-timing.js';
import { InMemoryBlobs } from './in-memory-blobs.js';
import { InMemoryEventStore } from './in-memory-event-store.js';
import { MortalStore } from './mortal-store.js';
import {
  type Chunks,
  composerOver,
  offeredAction,
  type Ran,
  roundOf,
  ScriptedModels,
  text,
  toolCall,
  ToolsForTests,
  WITH_TOOLS,
} from './tool-turns.js';
import { askedTurn, bringFurther, cause, eventsOf, framesOf, workerOver } from './turns.js';

const stream = conversationStream('c1');

/** A turn that needs an approval to send a card and then writes a note, run by any number of processes. */
export function approvalTurn(
  does: (call: Ran) => unknown = ({ name }) => ({ done: name }),
  rounds: readonly Chunks[] = [[text('Hm. '), toolCall('k1', 'send_card')], [toolCall('k2', 'note_it')], [text('Done.')]],
) {
  const log = new InMemoryEventStore();
  const blobs = new InMemoryBlobs();
  const signals = new InProcessSignals();
  const streams = new Streams(log, systemTiming);
  const effects: string[] = [];
  const models = new ScriptedModels((request) => rounds[roundOf(request)]!);
  const actions = [
    offeredAction('send_card', { access: 'write', requiresApproval: true }),
    offeredAction('note_it', { access: 'write' }),
  ];
  const process = (store = new MortalStore(log)) => {
    const tools = new ToolsForTests(actions, (call) => {
      effects.push(call.name);
      return does(call);
    });
    return workerOver(store, signals, composerOver(models, tools, blobs), blobs).runner;
  };
  const decide = (decision: Decide) => streams.transact(stream, conversation, decision, cause);
  const turn = async () => (await streams.fold(stream, conversation)).state.turns.get('t1')!;
  return {
    log,
    signals,
    models,
    effects,
    process,
    decide,
    turn,
    begin: () => askedTurn(log, 'c1', 't1', WITH_TOOLS),
    approve: (callId = 'k1') => decide(resume([{ callId, decision: 'approved' }], { userId: 'alice' }, new Date())),
    sweep: async () => {
      const sweeper = process();
      await sweeper.run('c1', 't1');
      await bringFurther(sweeper, 'c1', 't1');
    },
    outline: async () =>
      (await framesOf(log, 't1')).map((frame) => {
        const { status } = (frame['data'] ?? {}) as { status?: string };
        return [frame['type'], status ?? frame['code']].filter(Boolean).join(' ');
      }),
    outcome: async (type: string) => {
      const found = (await eventsOf(log, stream)).filter((event) => event.type === type);
      expect(found).toHaveLength(1);
      const parts = JSON.parse(found[0]!.data) as AnswerParts;
      return { ...parts, statuses: Object.fromEntries(parts.toolCalls.map((call) => [String(call['call_id']), call['status']])) };
    },
  };
}

/** The outlines of the frames of a pause, of the run that ends with it, and of the run after the approval. */
export const PAUSE_FRAMES = ['tool_call awaiting_approval', 'source', 'tool_calls', 'tool_calls_pending', 'id', 'end'];
export const FIRST_RUN_FRAMES = ['message_id', 'answer', ...PAUSE_FRAMES];
export const RESUMED_RUN_FRAMES = [
  ...['message_id', 'tool_call pending', 'tool_call completed', 'tool_call pending', 'tool_call completed', 'answer'],
  ...['source', 'tool_calls', 'id', 'end'],
];
