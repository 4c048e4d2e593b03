import { describe } from '@jest/globals';
import { onEventStoreDbAndNats } from '../support/backing.js';
import { agentKeysStory } from './agent-keys.story.js';
import { approvalEventsStory } from './approval-events.story.js';
import { attachedQuestionsStory } from './attached-questions.story.js';
import { attachmentsStory } from './attachments.story.js';
import { chatSchedulesStory } from './chat-schedules.story.js';
import { conversationAccessStory } from './conversation-access.story.js';
import { conversationsStory } from './conversations.story.js';
import { demoStory } from './demo.story.js';
import { forgottenBackgroundStory } from './forgotten-background.story.js';
import { fuzzStory } from './fuzz.story.js';
import { idempotencyStory } from './idempotency.story.js';
import { jobsStory } from './jobs.story.js';
import { limitsStory } from './limits.story.js';
import { monitorsStory } from './monitors.story.js';
import { oldClientsStory } from './old-clients.story.js';
import { pausesStory } from './pauses.story.js';
import { questionsStory } from './questions.story.js';
import { readersStory } from './readers.story.js';
import { refusalsStory } from './refusals.story.js';
import { replayStory } from './replay.story.js';
import { forgottenRunsStory } from './forgotten-runs.story.js';
import { retentionStory } from './retention.story.js';
import { scheduleRunsStory } from './schedule-runs.story.js';
import { schedulesStory } from './schedules.story.js';
import { sourceConfigStory } from './source-config.story.js';
import { stopStory } from './stop.story.js';
import { tasksStory } from './tasks.story.js';
import { toolsStory } from './tools.story.js';
import { remoteSourcesStory } from './remote-sources.story.js';
import { userBacklogStory } from './user-backlog.story.js';
import { userEventsStory } from './user-events.story.js';
import { wakesStory } from './wakes.story.js';
import { webClientStory } from './web-client.story.js';
import { webhookRunsStory } from './webhook-runs.story.js';
import { webhooksStory } from './webhooks.story.js';
import { wrongCredentialsStory } from './wrong-credentials.story.js';

describe.each([
  ['replay', replayStory],
  ['stop', stopStory],
  ['refusals', refusalsStory],
  ['readers', readersStory],
  ['idempotency', idempotencyStory],
  ['the demo', demoStory],
  ['questions', questionsStory],
  ['pauses', pausesStory],
  ['attachments', attachmentsStory],
  ['questions with attachments', attachedQuestionsStory],
  ['tasks', tasksStory],
  ['tools', toolsStory],
  ['pages as sources', remoteSourcesStory],
  ['the config of sources', sourceConfigStory],
  ['conversations', conversationsStory],
  ['access to conversations', conversationAccessStory],
  ['use of agents’ keys', agentKeysStory],
  ['wrong credentials', wrongCredentialsStory],
  ['background jobs', jobsStory],
  ['limits', limitsStory],
  ['retention', retentionStory],
  ['forgotten runs', forgottenRunsStory],
  ['forgotten background work', forgottenBackgroundStory],
  ['monitors', monitorsStory],
  ['fuzz', fuzzStory],
  ['old clients', oldClientsStory],
  ['the web client', webClientStory],
  ['user events', userEventsStory],
  ['approvals that are told', approvalEventsStory],
  ['the backlog of user events', userBacklogStory],
  ['wakes', wakesStory],
  ['webhooks', webhooksStory],
  ['runs of webhooks', webhookRunsStory],
  ['what chats want done later', chatSchedulesStory],
  ['schedules', schedulesStory],
  ['runs of schedules', scheduleRunsStory],
])('with EventStoreDB, Postgres and NATS: %s', (_, story) => story(onEventStoreDbAndNats));
