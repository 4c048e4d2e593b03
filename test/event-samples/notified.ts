import type { JobNotification } from '../../src/background/jobs/job.notifications.js';
import type { ConversationNotification } from '../../src/dialogue/conversation/conversation.notifications.js';
import type { AttachmentNotification } from '../../src/resources/attachments/attachment.notifications.js';
import type { TeamNotification } from '../../src/resources/identity/teams/team.notifications.js';
import type { SourceNotification } from '../../src/resources/sources/source/source.notifications.js';
import type { SignInNotification } from '../../src/resources/tools/mcp/sign-in/oauth.notifications.js';
import type { MonitorNotification } from '../../src/triggers/monitors/monitor/monitor.notifications.js';
import type { ScheduleNotification } from '../../src/triggers/schedules/schedule/schedule.notifications.js';
import type { UserEvent } from '../../src/views/notifications/user.events.js';

/** The user events of all features, as they are stored. */
export type StoredNotification = UserEvent<
  | AttachmentNotification
  | ConversationNotification
  | JobNotification
  | MonitorNotification
  | ScheduleNotification
  | SignInNotification
  | SourceNotification
  | TeamNotification
>;
