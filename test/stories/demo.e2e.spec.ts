import { describe } from '@jest/globals';
import { onPostgres } from '../support/backing.js';
import { demoStory } from './demo.story.js';

describe('with Postgres alone: the demo', () => demoStory(onPostgres));
