import { onPostgres } from '../support/backing.js';
import { customModelsStory } from './custom-models.story.js';

customModelsStory(onPostgres);
