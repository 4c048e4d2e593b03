import type { Recorded } from '../../src/kernel/event-sourcing/events.js';
import { runCodec } from '../../src/background/runs/run.codec.js';
import type { RunEvent } from '../../src/background/runs/run.events.js';
import { changeIn, type Columns, defineProjection, insertInto, removeFrom } from '../projection.js';
import { asText } from '../text.js';

/** The state and the result of webhook runs. */
export const runs = defineProjection<RunEvent>({
  name: 'runs',
  categories: ['run'],
  codec: runCodec,
  ddl: new URL('./runs.sql', import.meta.url),

  on: {
    RunQueued: ({ data: { runId, ownerId, agentId, trigger, input }, at }) =>
      trigger === 'webhook'
        ? insertInto('run', {
            ...{ run_id: runId, owner_id: ownerId, agent_id: agentId, status: 'queued', queued_at: at },
            input: asText(input),
          })
        : [],

    RunStarted: ({ data: { runId, attempt }, at }, sql) =>
      attempt === 1
        ? changed(runId, { status: 'running', attempt, started_at: at })
        : sql`
            update run set status = 'running', attempt = ${attempt}, started_at = coalesce(started_at, ${at})
            where run_id = ${runId}`,

    RunFinished: ({ data: { runId, answer, error }, at }) => [
      ended({ runId, at }, 'success', error?.text ?? null),
      changed(runId, { output: asText(answer) }),
    ],
    RunRefused: (event) => ended(over(event), 'refused', event.data.error),
    RunFailed: (event) => ended(over(event), event.data.reason === 'timeout' ? 'timeout' : 'failed', event.data.error),
    RunPurged: ({ data }) => removeFrom('run', { run_id: data.runId }),
  },
});

const changed = (runId: string, values: Columns) => changeIn('run', { run_id: runId }, values);
const over = ({ data, at }: Recorded<RunEvent>) => ({ runId: data.runId, at });
const ended = ({ runId, at }: Readonly<{ runId: string; at: Date }>, status: string, error: string | null) =>
  changed(runId, { status, error: error === null ? null : asText(error), finished_at: at });
