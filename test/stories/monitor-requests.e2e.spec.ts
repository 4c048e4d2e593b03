import { onPostgres } from '../support/backing.js';
import { monitorRequestsStory } from './monitor-requests.story.js';

monitorRequestsStory(onPostgres);
