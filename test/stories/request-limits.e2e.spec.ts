import { onPostgres } from '../support/backing.js';
import { requestLimitsStory } from './request-limits.story.js';

requestLimitsStory(onPostgres);
