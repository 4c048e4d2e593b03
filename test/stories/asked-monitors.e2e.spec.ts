import { onPostgres } from '../support/backing.js';
import { askedMonitorsStory } from './asked-monitors.story.js';

askedMonitorsStory(onPostgres);
