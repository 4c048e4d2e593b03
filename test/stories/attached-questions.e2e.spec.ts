import { onPostgres } from '../support/backing.js';
import { attachedQuestionsStory } from './attached-questions.story.js';

attachedQuestionsStory(onPostgres);
