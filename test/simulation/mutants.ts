import { REVISION_MAX } from '../../src/kernel/event-store.js';
import { StopAnswer } from '../../src/answering/stop-answer.command.js';
import { ResumeTurn } from '../../src/answering/resume-turn.command.js';
import { AskQuestion } from '../../src/answering/ask-question.command.js';
import { QueueTask } from '../../src/tasks/queue-task.command.js';
import type { Mutant } from './world/mutant.js';

const without = (name: string) => (ticker: { name: string }) => ticker.name !== name;

/** Faults that the simulation has to find, each within MUTANT_SEEDS_MAX seeds. */
export const MUTANTS: readonly Mutant[] = [
  {
    name: 'decides again before the winner of a race can be read',
    foundAs: /Idempotency-Key gave 2 turns|ran 2 times/,
    store: (store) => {
      store.lastRevision = () => Promise.resolve(REVISION_MAX);
    },
  },
  {
    name: 'gives an append up before the log says what became of one in flight',
    foundAs: /503 while the store was there/,
    inFlightTimeoutMs: [8_500, 9_500],
  },
  { name: 'leaves the turns of dead producers', foundAs: /is not over: .*turn/, ticks: without('sweep-turns') },
  { name: 'lets pauses wait for ever', foundAs: /is not over: .*turn/, ticks: without('expire-pauses') },
  { name: 'leaves the tasks of dead workers', foundAs: /is not over: .*task/, ticks: without('sweep-tasks') },
  {
    name: 'accepts a stop and does not write it down',
    foundAs: /A stop of .* was accepted, and it came to/,
    roles: ({ handlers }) => void handlers.set(StopAnswer, { execute: () => Promise.resolve() }),
  },
  {
    name: 'accepts a question and does not write it down',
    foundAs: /never got an answer|was never asked|is not over/,
    roles: ({ handlers }) => void handlers.set(AskQuestion, { execute: () => Promise.resolve({ position: undefined }) }),
  },
  {
    name: 'asks under another id each time a key is repeated',
    foundAs: /Idempotency-Key/,
    roles: ({ handlers, ids }) => {
      const asking = handlers.get(AskQuestion)!;
      const execute = ({ conversationId, question, cause }: AskQuestion) =>
        asking.execute(new AskQuestion(ids.next(), conversationId, question, cause) as never);
      handlers.set(AskQuestion, { execute });
    },
  },
  {
    name: 'queues no task for what was delivered',
    foundAs: /is not over: .*task/,
    roles: ({ handlers }) => void handlers.set(QueueTask, { execute: () => Promise.resolve() }),
  },
  {
    name: 'takes a decision and does not write it down',
    foundAs: /is not over|was resumed|never/,
    ticks: without('expire-pauses'),
    roles: ({ handlers }) => void handlers.set(ResumeTurn, { execute: () => Promise.resolve({ position: undefined }) }),
  },
  {
    name: 'answers an append whose outcome is unknown as if it had been written',
    foundAs: /./,
    store: (store) => {
      const append = store.append.bind(store);
      store.append = (stream, expected, events) =>
        append(stream, expected, events).catch((error: Error) => {
          if (error.name !== 'StoreUnavailable') throw error;
          return { revision: (expected === 'none' ? -1 : expected) + events.length, position: 0n };
        });
    },
  },
  {
    name: 'takes a lost race for a won one',
    foundAs: /./,
    store: (store) => {
      const append = store.append.bind(store);
      store.append = (stream, expected, events) =>
        append(stream, expected, events).catch((error: Error) => {
          if (error.name !== 'WrongRevision') throw error;
          return { revision: (expected === 'none' ? -1 : expected) + events.length, position: 0n };
        });
    },
  },
];
