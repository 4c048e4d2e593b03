import { describe, expect, it } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { approvedResearch, ofResearch } from '../../../../test/support/approved-research.js';
import { queryOf, taskOf } from '../../../../test/support/researches.js';
import { framesOf } from '../../../../test/support/turns.js';
import { workflowRunOf } from '../../../../test/support/workflows.js';

Logger.overrideLogger(false);

describe('a call that needs approval inside the research of a node', () => {
  it('pauses the turn, and another process continues within the step after the approval', async () => {
    const { log, models, sent, process, before } = await approvedResearch();
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
});
