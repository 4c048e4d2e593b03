import { onPostgres } from '../support/backing.js';
import { oldClientsStory } from './old-clients.story.js';

oldClientsStory(onPostgres);
