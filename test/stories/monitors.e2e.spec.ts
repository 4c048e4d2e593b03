import { onPostgres } from '../support/backing.js';
import { monitorsStory } from './monitors.story.js';

monitorsStory(onPostgres);
