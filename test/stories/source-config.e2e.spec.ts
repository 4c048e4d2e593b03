import { onPostgres } from '../support/backing.js';
import { sourceConfigStory } from './source-config.story.js';

sourceConfigStory(onPostgres);
