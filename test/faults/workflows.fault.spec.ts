import { onPostgres } from '../support/backing.js';
import { workflowsFaultStory } from './workflows.story.js';

workflowsFaultStory(onPostgres);
