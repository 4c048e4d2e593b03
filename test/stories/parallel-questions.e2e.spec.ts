import { describe } from '@jest/globals';
import { onEventStoreDb, onPostgres } from '../support/backing.js';
import { parallelQuestionsStory } from './parallel-questions.story.js';

describe.each([
  ['Postgres alone', onPostgres],
  ['EventStoreDB and Postgres', onEventStoreDb],
])('with %s: at the same moment', (_, makeBacking) => parallelQuestionsStory(makeBacking));
