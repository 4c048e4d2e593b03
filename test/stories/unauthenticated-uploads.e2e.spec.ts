import { onPostgres } from '../support/backing.js';
import { unauthenticatedUploadsStory } from './unauthenticated-uploads.story.js';

unauthenticatedUploadsStory(onPostgres);
