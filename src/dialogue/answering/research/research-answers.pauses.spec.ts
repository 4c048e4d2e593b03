import { describe, expect, it } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { MortalStore } from '../../../../test/support/mortal-store.js';
import {
  END_FRAMES,
  PLAN_FRAMES,
  type ResearchSetup,
  researchTurn,
  stepFrames,
  usageChunk,
} from '../../../../test/support/research-turns.js';
import { queryOf } from '../../../../test/support/researches.js';
import { offeredAction, resultsIn, roundOf, text, toolCall } from '../../../../test/support/tool-turns.js';

Logger.overrideLogger(false);

describe('a call within a step that needs an approval', () => {
  const GIVEN: ResearchSetup = {
    queries: ['q1', 'q2'],
    actions: [offeredAction('look_up'), offeredAction('send_card', { access: 'write', requiresApproval: true })],
    more: {
      step: (request) => {
        if (queryOf(request) === 'q1') return [text('Report on q1.'), usageChunk(10)];
        const round = roundOf(request);
        if (round === 0) return [toolCall('k1', 'look_up'), toolCall('k2', 'send_card')];
        return [text(`Sent: ${resultsIn(request)['k2']}`)];
      },
    },
  };
  const PAUSE = ['tool_call awaiting_approval', 'source', 'tool_calls', 'tool_calls_pending', 'id', 'end'];
  const RUN_1 = [...PLAN_FRAMES, ...stepFrames(1), 'research_progress researching 2', ...PAUSE];
  const RUN_2 = ['research_progress complete 2', 'research_progress synthesizing', 'answer', ...END_FRAMES];

  it('pauses the turn, and another process continues within the step after the decision', async () => {
    const research = researchTurn(GIVEN);
    await research.begin();
    await research.process().run('c1', 't1');
    expect(await research.outline()).toEqual(RUN_1);
    await research.approve('k2');
    await research.process().run('c1', 't1');
    const resumed = ['message_id', 'tool_call pending', 'tool_call completed', ...RUN_2];
    expect(await research.outline()).toEqual([...RUN_1, ...resumed]);
    expect(research.tasks()).toEqual(['clarify', 'plan', 'q1', 'q2', 'q2', 'answer']);
    expect(research.effects).toEqual(['look_up', 'send_card']);
    const { toolCalls, usage: used } = await research.outcome();
    expect(toolCalls.map((call) => [call['call_id'], call['status']])).toEqual([
      ['k1', 'completed'],
      ['k2', 'completed'],
    ]);
    expect(used).toEqual({ promptTokens: 10, completionTokens: 0 });
  });

  it('is not run if it was denied, and the model reads the denial', async () => {
    const research = researchTurn(GIVEN);
    await research.begin();
    await research.process().run('c1', 't1');
    await research.approve('k2', 'denied');
    await research.process().run('c1', 't1');
    expect(research.effects).toEqual(['look_up']);
    expect(JSON.stringify(research.models.requests.at(-2)!.messages)).toContain('denied by user');
  });

  it('is run at most once, at whichever append the producer of the resumed run dies', async () => {
    let wasDead = true;
    for (let deathAfter = 0; wasDead; deathAfter++) {
      const research = researchTurn(GIVEN);
      await research.begin();
      await research.process().run('c1', 't1');
      await research.approve('k2');
      const store = new MortalStore(research.log, deathAfter);
      await research
        .process(store)
        .run('c1', 't1')
        .catch(() => undefined);
      wasDead = store.isDead;
      await research.sweep();
      expect(research.effects.filter((name) => name === 'send_card').length).toBeLessThanOrEqual(1);
      expect(research.tasks().filter((task) => task === 'q1')).toHaveLength(1);
      const outline = await research.outline();
      expect(outline.slice(0, RUN_1.length)).toEqual(RUN_1);
      expect(outline.filter((frame) => frame === 'end')).toHaveLength(2);
      expect(new Set(outline.filter((frame) => frame.startsWith('research_progress'))).size).toBe(
        outline.filter((frame) => frame.startsWith('research_progress')).length,
      );
    }
  });
});
