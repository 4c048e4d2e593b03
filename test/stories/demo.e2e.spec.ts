import { describe } from '@jest/globals';
import { onEmptyPostgres } from '../support/backing.js';
import { demoStory } from './demo.story.js';

describe('with a new, empty Postgres: the demo', () => demoStory(onEmptyPostgres));
