import { onPostgres } from '../support/backing.js';
import { attachmentsStory } from './attachments.story.js';

attachmentsStory(onPostgres);
