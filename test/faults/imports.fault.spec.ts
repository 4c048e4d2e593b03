import { onPostgres } from '../support/backing.js';
import { KILLS } from '../support/kills.js';
import { importsFaultStory } from './imports.story.js';

const seed = Number(process.env['TEST_SEED'] ?? Date.now() % 1_000_000);

importsFaultStory(onPostgres, KILLS, seed);
