import { describe, expect, it } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { answerIn, approve, asked, effectsWorkflow } from '../../../../test/support/effects-workflow.js';
import { MortalStore } from '../../../../test/support/mortal-store.js';
import { bringFurther, framesOf } from '../../../../test/support/turns.js';
import type { EventStore } from '../../../kernel/event-sourcing/event-store.js';

Logger.overrideLogger(false);

const outline = (frames: readonly Record<string, unknown>[]) => frames.map((frame) => JSON.stringify(frame));
const isOfRun = ({ type }: Record<string, unknown>) => type === 'workflow_run' || type === 'workflow_step';

describe.each([
  { nodes: 'nodes that are silent', streams: false },
  { nodes: 'nodes that speak', streams: true },
])('a run of $nodes, whose producer dies after any append', ({ streams }) => {
  it('keeps the shown frames, repeats no completed step, sends at most once, and ends once', async () => {
    const whole = effectsWorkflow({ streams });
    await whole.begin();
    await whole.process().run('c1', 't1');
    const expected = await whole.course();
    expect(answerIn(expected.frames)).toBe(streams ? 'one act'.slice(0, 4) + 'acted two \n\nThe end.' : 'The end.');
    let wasDead = true;
    let wentOn = 0;
    for (let deathAfter = 0; wasDead; deathAfter++) {
      const turn = effectsWorkflow({ streams });
      await turn.begin();
      const store = new MortalStore(turn.log, deathAfter);
      await turn
        .process(store)
        .run('c1', 't1')
        .catch(() => undefined);
      wasDead = store.isDead;
      const shown = await framesOf(turn.log, 't1');
      const madeBefore = (await turn.course()).completed;
      const askedBefore = turn.models.requests.length;
      await turn.sweep();
      const { frames, completed, ends, outcomes, run } = await turn.course();
      expect(outline(frames).slice(0, shown.length)).toEqual(outline(shown));
      expect(frames.filter(({ type }) => type === 'end')).toHaveLength(1);
      expect(outcomes).toHaveLength(1);
      expect(turn.sent.length).toBeLessThanOrEqual(1);
      expect(completed).toEqual([...new Set(completed)]);
      const isInterrupted = frames.some(({ code }) => code === 'interrupted');
      if (!isInterrupted) {
        expect(ends).toBe(1);
        expect(run.status).toBe('completed');
        // Only these frames are compared, because a call whose end was lost is shown once more with an unknown outcome.
        expect(outline(frames.filter(isOfRun))).toEqual(outline(expected.frames.filter(isOfRun)));
        expect(answerIn(frames)).toBe(answerIn(expected.frames));
        if (turn.models.requests.length > askedBefore) wentOn++;
        // The model gets no second request for a recorded step.
        for (const [name, step] of [
          ['one', 2],
          ['two', 4],
        ] as const) {
          if (madeBefore.includes(step)) expect(asked(turn.models, name)).toBe(1);
        }
      }
      if (!streams) expect(isInterrupted).toBe(false);
    }
    expect(wentOn).toBeGreaterThan(2);
  });
});

describe('a producer that sleeps before any append until another one has taken its turn', () => {
  /** Work over a store whose append number `at` waits until `wake`. `sleeps` resolves to whether the work reached that append. */
  function sleeper(log: EventStore, at: number, work: (store: EventStore) => Promise<unknown>) {
    let appends = 0;
    let wake!: () => void;
    const woken = new Promise<void>((resolve) => (wake = resolve));
    let done!: Promise<unknown>;
    const sleeps = new Promise<boolean>((resolve) => {
      const store = new MortalStore(log, Infinity, () => {
        if (appends++ !== at) return undefined;
        resolve(true);
        return woken;
      });
      done = work(store)
        .catch(() => undefined)
        .finally(() => resolve(false));
    });
    return { sleeps, done, wake };
  }

  it('fails neither the run nor the answer of that one', async () => {
    let isAsleep = true;
    for (let at = 1; isAsleep; at++) {
      for (const takenOverAt of [3, 4]) {
        const turn = effectsWorkflow({ streams: false, isFickle: true });
        await turn.begin();
        const first = sleeper(turn.log, at, (store) => turn.process(store).run('c1', 't1'));
        isAsleep = await first.sleeps;
        if (!isAsleep) break;
        const second = sleeper(turn.log, takenOverAt, (store) => bringFurther(turn.process(store), 'c1', 't1'));
        await second.sleeps;
        first.wake();
        await first.done;
        second.wake();
        await second.done;
        await turn.sweep();
        const { outcomes, completed, run } = await turn.course();
        expect([
          at,
          takenOverAt,
          outcomes.map(({ type, data }) => [type, (JSON.parse(data) as { error?: string }).error]),
        ]).toEqual([...[at, takenOverAt], [['TurnAnswered', undefined]]]);
        expect(completed).toEqual([1, 2, 3, 4, 5]);
        expect(run.status).toBe('completed');
        expect(turn.sent.length).toBeLessThanOrEqual(1);
      }
    }
  });
});

describe('a call that needs approval inside a node', () => {
  it('runs at most once, at whichever append its producer dies', async () => {
    let wasDead = true;
    for (let deathAfter = 0; wasDead; deathAfter++) {
      const turn = effectsWorkflow({ requiresApproval: true });
      await turn.begin();
      await turn.process().run('c1', 't1');
      await turn.decide(approve);
      const store = new MortalStore(turn.log, deathAfter);
      await turn
        .process(store)
        .run('c1', 't1')
        .catch(() => undefined);
      wasDead = store.isDead;
      await turn.sweep();
      const { completed, outcomes, frames, run } = await turn.course();
      expect(turn.sent.length).toBeLessThanOrEqual(1);
      expect(outcomes).toHaveLength(1);
      expect(completed).toEqual([...new Set(completed)]);
      const isInterrupted = frames.some(({ code }) => code === 'interrupted');
      if (!isInterrupted) {
        expect(run.status).toBe('completed');
        expect(answerIn(frames)).toBe('one acted two \n\nThe end.');
      }
    }
  });
});
