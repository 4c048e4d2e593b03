import { onPostgres } from '../support/backing.js';
import { analyticsStory } from './analytics.story.js';

analyticsStory(onPostgres);
