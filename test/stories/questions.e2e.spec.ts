import { onPostgres } from '../support/backing.js';
import { questionsStory } from './questions.story.js';

questionsStory(onPostgres);
