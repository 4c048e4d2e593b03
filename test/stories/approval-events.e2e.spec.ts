import { onPostgres } from '../support/backing.js';
import { approvalEventsStory } from './approval-events.story.js';

approvalEventsStory(onPostgres);
