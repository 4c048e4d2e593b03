import { onPostgres } from '../support/backing.js';
import { toolCallsStory } from './tool-calls.story.js';

toolCallsStory(onPostgres);
