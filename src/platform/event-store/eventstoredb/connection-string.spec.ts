import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { BadConnectionString, connectionTarget } from './connection-string.js';

let folder: string;
let file: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'connection-'));
  file = join(folder, 'ca.crt');
  writeFileSync(file, 'a certificate');
});
afterAll(() => rmSync(folder, { recursive: true }));

describe('a connection string', () => {
  it('names one server and uses TLS by default', () => {
    expect(connectionTarget('esdb://localhost')).toMatchObject({
      endpoints: [{ address: 'localhost', port: 2113 }],
      discovers: false,
      tls: true,
    });
    expect(connectionTarget('esdb://127.0.0.1:2200?tls=false')).toMatchObject({
      endpoints: [{ address: '127.0.0.1', port: 2200 }],
      tls: false,
    });
  });

  it.each(['kurrentdb', 'kdb', 'esdb'])('may begin with %s, with or without discovery', (scheme) => {
    expect(connectionTarget(`${scheme}://a:1`)).toMatchObject({ discovers: false });
    expect(connectionTarget(`${scheme}+discover://a:1/`)).toMatchObject({ discovers: true });
  });

  it('discovers the cluster through several hosts', () => {
    for (const scheme of ['esdb', 'esdb+discover']) {
      expect(connectionTarget(`${scheme}://a:1,b:2,[::1]:3?tls=false`)).toMatchObject({
        endpoints: [
          { address: 'a', port: 1 },
          { address: 'b', port: 2 },
          { address: '[::1]', port: 3 },
        ],
        discovers: true,
      });
    }
  });

  it('has credentials with escaped and special characters', () => {
    expect(connectionTarget('esdb://admin:p%40ss%3Aw@rd:x@host').credentials).toEqual({
      username: 'admin',
      password: 'p@ss:w@rd:x',
    });
  });

  it('has options with case-insensitive names', () => {
    const options = `TLSCAFile=${encodeURIComponent(file)}&gossipTimeout=3&discoveryinterval=7&keepAliveInterval=11000&keepAliveTimeout=12000`;
    expect(
      connectionTarget(`esdb://host?${options}&connectionName=a%20name&nodePreference=Leader&tlsVerifyCert=true`),
    ).toMatchObject({
      caFile: file,
      gossipTimeoutSeconds: 3,
      discoveryIntervalMs: 7,
      keepAliveIntervalMs: 11_000,
      keepAliveTimeoutMs: 12_000,
      connectionName: 'a name',
    });
  });

  it.each([
    ['no scheme', 'localhost:2113', /must look like/],
    ['another scheme', 'http://localhost', /must look like/],
    ['no host', 'esdb://', /must look like/],
    ['no host after credentials', 'esdb://admin:hunter2@', /must look like/],
    ['a port that is not a number', 'esdb://admin:hunter2@host:port', /name:port/],
    ['a port that is too large', 'esdb://admin:hunter2@host:65536', /name:port/],
    ['a user without a password', 'esdb://hunter2@host', /user:password/],
    ['a broken escape', 'esdb://admin:hunter2%@host', /%25/],
    ['TLS that is neither on nor off', 'esdb://admin:hunter2@host?tls=maybe', /true or false for tls/],
    ['a time that is not a number', 'esdb://admin:hunter2@host?gossipTimeout=soon', /whole number for gossipTimeout/],
    ['certificates that are not verified', 'esdb://admin:hunter2@host?tlsVerifyCert=false', /tlsCAFile/],
    ['a file that does not exist', 'esdb://admin:hunter2@host?tlsCAFile=%2Fnowhere', /tlsCAFile that cannot be read/],
    [
      'a certificate without its key',
      `esdb://admin:hunter2@host?userCertFile=${encodeURIComponent(import.meta.filename)}`,
      /together/,
    ],
    ['reads from followers', 'esdb://admin:hunter2@host?nodePreference=follower', /leader for nodePreference/],
    ['an unsupported option', 'esdb://admin:hunter2@host?defaultDeadline=5', /not known here: defaultDeadline/],
    ['an unknown option', 'esdb://admin:hunter2@host?constructor=5', /not known here: constructor/],
    ['a password with a ? in it', 'esdb://admin:hunter2?hunter2@host', /./],
  ])('is refused with %s, without its password in the message', (_, text, why) => {
    const refused = () => connectionTarget(text);
    expect(refused).toThrow(BadConnectionString);
    expect(refused).toThrow(why);
    expect(refused).not.toThrow(/hunter2/);
  });
});
