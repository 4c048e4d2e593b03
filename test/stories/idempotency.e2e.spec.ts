import { onPostgres } from '../support/backing.js';
import { idempotencyStory } from './idempotency.story.js';

idempotencyStory(onPostgres);
