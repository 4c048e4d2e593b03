import { onPostgres } from '../support/backing.js';
import { apiReferenceStory } from './api-reference.story.js';

apiReferenceStory(onPostgres);
