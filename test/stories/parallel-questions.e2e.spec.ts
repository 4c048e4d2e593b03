import { onPostgres } from '../support/backing.js';
import { parallelQuestionsStory } from './parallel-questions.story.js';

parallelQuestionsStory(onPostgres);
