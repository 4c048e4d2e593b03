import { describe, expect, it } from '@jest/globals';
import { codePolicy } from '../../../../test/support/guardrails.js';
import { InMemoryEventStore } from '../../../../test/support/in-memory-event-store.js';
import { MortalStore } from '../../../../test/support/mortal-store.js';
import { omitTurns } from '../../../../test/support/omitted-turns.js';
import { NoLimits } from '../../../../test/support/no-limits.js';
import { turnPaused, waitingCall } from '../../../../test/support/pauses.js';
import { questionIntake } from '../../../../test/support/question-intakes.js';
import { cause, eventsOf, settings } from '../../../../test/support/turns.js';
import type { EventStore } from '../../../kernel/event-sourcing/event-store.js';
import { Streams } from '../../../kernel/event-sourcing/streams.js';
import { newId } from '../../../kernel/ids.js';
import { Rejection } from '../../../kernel/rejection.js';
import { systemTiming } from '../../../platform/system-timing.js';
import { type Admission, UsageLimits } from '../../../work/limits/usage-limits.port.js';
import { conversation, remove } from '../../conversation/conversation.decider.js';
import { startTurn } from '../../conversation/turn.decider.js';
import { conversationStream } from '../../conversation/conversation.events.js';
import { pause, resume } from '../../conversation/pause.decider.js';
import { messageStream } from '../../journal/message.events.js';

it('a repeated request returns the turn of the first one, also if both are concurrent', async () => {
  const { accept } = questionIntake();
  const request = { question: 'Why?' };
  const [one, other] = await Promise.all([accept(request, 'k'), accept(request, 'k')]);
  const third = await accept(request, 'k');
  expect(new Set([one, other, third].map(({ turnId }) => turnId)).size).toBe(1);
  expect([one.replayed, other.replayed].sort()).toEqual([false, true]);
  expect(third.replayed).toBe(true);
});

it('another request with the same idempotency key is refused', async () => {
  const { accept } = questionIntake();
  await accept({ question: 'Why?' }, 'k');
  await expect(accept({ question: 'How?' }, 'k')).rejects.toMatchObject({ code: 'idempotency-key-reused' });
});

it('a request that the conversation refuses leaves no event and uses no key', async () => {
  const { accept, eventCount } = questionIntake();
  const { conversationId } = await accept({ question: 'Why?' });
  const before = await eventCount();
  const wrong = { question: 'And then?', conversation_id: conversationId, index: 7 };
  await expect(accept(wrong, 'k')).rejects.toMatchObject({ code: 'index-out-of-range' });
  expect(await eventCount()).toBe(before);
  await expect(accept({ ...wrong, index: 1 }, 'k')).resolves.toMatchObject({ conversationId, replayed: false });
});

it('a repeated request does not reopen a deleted conversation', async () => {
  const { accept, streams } = questionIntake();
  const { conversationId } = await accept({ question: 'Why?' }, 'k');
  await streams.transact(conversationStream(conversationId), conversation, remove, cause);
  await expect(accept({ question: 'Why?' }, 'k')).rejects.toMatchObject({ code: 'conversation-not-found' });
});

it('a repeated request whose answer is no longer kept is refused', async () => {
  const { accept, streams } = questionIntake();
  const { turnId } = await accept({ question: 'Why?' }, 'k');
  const journal = messageStream(turnId);
  const frame = { id: newId(), type: 'frame', data: '{"type":"end"}', metadata: '{}' };
  await streams.store.append(journal, 'none', [frame]);
  await expect(accept({ question: 'Why?' }, 'k')).resolves.toMatchObject({ turnId, replayed: true });
  await streams.store.append(journal, 0, [{ ...frame, id: newId() }]);
  await streams.store.setRetention(journal, { truncateBefore: 1 });
  await expect(accept({ question: 'Why?' }, 'k')).rejects.toMatchObject({ code: 'journal-expired' });
});

/** Admits the given number of requests, and records admissions and withdrawals. */
class Gate extends UsageLimits {
  readonly admitted: string[] = [];
  readonly withdrawn: string[] = [];
  constructor(private left: number) {
    super();
  }
  admit({ turnId }: Admission): Promise<void> {
    if (this.left-- <= 0) return Promise.reject(new Rejection('usage-limit', 'No more.'));
    this.admitted.push(turnId);
    return Promise.resolve();
  }
  withdraw({ turnId }: Admission): void {
    this.withdrawn.push(turnId);
  }
  endSeen(): void {}
}

it.each([undefined, 'k'])('a request over a limit leaves no event and uses no key (%s)', async (key) => {
  const { accept, eventCount } = questionIntake(new Gate(0));
  await expect(accept({ question: 'Why?' }, key)).rejects.toMatchObject({ code: 'usage-limit' });
  expect(await eventCount()).toBe(0);
});

it('a repeated request counts once against the limits', async () => {
  const gate = new Gate(1);
  const { accept } = questionIntake(gate);
  const { turnId } = await accept({ question: 'Why?' }, 'k');
  await expect(accept({ question: 'Why?' }, 'k')).resolves.toMatchObject({ turnId, replayed: true });
  expect(gate.admitted).toEqual([turnId]);
  expect(gate.withdrawn).not.toContain(turnId);
});

it('two equal concurrent requests count once against the limits', async () => {
  const gate = new Gate(2);
  const { accept } = questionIntake(gate);
  const [{ turnId }] = await Promise.all([accept({ question: 'Why?' }, 'k'), accept({ question: 'Why?' }, 'k')]);
  const counted = gate.admitted.filter((id) => !gate.withdrawn.includes(id));
  expect(counted).toEqual([turnId]);
});

it('a request that fails after its admission does not count', async () => {
  const gate = new Gate(1);
  const { accept } = questionIntake(gate);
  await expect(accept({ question: 'Why?', conversation_id: newId() })).rejects.toMatchObject({ code: 'conversation-not-found' });
  expect(gate.withdrawn).toEqual(gate.admitted);
});

it('a question that another one overtakes after the use of its key begins the same conversation in each repetition', async () => {
  const streams = new Streams(new InMemoryEventStore(), systemTiming);
  const { accept } = questionIntake(new NoLimits(), undefined, streams);
  const { conversationId } = await accept({ question: 'Why?' });
  let isFirst = true;
  const limits = new (class extends NoLimits {
    override admit = async (): Promise<void> => {
      if (isFirst) await accept({ question: 'How?', conversation_id: conversationId });
      isFirst = false;
    };
  })();
  const overtaken = questionIntake(limits, undefined, streams);
  const repeatedAs = { input: 'Who?' };
  const next = { question: 'Who?', conversation_id: conversationId };
  await expect(overtaken.accept(next, 'k', { repeatedAs, nextIndex: 1 })).rejects.toMatchObject({ code: 'index-out-of-range' });
  const again = await overtaken.accept({ question: 'Who?' }, 'k', { repeatedAs });
  expect(again.conversationId).not.toBe(conversationId);
  expect(await overtaken.accept({ question: 'Who?' }, 'k', { repeatedAs })).toMatchObject({
    ...again,
    position: expect.anything(),
  });
});

it('a repeated question is asked once although a snapshot omits the turn that another repetition has asked meanwhile', async () => {
  const store = new InMemoryEventStore();
  const intakeOver = (over: EventStore) => questionIntake(undefined, undefined, new Streams(over, systemTiming));
  const accept = () => intakeOver(store).accept({ question: 'Why?' }, 'k');
  await expect(intakeOver(new MortalStore(store, 1)).accept({ question: 'Why?' }, 'k')).rejects.toThrow('dead');
  let isFirst = true;
  const late = new MortalStore(store, Infinity, async (_, types) => {
    if (!types.includes('TurnAsked') || !isFirst) return;
    isFirst = false;
    await omitTurns(new Streams(store, systemTiming), (await accept()).conversationId);
  });
  const { conversationId, turnId } = await intakeOver(late).accept({ question: 'Why?' }, 'k');
  const asked = await eventsOf(store, conversationStream(conversationId));
  expect(asked.filter(({ type, data }) => type === 'TurnAsked' && data.includes(turnId))).toHaveLength(1);
});

it('a guarded question is asked once although a snapshot omits the turn that a repetition asks during its check', async () => {
  const store = new InMemoryEventStore();
  const guarded = { ...settings, guardrails: codePolicy({}) };
  const intakeOver = (over: EventStore) => questionIntake(undefined, undefined, new Streams(over, systemTiming), guarded);
  const { conversationId } = await intakeOver(store).accept({ question: 'Why?' });
  const request = { question: 'How?', conversation_id: conversationId };
  let isChecked = false;
  const noteKey = (_: string, types: readonly string[]) => void (isChecked ||= types.includes('IdempotencyKeyUsed'));
  const late = new MortalStore(store, Infinity, noteKey, async () => {
    if (!isChecked) return;
    isChecked = false;
    await intakeOver(store).accept(request, 'k');
    await omitTurns(new Streams(store, systemTiming), conversationId);
  });
  const { turnId } = await intakeOver(late).accept(request, 'k');
  const asked = await eventsOf(store, conversationStream(conversationId));
  expect(asked.filter(({ type, data }) => type === 'TurnAsked' && data.includes(turnId))).toHaveLength(1);
});

describe('a resumption', () => {
  const DENIED = [{ call_id: 'k1', decision: 'denied' }];

  /** A paused turn and a function that denies its call. `first` runs when such a request is admitted. */
  async function waiting(
    first: (streams: Streams, conversationId: string) => Promise<unknown> = () => Promise.resolve(),
    asked = settings,
    store: EventStore = new InMemoryEventStore(),
  ) {
    const streams = new Streams(store, systemTiming);
    const { conversationId, turnId } = await questionIntake(new NoLimits(), undefined, streams, asked).accept({
      question: 'Why?',
    });
    const stream = conversationStream(conversationId);
    const expiresAt = new Date(Date.now() + 60_000).toISOString();
    const { data } = turnPaused({ conversationId, turnId }, [waitingCall('k1')], { expiresAt });
    await streams.transact(stream, conversation, startTurn(turnId, 'p1'), cause);
    await streams.transact(stream, conversation, pause(data, 'p1'), cause);
    const limits = new (class extends NoLimits {
      override admit = async (): Promise<void> => void (await first(streams, conversationId));
    })();
    const { accept } = questionIntake(limits, undefined, streams);
    const deny = () => accept({ conversation_id: conversationId, tool_actions: DENIED }, 'k');
    return { deny, turnId, events: async () => (await eventsOf(streams.store, stream)).map(({ type }) => type) };
  }

  it('is decided once when it is repeated with its key', async () => {
    const { deny, turnId, events } = await waiting();
    await expect(deny()).resolves.toMatchObject({ turnId, replayed: false });
    await expect(deny()).resolves.toMatchObject({ turnId, replayed: true });
    expect((await events()).filter((type) => type === 'TurnResumed')).toHaveLength(1);
  });

  it('is decided once when it is repeated after its process died between the use of the key and the decision', async () => {
    let isMortal = true;
    const store = new MortalStore(new InMemoryEventStore(), Infinity, (_, types) => {
      if (isMortal && types.includes('TurnResumed')) throw new Error('The process is dead.');
    });
    const { deny, turnId, events } = await waiting(undefined, undefined, store);
    await expect(deny()).rejects.toThrow('The process is dead.');
    isMortal = false;
    for (let attempt = 0; attempt < 2; attempt++) await expect(deny()).resolves.toMatchObject({ turnId, replayed: true });
    expect((await events()).filter((type) => type === 'TurnResumed')).toHaveLength(1);
  });

  it('is decided once when a repetition with its key is faster', async () => {
    let goOn!: () => void;
    let hold: (() => void) | undefined;
    const held = new Promise<void>((resolve) => (hold = resolve));
    const store = new MortalStore(new InMemoryEventStore(), Infinity, (_, types) => {
      if (!hold || !types.includes('TurnResumed')) return;
      hold();
      hold = undefined;
      return new Promise<void>((resolve) => (goOn = resolve));
    });
    const { deny, turnId, events } = await waiting(undefined, undefined, store);
    const slow = deny();
    await held;
    await expect(deny()).resolves.toMatchObject({ turnId, replayed: true });
    goOn();
    await expect(slow).resolves.toMatchObject({ turnId, replayed: false });
    expect((await events()).filter((type) => type === 'TurnResumed')).toHaveLength(1);
  });

  it('is refused if its guarded turn has been purged meanwhile', async () => {
    const { deny } = await waiting(
      async (streams, conversationId) => {
        const purgedAt = new Date().toISOString();
        const deed = { at: purgedAt, actor: 'alice', credential: 'session-token' } as const;
        const about = { conversationId, ownerId: 'alice', agentId: null };
        const data = { ...about, keptFrom: 0, turns: 1, started: deed, deleted: deed, purgedAt };
        const purge = () => [{ type: 'ConversationPurged', data } as const];
        await streams.transact(conversationStream(conversationId), conversation, purge, cause);
      },
      { ...settings, guardrails: codePolicy({}) },
    );
    await expect(deny()).rejects.toMatchObject({ code: 'conversation-not-found' });
  });

  it('is refused each time it is repeated with its key if another one was faster', async () => {
    const approve = resume([{ callId: 'k1', decision: 'approved' }], { userId: 'alice' }, new Date());
    const { deny, events } = await waiting((streams, conversationId) =>
      streams.transact(conversationStream(conversationId), conversation, approve, cause),
    );
    for (let attempt = 0; attempt < 2; attempt++) await expect(deny()).rejects.toMatchObject({ code: 'resume-in-progress' });
    expect(await events()).not.toContain('ToolCallDenied');
  });
});
