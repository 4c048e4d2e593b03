import { describe, expect, it } from '@jest/globals';
import { SQL_CHARACTERS_MAX, statementRefusal } from './sql-statement.policy.js';

const readRefusal = (statement: string) => statementRefusal(statement, false);

describe('a read-only tool', () => {
  it.each([
    'select 1',
    ' ;; \n\tSELECT 1',
    '(select 1) union (select 2)',
    'with a as (select 1) select * from a',
    'table shop',
    'values (1)',
    'show search_path',
    'explain select 1',
    '-- a remark\n/* and /* one */ more */ select 1',
    "select 'drop table shop; --'",
  ])('sends %j to the server', (statement) => expect(readRefusal(statement)).toBeUndefined());
  it.each([
    ['insert into shop values (1)', /INSERT is refused: this tool only reads/],
    ['/* select */ DELETE from shop', /DELETE is refused/],
    ['-- select\ndrop table shop', /DROP is refused/],
    ['--select\rdrop table shop', /no SQL statement/],
    ['/* /* select */ */ truncate shop', /TRUNCATE is refused/],
    ['set transaction read write', /SET is refused/],
    ['do $$ begin end $$', /DO is refused/],
    ['call sell()', /CALL is refused/],
    ['lock shop', /LOCK is refused/],
    ['selects', /SELECTS is refused/],
  ])('refuses %j', (statement, why) => expect(readRefusal(statement)).toMatch(why));
});

it.each([
  ['copy shop to program $$rm$$', /COPY cannot be used/],
  ['commit', /COMMIT cannot be used/],
  ['rollback; drop table shop', /ROLLBACK cannot be used/],
  ['', /no SQL statement/],
  ['/* select 1', /no SQL statement/],
  ['-- select 1', /no SQL statement/],
  ['select \u0000', /NUL/],
  [`select ${'1'.repeat(SQL_CHARACTERS_MAX)}`, /50000 characters at most/],
])('%j is refused whether or not writes are allowed', (statement, why) => {
  expect(statementRefusal(statement, true)).toMatch(why);
  expect(readRefusal(statement)).toMatch(why);
});

it('a tool that may write accepts a writing statement', () =>
  expect(statementRefusal('insert into shop values (1)', true)).toBeUndefined());
