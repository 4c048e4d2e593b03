import { describe, expect, it } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { approvedResearch, ofResearch } from '../../../../test/support/approved-research.js';
import { InMemoryBlobs } from '../../../../test/support/in-memory-blobs.js';
import { InMemoryEventStore } from '../../../../test/support/in-memory-event-store.js';
import { MortalStore } from '../../../../test/support/mortal-store.js';
import { researcher, researchOver } from '../../../../test/support/researches.js';
import { ScriptedModels, ToolsForTests } from '../../../../test/support/tool-turns.js';
import { askedTurn, bringFurther, eventsOf, framesOf, workerOver } from '../../../../test/support/turns.js';
import { inARow, node, RUNS_WORKFLOW, workflowRunOf, workflowsOver } from '../../../../test/support/workflows.js';
import type { EventStore } from '../../../kernel/event-sourcing/event-store.js';
import { InProcessSignals } from '../../../platform/messaging/signals/in-process-signals.js';
import type { Search } from '../../../resources/sources/chunks/search.port.js';
import { researchStream } from '../research/research.events.js';
import { researchIdOf, workflowRunIdOf } from './run/workflow-run.events.js';

Logger.overrideLogger(false);

const GRAPH = inARow(
  [node('first', 'agent', { agent_type: 'research' }), node('then', 'agent', { agent_type: 'research' })],
  'End.',
);

/** A turn of a workflow with two research nodes, run by any number of processes. */
function workflow() {
  const log = new InMemoryEventStore();
  const blobs = new InMemoryBlobs();
  const models = new ScriptedModels(researcher(['q1', 'q2']));
  const tools = new ToolsForTests([]);
  const search = { search: async () => ({ chunks: [], failedSources: [] }) } as unknown as Search;
  const process = (store: EventStore = log) => {
    const research = researchOver({ store, models, tools, blobs, search });
    const composer = workflowsOver(store, GRAPH, models, tools, blobs, undefined, research);
    return workerOver(store, new InProcessSignals(), composer, blobs).runner;
  };
  const recorded = async (step: number) =>
    (await eventsOf(log, researchStream(researchIdOf(workflowRunIdOf('t1'), step)))).map(({ type }) => type);
  return { log, models, process, recorded, begin: () => askedTurn(log, 'c1', 't1', RUNS_WORKFLOW) };
}

it('another producer continues the research of a node without showing frames again', async () => {
  const whole = workflow();
  await whole.begin();
  await whole.process().run('c1', 't1');
  const expected = ofResearch(await framesOf(whole.log, 't1'));
  expect(expected.filter((line) => line.startsWith('research_plan'))).toHaveLength(2);
  let wasDead = true;
  let wentOn = 0;
  for (let deathAfter = 0; wasDead; deathAfter++) {
    const turn = workflow();
    await turn.begin();
    const store = new MortalStore(turn.log, deathAfter);
    await turn
      .process(store)
      .run('c1', 't1')
      .catch(() => undefined);
    wasDead = store.isDead;
    const shown = await framesOf(turn.log, 't1');
    const askedBefore = turn.models.requests.length;
    const sweeper = turn.process();
    await sweeper.run('c1', 't1');
    await bringFurther(sweeper, 'c1', 't1');
    const frames = await framesOf(turn.log, 't1');
    expect(frames.slice(0, shown.length)).toEqual(shown);
    expect(frames.filter(({ type }) => type === 'end')).toHaveLength(1);
    if (frames.some(({ code }) => code === 'interrupted')) continue;
    expect(ofResearch(frames)).toEqual(expected);
    expect((await workflowRunOf(turn.log, 't1')).status).toBe('completed');
    for (const step of [2, 3])
      expect(await turn.recorded(step)).toEqual(['ResearchPlanned', 'ResearchStepReported', 'ResearchStepReported']);
    if (turn.models.requests.length > askedBefore) wentOn++;
  }
  expect(wentOn).toBeGreaterThan(5);
});

describe('a call that needs approval inside the research of a node', () => {
  it('runs at most once, at whichever append its producer dies', async () => {
    let wasDead = true;
    for (let deathAfter = 0; wasDead; deathAfter++) {
      const { log, sent, process } = await approvedResearch();
      const store = new MortalStore(log, deathAfter);
      await process(store)
        .run('c1', 't1')
        .catch(() => undefined);
      wasDead = store.isDead;
      const sweeper = process();
      await sweeper.run('c1', 't1');
      await bringFurther(sweeper, 'c1', 't1');
      const frames = await framesOf(log, 't1');
      expect(sent.length).toBeLessThanOrEqual(1);
      const lines = ofResearch(frames).filter((line) => line.startsWith('research'));
      expect(lines).toEqual([...new Set(lines)]);
      if (!frames.some(({ code }) => code === 'interrupted')) expect((await workflowRunOf(log, 't1')).status).toBe('completed');
    }
  });
});
