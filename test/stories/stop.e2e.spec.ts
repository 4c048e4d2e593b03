import { onPostgres } from '../support/backing.js';
import { stopStory } from './stop.story.js';

stopStory(onPostgres);
