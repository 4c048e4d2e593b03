import { onPostgres } from '../support/backing.js';
import { guardrailsStory } from './guardrails.story.js';

guardrailsStory(onPostgres);
