import { onPostgres } from '../support/backing.js';
import { importsFaultStory } from './imports.story.js';

const seed = Number(process.env['TEST_SEED'] ?? Date.now() % 1_000_000);
/** CI sets more. */
const kills = Number(process.env['TEST_KILLS'] ?? 25);

importsFaultStory(onPostgres, kills, seed);
