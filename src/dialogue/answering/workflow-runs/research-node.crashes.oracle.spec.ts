import { describe, expect, it } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { InMemoryBlobs } from '../../../../test/support/in-memory-blobs.js';
import { InMemoryEventStore } from '../../../../test/support/in-memory-event-store.js';
import { MortalStore } from '../../../../test/support/mortal-store.js';
import { queryOf, researcher, researchOver, taskOf } from '../../../../test/support/researches.js';
import { offeredAction, roundOf, ScriptedModels, text, toolCall, ToolsForTests } from '../../../../test/support/tool-turns.js';
import { askedTurn, bringFurther, cause, eventsOf, framesOf, workerOver } from '../../../../test/support/turns.js';
import { inARow, node, RUNS_WORKFLOW, workflowRunOf, workflowsOver } from '../../../../test/support/workflows.js';
import { conversation } from '../../conversation/conversation.decider.js';
import { conversationStream } from '../../conversation/conversation.events.js';
import { resume } from '../../conversation/pause.decider.js';
import type { EventStore } from '../../../kernel/event-sourcing/event-store.js';
import { Streams } from '../../../kernel/event-sourcing/streams.js';
import { InProcessSignals } from '../../../platform/messaging/signals/in-process-signals.js';
import { systemTiming } from '../../../platform/system-timing.js';
import type { ModelRequest } from '../../../resources/models/model/language-model.port.js';
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

type Shown = Readonly<{ type: string; node_id?: string; status?: string; data?: Readonly<{ status?: string; step?: number }> }>;

/** The frames of steps and of their research as short texts. */
const ofResearch = (frames: readonly Record<string, unknown>[]): readonly string[] =>
  (frames as readonly Shown[])
    .filter(({ type }) => ['workflow_step', 'research_plan', 'research_progress'].includes(type))
    .map(({ type, node_id: id, status, data }) =>
      [type, id, status, data?.status, data?.step].filter((part) => part !== undefined).join(' '),
    );

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
  const graph = inARow([node('dig', 'agent', { agent_type: 'research', tools: ['tool-1'] })], 'End.');
  const actions = [offeredAction('send', { access: 'write', requiresApproval: true })];
  const step = (request: ModelRequest) =>
    roundOf(request) === 0 && queryOf(request) === 'q1' ? [toolCall('k1', 'send')] : [text(`Report on ${queryOf(request)}.`)];

  async function paused() {
    const log = new InMemoryEventStore();
    const blobs = new InMemoryBlobs();
    const sent: string[] = [];
    const models = new ScriptedModels(researcher(['q1', 'q2'], { step }));
    const search = { search: async () => ({ chunks: [], failedSources: [] }) } as unknown as Search;
    const process = (store: EventStore = log) => {
      const tools = new ToolsForTests(actions, ({ name }) => {
        sent.push(name);
        return 'sent';
      });
      const research = researchOver({ store, models, tools, blobs, search });
      const composer = workflowsOver(store, graph, models, tools, blobs, undefined, research);
      return workerOver(store, new InProcessSignals(), composer, blobs).runner;
    };
    await askedTurn(log, 'c1', 't1', RUNS_WORKFLOW);
    await process().run('c1', 't1');
    const before = await framesOf(log, 't1');
    expect([before.at(-3)!['type'], sent]).toEqual(['tool_calls_pending', []]);
    await new Streams(log, systemTiming).transact(
      conversationStream('c1'),
      conversation,
      resume([{ callId: 'k1', decision: 'approved' }], { userId: 'alice' }, new Date()),
      cause,
    );
    return { log, models, sent, process, before };
  }

  it('pauses the turn, and another process continues within the step after the approval', async () => {
    const { log, models, sent, process, before } = await paused();
    const askedBefore = models.requests.length;
    await process().run('c1', 't1');
    const frames = await framesOf(log, 't1');
    expect(sent).toEqual(['send']);
    expect(
      models.requests.slice(askedBefore).map((request) => (taskOf(request) === 'step' ? queryOf(request) : taskOf(request))),
    ).toEqual(['q1', 'q2', 'answer']);
    expect(ofResearch(frames.slice(before.length))).toEqual([
      ...['research_progress complete 1', 'research_progress researching 2', 'research_progress complete 2'],
      ...[
        'research_progress synthesizing',
        'workflow_step dig completed',
        'workflow_step end running',
        'workflow_step end completed',
      ],
    ]);
    const run = await workflowRunOf(log, 't1');
    expect([run.status, run.values['node_dig_output']]).toEqual(['completed', { value: 'The answer.' }]);
    expect(run.steps[1]!.ended!.toolCalls).toMatchObject([{ status: 'completed', call_id: 'k1' }]);
  });

  it('runs at most once, at whichever append its producer dies', async () => {
    let wasDead = true;
    for (let deathAfter = 0; wasDead; deathAfter++) {
      const { log, sent, process } = await paused();
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
