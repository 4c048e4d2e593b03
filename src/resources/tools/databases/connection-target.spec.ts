import { expect, it } from '@jest/globals';
import { connectionTarget } from './connection-target.js';

const usual = { host: 'db.example', port: 5432, user: 'al', password: 'pw', database: 'shop', encryption: 'preferred' };

it.each([
  ['postgres://al:pw@db.example/shop', {}],
  ['postgresql+psycopg2://al:pw@DB.example:80/shop', { port: 80 }],
  ['  postgresql://al:pw@db.example:6432/shop?sslmode=require&channel_binding=require ', { port: 6432, encryption: 'required' }],
  ['postgresql://al:pw@db.example?sslmode=verify-full', { database: 'al', encryption: 'verified' }],
  [
    'postgresql://al:p%40w%2F%3A80@[2001:db8::1]:80/shop?sslmode=disable',
    { host: '2001:db8::1', port: 80, password: 'p@w/:80', encryption: 'none' },
  ],
  ['postgresql://al@0x7f.1/shop', { host: '127.0.0.1', password: '' }],
  ['postgresql://al:pw@db.example/shop?options=-c%20statement_timeout%3D0&default_transaction_read_only=off', {}],
])('%s names one host, user and database', (text, more) => expect(connectionTarget(text)).toEqual({ ...usual, ...more }));

it.each([
  ['', /must have the form/],
  ['mysql://al:pw@db.example/shop', /must have the form/],
  ['postgresql://', /must have the form/],
  ['postgresql://al:pw@%2Fvar%2Frun/shop', /must have the form/],
  ['postgresql://al:pw@one:1,two:2/shop', /must have the form/],
  ['postgresql://al:pw@one,two/shop', /must name one host/],
  ['postgresql://db.example/shop', /must name a user/],
  ['postgresql://al:pw@db.example/shop?host=127.0.0.1', /must not have the parameter "host"/],
  ['postgresql://al:pw@db.example/shop?hostaddr=127.0.0.1', /must not have the parameter "hostaddr"/],
  ['postgresql://al:pw@db.example/shop?sslmode=yes', /sslmode only/],
  ['postgresql://al:p%w@db.example/shop', /percent sign/],
  ['postgresql://al:p%00w@db.example/shop', /NUL/],
  [`postgresql://al:pw@db.example/${'x'.repeat(2048)}`, /must have the form/],
])('%j is refused with a message that does not repeat it', (text, why) => {
  expect(() => connectionTarget(text)).toThrow(why);
  expect(() => connectionTarget(text)).not.toThrow(/pw|db\.example/);
});
