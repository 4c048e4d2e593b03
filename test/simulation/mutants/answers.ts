import { AskQuestion, ResumeTurn } from '../../../src/dialogue/answering/intake/question.commands.js';
import { StopAnswer } from '../../../src/dialogue/answering/runner/stop-answer.commands.js';
import { QueueTask } from '../../../src/work/tasks/task.commands.js';
import { AcceptDelivery } from '../../../src/triggers/webhooks/delivery.commands.js';
import type { Mutant } from '../world/mutant.js';
import { withoutReaction, withoutTicker } from './without.js';

/** Faults of conversations, webhooks and their tasks. */
export const MUTANTS_OF_ANSWERS: readonly Mutant[] = [
  { name: 'leaves the turns of dead producers', foundAs: /is not over: .*turn/, ticks: withoutTicker('sweep-turns') },
  { name: 'lets pauses wait for ever', foundAs: /is not over: .*turn/, ticks: withoutTicker('expire-pauses') },
  { name: 'leaves the tasks of dead workers', foundAs: /is not over: .*task/, ticks: withoutTicker('sweep-tasks') },
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
        asking.execute(new AskQuestion(ids.next(), conversationId, question, cause, false) as never);
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
    ticks: withoutTicker('expire-pauses'),
    roles: ({ handlers }) => void handlers.set(ResumeTurn, { execute: () => Promise.resolve({ position: undefined }) }),
  },
  {
    name: 'takes each repetition of a delivery for another one',
    foundAs: /ran \d times|named \d tasks/,
    roles: ({ handlers, ids }) => {
      const accepting = handlers.get(AcceptDelivery)!;
      const execute = ({ delivery, cause }: AcceptDelivery) =>
        accepting.execute(new AcceptDelivery({ ...delivery, key: ids.next() }, cause) as never);
      handlers.set(AcceptDelivery, { execute });
    },
  },
  {
    name: 'runs nothing of what was delivered',
    foundAs: /is not over: .*task/,
    roles: withoutReaction('run-deliveries'),
  },
  {
    name: 'does not try a task again whose attempt failed',
    foundAs: /is not over: .*task/,
    readModels: ({ tasks }) => {
      const unstarted = tasks.unstarted.bind(tasks);
      tasks.unstarted = async (...asked) => (await unstarted(...asked)).filter(({ status }) => status !== 'waiting');
    },
  },
];
