import { setImmediate as pause } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { InMemoryEventStore } from '../../../../test/support/in-memory-event-store.js';
import { LogEarlierTurns } from '../../../../test/support/log-earlier-turns.js';
import { MortalStore } from '../../../../test/support/mortal-store.js';
import { answeringOptions, cause, eventsOf, framesOf, scripted, settings, workerOver } from '../../../../test/support/turns.js';
import type { EventStore } from '../../../kernel/event-sourcing/event-store.js';
import { InProcessKeyValue } from '../../../platform/messaging/key-value/in-process-key-value.js';
import { InProcessSignals } from '../../../platform/messaging/signals/in-process-signals.js';
import { InProcessWorkQueue } from '../../../platform/messaging/work-queue/in-process-work-queue.js';
import { systemIds } from '../../../platform/system-ids.js';
import { systemTiming } from '../../../platform/system-timing.js';
import { conversationStream } from '../../conversation/conversation.events.js';
import { messageStream } from '../../journal/message.events.js';
import { AskQuestion, AskQuestionHandler } from '../intake/question.commands.js';
import type { ResolvedQuestion } from '../intake/resolve-question.js';
import type { AnswerDelta } from '../loop/answer-delta.js';
import { TurnsWorker } from './turns-worker.js';

const question: ResolvedQuestion = {
  ...{ question: 'Why?', ownerId: 'alice', agent: undefined, conversationId: undefined, index: null, visibility: 'hidden' },
  ...{ history: [], sharedUsage: false, settings },
};
const text = (said: string): AnswerDelta => ({ type: 'text', text: said });

/** A process that answers the questions it accepts itself, over a store that can delay appends. */
function asking(script: () => AsyncGenerator<AnswerDelta>, hold: (stream: string) => Promise<unknown> | void) {
  const log = new InMemoryEventStore();
  const store: EventStore = new MortalStore(log, Infinity, hold);
  const model = { asked: 0, stopped: 0 };
  const composer = scripted(async function* (signal) {
    model.asked++;
    signal.addEventListener('abort', () => void model.stopped++);
    yield* script();
  });
  const { streams, feed, runner } = workerOver(store, new InProcessSignals(), composer);
  const ports = [new InProcessWorkQueue(), new InProcessKeyValue(), runner, systemTiming, systemIds] as const;
  const worker = new TurnsWorker(...ports, answeringOptions);
  worker.onApplicationBootstrap();
  const handler = new AskQuestionHandler(streams, new LogEarlierTurns(store));
  const ask = async (turnId: string) => {
    const seat = worker.seat(turnId)!;
    try {
      const { taken } = await handler.execute(new AskQuestion(turnId, `of-${turnId}`, question, cause, false, seat));
      seat.run(taken!);
    } catch (error) {
      seat.leave();
      throw error;
    }
  };
  return { log, model, feed, worker, runner, ask };
}

describe('while the append of a question is in progress', () => {
  function held() {
    let letGo!: (error?: Error) => void;
    const holding = new Promise<void>((resolve, reject) => (letGo = (error) => (error ? reject(error) : resolve())));
    let calls = 0;
    const service = asking(
      async function* () {
        yield text('So.');
        yield { type: 'round-over' };
        calls++;
        yield text(' Done.');
      },
      (stream) => (stream.startsWith('conversation-') ? holding : undefined),
    );
    return { ...service, letGo, calls: () => calls };
  }

  it('its model is called, no tool is called, and no frame is written', async () => {
    const { log, model, ask, calls, letGo, worker } = held();
    const asked = ask('t1');
    for (let turn = 0; turn < 20; turn++) await pause();
    expect([model.asked, calls(), await framesOf(log, 't1')]).toEqual([1, 0, []]);
    letGo();
    await asked;
    await worker.beforeApplicationShutdown();
    const answer = (await framesOf(log, 't1')).filter(({ type }) => type === 'answer').map(({ answer: said }) => said);
    expect([model.asked, calls(), answer]).toEqual([1, 1, ['So.', ' Done.']]);
  });

  it('its model is called only after the turn of the event loop in which a store sends the append', async () => {
    const order: string[] = [];
    const { ask, worker } = asking(
      async function* () {
        order.push('model');
        yield text('So.');
      },
      async (stream) => {
        if (!stream.startsWith('conversation-')) return;
        await pause();
        order.push('append');
        for (let turn = 0; turn < 20; turn++) await pause();
        order.push('durable');
      },
    );
    await ask('t1');
    await worker.beforeApplicationShutdown();
    expect(order.slice(0, 3)).toEqual(['append', 'model', 'durable']);
  });

  it('and then fails, its model call is stopped, and nothing is written', async () => {
    const { log, model, ask, calls, letGo, runner } = held();
    const asked = ask('t1');
    for (let turn = 0; turn < 20; turn++) await pause();
    letGo(new Error('Refused.'));
    await expect(asked).rejects.toThrow('Refused.');
    await pause();
    expect([model.asked, model.stopped, calls(), runner.running]).toEqual([1, 1, 0, []]);
    expect([await framesOf(log, 't1'), await eventsOf(log, conversationStream('of-t1'))]).toEqual([[], []]);
  });
});

it('no reader sees a frame before the frame and its question are in the log, whatever the delays of appends and models', async () => {
  const waits = fc.array(fc.nat({ max: 6 }), { minLength: 1, maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(waits, waits, async (ofAppends, ofModel) => {
      let appends = 0;
      const turns = async (count: number) => {
        for (let turn = 0; turn < count; turn++) await pause();
      };
      const service = asking(
        async function* () {
          for (const [index, count] of ofModel.entries()) {
            await turns(count);
            yield text(`${index} `);
          }
        },
        () => turns(ofAppends[appends++ % ofAppends.length]!),
      );
      const { log, feed, worker, ask } = service;
      feed.expect('t1');
      const seen: string[] = [];
      const reading = (async () => {
        for await (const { last, data } of feed.tail('t1', -1, () => Promise.resolve('nothing'), new AbortController().signal)) {
          expect(await log.lastRevision(messageStream('t1'))).toBeGreaterThanOrEqual(last);
          expect(await log.lastRevision(conversationStream('of-t1'))).not.toBe('none');
          seen.push(...data);
        }
      })();
      await ask('t1');
      await reading;
      await worker.beforeApplicationShutdown();
      expect(seen).toEqual((await eventsOf(log, messageStream('t1'))).map(({ data }) => data));
      const answers = seen.map((frame) => (JSON.parse(frame) as { answer?: string }).answer ?? '');
      expect(answers.join('')).toBe(ofModel.map((_, index) => `${index} `).join(''));
    }),
    { numRuns: 60 },
  );
});
