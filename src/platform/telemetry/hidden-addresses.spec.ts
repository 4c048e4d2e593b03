import { expect, it } from '@jest/globals';
import { DefinitionChanged } from '../projections/definition.js';
import { HiddenAddresses } from './hidden-addresses.js';

const hidden = new HiddenAddresses(['db.internal', 'Postgres']);

it.each([
  ['Error: connect ECONNREFUSED 10.0.0.7:5432', 'Error: connect ECONNREFUSED <address>'],
  ['Error: connect ECONNREFUSED ::1:5432 <- x', 'Error: connect ECONNREFUSED <address> <- x'],
  ['connect ECONNREFUSED fd00:1:2:3:4:5:6:7:5432', 'connect ECONNREFUSED <address>'],
  [
    'nothing listens on db.internal:2113, [::1]:2113 and 10.0.0.8:2113.',
    'nothing listens on <address>, <address> and <address>.',
  ],
  ['Error: getaddrinfo ENOTFOUND DB.internal', 'Error: getaddrinfo ENOTFOUND <address>'],
  ['PostgresError: the server ended at postgres:5432', 'PostgresError: the server ended at <address>'],
  [
    'password authentication failed for user "verbatim", database "prod"',
    'password authentication failed for user "<name>", database "<name>"',
  ],
  ['no pg_hba.conf entry for host "172.18.0.5", user "v"', 'no pg_hba.conf entry for host "<name>", user "<name>"'],
])('hides addresses and names in: %s', (reason, shown) => {
  expect(hidden.in(reason)).toBe(shown);
});

it.each([
  'Error: No answer within 2000 ms.',
  new DefinitionChanged('agents').message,
  'PostgresError: relation "reactions.parked" does not exist at 12:30:45',
])('keeps: %s', (reason) => {
  expect(hidden.in(reason)).toBe(reason);
});
