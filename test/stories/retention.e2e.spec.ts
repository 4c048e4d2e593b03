import { onPostgres } from '../support/backing.js';
import { retentionStory } from './retention.story.js';

retentionStory(onPostgres);
