import { accessTokens } from './access-tokens/access-tokens.projection.js';
import { agents } from './agents/agents.projection.js';
import { analytics } from './analytics/analytics.projection.js';
import { artifacts } from './artifacts/artifacts.projection.js';
import { auditLog } from './audit-log/audit-log.projection.js';
import { chunks } from './chunks/chunks.projection.js';
import { conversations } from './conversations/conversations.projection.js';
import { customModels } from './custom-models/custom-models.projection.js';
import { devices } from './devices/devices.projection.js';
import { expiring } from './expiring/expiring.projection.js';
import { guardrailEvents } from './guardrail-events/guardrail-events.projection.js';
import { jobs } from './jobs/jobs.projection.js';
import { monitors } from './monitors/monitors.projection.js';
import type { Projection } from './projection.js';
import { prompts } from './prompts/prompts.projection.js';
import { runs } from './runs/runs.projection.js';
import { schedules } from './schedules/schedules.projection.js';
import { sources } from './sources/sources.projection.js';
import { tasks } from './tasks/tasks.projection.js';
import { teams } from './teams/teams.projection.js';
import { tools } from './tools/tools.projection.js';
import { traces } from './traces/traces.projection.js';
import { unsealedTurns } from './unsealed-turns/unsealed-turns.projection.js';
import { usage } from './usage/usage.projection.js';
import { workflowRuns } from './workflow-runs/workflow-runs.projection.js';
import { workflows } from './workflows/workflows.projection.js';
import { followUps } from './follow-ups/follow-ups.projection.js';

/** Every read model of the service. Their order does not matter, because they do not depend on each other. */
export const projections: readonly Projection[] = [
  accessTokens,
  agents,
  analytics,
  artifacts,
  auditLog,
  chunks,
  conversations,
  customModels,
  devices,
  expiring,
  guardrailEvents,
  jobs,
  monitors,
  prompts,
  runs,
  schedules,
  sources,
  tasks,
  teams,
  tools,
  traces,
  unsealedTurns,
  usage,
  workflows,
  workflowRuns,
  followUps,
];
