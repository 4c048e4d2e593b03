import { onPostgres } from '../support/backing.js';
import { endsOfTimeStory } from './ends-of-time.story.js';

endsOfTimeStory(onPostgres);
