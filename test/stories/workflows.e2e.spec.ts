import { onPostgres } from '../support/backing.js';
import { workflowsStory } from './workflows.story.js';

workflowsStory(onPostgres);
