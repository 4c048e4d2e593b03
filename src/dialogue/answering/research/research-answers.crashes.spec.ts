import { describe, expect, it } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { MortalStore } from '../../../../test/support/mortal-store.js';
import { completeResearch, researchTurn, usageChunk } from '../../../../test/support/research-turns.js';
import { offeredAction, roundOf, text, toolCall } from '../../../../test/support/tool-turns.js';

Logger.overrideLogger(false);

describe('a research whose producer dies', () => {
  const THREE = ['q1', 'q2', 'q3'];

  it('after any append is continued with the remaining steps and shows no frame twice', async () => {
    const complete = await completeResearch({ queries: THREE });
    const expected = await complete.outline();
    let wasDead = true;
    let gaps = 0;
    for (let deathAfter = 0; wasDead; deathAfter++) {
      const research = researchTurn({ queries: THREE });
      await research.begin();
      const first = new MortalStore(research.log, deathAfter);
      await research
        .process(first)
        .run('c1', 't1')
        .catch(() => undefined);
      wasDead = first.isDead;
      const reported = (await research.facts()).filter((type) => type === 'ResearchStepReported').length;
      const done = THREE.slice(0, reported);
      const before = research.models.requests.length;
      await research.sweep();
      const since = research.tasks().slice(before);
      expect(since.filter((task) => done.includes(task))).toEqual([]);
      const outline = await research.outline();
      expect(outline.filter((frame) => frame === 'end')).toHaveLength(1);
      if (outline.includes('error interrupted')) expect(outline).toContain('answer');
      else expect(outline).toEqual(expected);
      if (wasDead && reported > 0 && since.includes('answer')) gaps++;
      // A step is requested a second time only if its report was lost with its producer.
      for (const query of THREE) expect(research.tasks().filter((task) => task === query).length).toBeLessThanOrEqual(2);
    }
    expect(gaps).toBeGreaterThan(2);
  });

  it('counts the tokens of former producers', async () => {
    const research = researchTurn({ queries: THREE, more: { step: () => [text('Found.'), usageChunk(60_000)] } });
    await research.begin();
    let reports = 0;
    const store: MortalStore = new MortalStore(research.log, Infinity, (_stream, types) => {
      if (types.includes('ResearchStepReported') && ++reports === 2) store.die();
    });
    await research
      .process(store)
      .run('c1', 't1')
      .catch(() => undefined);
    await research.sweep();
    expect(research.tasks()).toEqual(['clarify', 'plan', 'q1', 'q2', 'q2', 'answer']);
    // The usage of the step whose report was lost is unknown.
    expect((await research.outcome()).usage).toEqual({ promptTokens: 120_000, completionTokens: 0 });
  });

  it('does not repeat a side effect of a repeated step', async () => {
    const research = researchTurn({
      queries: ['q1'],
      actions: [offeredAction('send_card', { access: 'write' })],
      more: {
        step: (request) => (roundOf(request) === 0 ? [toolCall('k1', 'send_card', { to: 'bob' })] : [text('Sent.')]),
      },
    });
    await research.begin();
    const store: MortalStore = new MortalStore(research.log, Infinity, (_stream, types) =>
      types.includes('ResearchStepReported') ? store.die() : undefined,
    );
    await research
      .process(store)
      .run('c1', 't1')
      .catch(() => undefined);
    await research.sweep();
    expect(research.effects).toEqual(['send_card']);
    const { toolCalls } = await research.outcome();
    expect(toolCalls.map((call) => call['status'])).toEqual(['completed']);
  });

  it('does not write the answer again after its text was shown', async () => {
    const research = researchTurn({ queries: ['q1'] });
    await research.begin();
    const store: MortalStore = new MortalStore(research.log, Infinity, (_stream, types) =>
      types.includes('TurnAnswered') ? store.die() : undefined,
    );
    await research
      .process(store)
      .run('c1', 't1')
      .catch(() => undefined);
    await research.sweep();
    const outline = await research.outline();
    expect(outline).toContain('answer');
    expect(research.tasks().filter((task) => task === 'answer')).toHaveLength(1);
  });
});
