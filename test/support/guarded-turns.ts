import { expect } from '@jest/globals';
import { commandsOver } from './commands-over.js';
import { CodeGuardrails } from './guardrails.js';
import { InMemoryBlobs } from './in-memory-blobs.js';
import { InMemoryEventStore } from './in-memory-event-store.js';
import { MortalStore } from './mortal-store.js';
import { composerOver, offeredAction, roundOf, ScriptedModels, WITH_TOOLS, ToolsForTests } from './tool-turns.js';
import { askedTurn, bringFurther, cause, eventsOf, framesOf, workerOver } from './turns.js';
import { conversation } from '../../src/dialogue/conversation/conversation.decider.js';
import { type CheckedInput, conversationStream } from '../../src/dialogue/conversation/conversation.events.js';
import type { Decide } from '../../src/dialogue/conversation/turn.policy.js';
import { LOG_START } from '../../src/kernel/event-sourcing/event-store.js';
import { Streams } from '../../src/kernel/event-sourcing/streams.js';
import { InProcessSignals } from '../../src/platform/messaging/signals/in-process-signals.js';
import { systemTiming } from '../../src/platform/system-timing.js';
import type { Guardrails } from '../../src/resources/guardrails/guardrails.port.js';
import type { GuardrailPolicy } from '../../src/resources/guardrails/guardrail.policy.js';
import { RecordGuardrailDecisionsHandler } from '../../src/resources/guardrails/guardrail-record.commands.js';
import { guardrailStream } from '../../src/resources/guardrails/guardrail-record.events.js';
import type { ModelChunk } from '../../src/resources/models/model/language-model.port.js';
import type { OfferedAction } from '../../src/resources/tools/toolbox/toolbox.port.js';
import { AnswerGuards } from '../../src/dialogue/answering/guardrails/answer-guards.js';

/** What the guardrails of these turns find. */
export const SECRET = /CODE-[0-9]{4}/;
/** The actions that the model is offered. */
export const ACTIONS = [
  offeredAction('look'),
  offeredAction('send', { access: 'write' }),
  offeredAction('ask', { requiresApproval: true }),
];
/** The decision on a question with a secret. */
export const DECISION = {
  stage: 'input',
  check: 'secrets',
  detector: 'pattern',
  action: 'block',
  outcome: 'triggered',
  category: 'CODE',
  score: null,
  matchCount: 1,
} as const;
/** The usage that a model reports. */
export const used = (promptTokens: number): ModelChunk => ({ type: 'usage', promptTokens, completionTokens: 1 });

/** The check of a question that is blocked. */
export const BLOCKED_INPUT: CheckedInput = { decisions: [DECISION], blockMessage: 'I cannot say that.' };

/** A guarded turn in a log that several processes share, with a model that follows a script of rounds. */
export class GuardedTurn {
  readonly log = new InMemoryEventStore();
  readonly blobs = new InMemoryBlobs();
  readonly models: ScriptedModels;
  readonly ran: unknown[] = [];

  constructor(
    rounds: readonly (readonly ModelChunk[])[],
    private readonly does: (name: string) => unknown = () => 'done',
    private readonly actions: readonly OfferedAction[] = ACTIONS,
    private readonly guardrails: Guardrails = new CodeGuardrails(),
  ) {
    this.models = new ScriptedModels((request) => rounds[roundOf(request)] ?? []);
  }

  ask = (guardrails: GuardrailPolicy, checked?: CheckedInput) =>
    askedTurn(this.log, 'c1', 't1', { ...WITH_TOOLS, guardrails }, checked);

  process(appends = Infinity) {
    const store = new MortalStore(this.log, appends);
    const tools = new ToolsForTests(this.actions, ({ name, args }) => {
      this.ran.push(args);
      return this.does(name);
    });
    const streams = new Streams(store, systemTiming);
    const commands = commandsOver(new RecordGuardrailDecisionsHandler(streams, { now: () => new Date() }));
    const guards = new AnswerGuards(this.guardrails, commands);
    const composer = composerOver(this.models, tools, this.blobs, undefined, undefined, guards);
    const { runner } = workerOver(store, new InProcessSignals(), composer, this.blobs);
    return {
      run: () => runner.run('c1', 't1').catch(() => undefined),
      sweep: async () => {
        await runner.run('c1', 't1').catch(() => undefined);
        await bringFurther(runner, 'c1', 't1').catch(() => undefined);
      },
      get isDead() {
        return store.isDead;
      },
    };
  }

  decide = (decision: Decide) =>
    new Streams(this.log, systemTiming).transact(conversationStream('c1'), conversation, decision, cause);

  frames = () => framesOf(this.log, 't1');
  async outcome(): Promise<Record<string, unknown>> {
    const events = await eventsOf(this.log, conversationStream('c1'));
    const ends = events.filter(({ type }) => /^Turn(?:Answered|Failed|Stopped)$/.test(type));
    expect(ends).toHaveLength(1);
    expect(events.filter(({ type }) => type === 'TurnSealed')).toHaveLength(1);
    return { type: ends[0]!.type, ...(JSON.parse(ends[0]!.data) as object) };
  }

  async decisions(): Promise<unknown[]> {
    return (await eventsOf(this.log, guardrailStream('t1'))).flatMap(
      ({ data }) => (JSON.parse(data) as { decisions: unknown[] }).decisions,
    );
  }

  /** The text of all events and of all blobs. */
  async stored(): Promise<string> {
    let all = this.blobs.text();
    for await (const page of this.log.readAll({ after: LOG_START }))
      all += page.events.map(({ data, metadata }) => data + metadata).join('\n');
    return all;
  }
}

/** The types of frames. */
export const types = (frames: readonly Record<string, unknown>[]) => frames.map(({ type }) => type);
/** The text of an answer in its frames. */
export const answerIn = (frames: readonly Record<string, unknown>[]) =>
  frames.map(({ answer = '' }) => answer as string).join('');
