import { onPostgres } from '../support/backing.js';
import { replayStory } from './replay.story.js';

replayStory(onPostgres);
