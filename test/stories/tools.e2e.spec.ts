import { onPostgres } from '../support/backing.js';
import { toolsStory } from './tools.story.js';

toolsStory(onPostgres);
