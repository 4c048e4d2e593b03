import { onPostgres } from '../support/backing.js';
import { webClientStory } from './web-client.story.js';

webClientStory(onPostgres);
