import { onPostgres } from '../support/backing.js';
import { activityStory } from './activity.story.js';

activityStory(onPostgres);
