import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { LocalServer, redirect } from '../../../test/support/local-server.js';
import { AddressRefused } from './outgoing-http.port.js';
import type { Resolve } from './address-guard.js';
import { GuardedHttp } from './guarded-http.js';

/** The names and addresses that an attacker's name server returns. Other names do not exist. */
const NAMES: Readonly<Record<string, readonly string[]>> = {
  localhost: ['127.0.0.1'],
  'localhost.': ['127.0.0.1'],
  'loop.attacker.example': ['127.0.0.1'],
  'loop6.attacker.example': ['::1'],
  'lan.attacker.example': ['10.0.0.8'],
  'metadata.attacker.example': ['169.254.169.254'],
  'metadata6.attacker.example': ['fd00:ec2::254'],
  'metadata-alibaba.attacker.example': ['100.100.100.200'],
  'metadata-azure.attacker.example': ['168.63.129.16'],
  'mapped.attacker.example': ['::ffff:169.254.169.254'],
  'zone.attacker.example': ['fe80::1%eth0'],
  'mixed.attacker.example': ['93.184.215.14', '127.0.0.1'],
  'public.localhost': ['93.184.215.14'],
};

const resolve: Resolve = async (name) => {
  const addresses = NAMES[name];
  if (!addresses) throw Object.assign(new Error('no such name'), { code: 'ENOTFOUND' });
  return addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
};

const REFUSED: readonly string[] = [
  'http://127.0.0.1/',
  'http://127.1/',
  'http://127.0.1/',
  'http://2130706433/',
  'http://0x7f000001/',
  'http://0x7f.0.0.1/',
  'http://0177.0.0.1/',
  'http://017700000001/',
  'http://127.0.0.1./',
  'http://%31%32%37.0.0.1/',
  'http://１２７.0.0.1/',
  'http://127。0。0。1/',
  'http://①②⑦.0.0.1/',
  'http:127.0.0.1/',
  'http:\\\\127.0.0.1\\',
  ' http://127.0.0.1/',
  'ht\ntp://127.0.0.1/',
  'http://127.0.0.1:8080/',
  'https://127.0.0.1/',
  'http://0/',
  'http://0.0.0.0/',
  'http://0.1.2.3/',
  'http://10.0.0.1/',
  'http://172.16.0.1/',
  'http://172.31.255.255/',
  'http://192.168.0.1/',
  'http://169.254.169.254/latest/meta-data/',
  'http://0xa9fea9fe/',
  'http://100.64.0.1/',
  'http://168.63.129.16/machine?comp=goalstate',
  'http://192.0.0.8/',
  'http://192.0.2.1/',
  'http://192.88.99.1/',
  'http://198.18.0.1/',
  'http://198.51.100.1/',
  'http://203.0.113.1/',
  'http://224.0.0.1/',
  'http://240.0.0.1/',
  'http://255.255.255.255/',
  'http://[::]/',
  'http://[::1]/',
  'http://[0:0:0:0:0:0:0:1]/',
  'http://[::127.0.0.1]/',
  'http://[::ffff:127.0.0.1]/',
  'http://[::ffff:7f00:1]/',
  'http://[0:0:0:0:0:FFFF:127.0.0.1]/',
  'http://[::ffff:0:127.0.0.1]/',
  'http://[::ffff:8.8.8.8]/',
  'http://[64:ff9b::127.0.0.1]/',
  'http://[64:ff9b:1::a9fe:a9fe]/',
  'http://[2002:7f00:1::]/',
  'http://[2002:a9fe:a9fe::1]/',
  'http://[2001:0:7f00:1::]/',
  'http://[2001:db8::1]/',
  'http://[2001:2::1]/',
  'http://[3fff::1]/',
  'http://[100::1]/',
  'http://[4000::1]/',
  'http://[fc00::1]/',
  'http://[fd12:3456::1]/',
  'http://[fe80::1]/',
  'http://[fe80::1%25eth0]/',
  'http://[::1%25lo]/',
  'http://[fec0::1]/',
  'http://[ff02::1]/',
  'http://localhost/',
  'http://LOCALHOST/',
  'http://localhost./',
  'http://ⓛocalhost/',
  'http://any.localhost/',
  'http://public.localhost/',
  'http://printer.local/',
  'http://metadata.google.internal/',
  'http://loop.attacker.example/',
  'http://loop6.attacker.example/',
  'http://lan.attacker.example/',
  'http://metadata.attacker.example/',
  'http://metadata-azure.attacker.example/',
  'http://mapped.attacker.example/',
  'http://zone.attacker.example/',
  'http://mixed.attacker.example/',
  'http://user@example.com/',
  'http://user:password@example.com/',
  'http://example.com@127.0.0.1/',
  'http://127.0.0.1#@example.com/',
  'http://127.0.0.1\\@example.com/',
  'file:///etc/passwd',
  'ftp://example.com/',
  'gopher://127.0.0.1:11211/',
  'data:text/plain,hello',
  'javascript:alert(1)',
  'blob:http://example.com/1',
  'unix:/var/run/docker.sock',
  '//127.0.0.1/',
  '127.0.0.1',
  'http://',
  '',
  `http://example.com/${'x'.repeat(10_000)}`,
];

describe('an address that is not public', () => {
  const http = new GuardedHttp({ resolve });
  afterAll(() => http.close());

  it.each(REFUSED)('%j is refused when it is checked and when it is requested', async (url) => {
    await expect(http.check(url)).rejects.toThrow(AddressRefused);
    await expect(http.request(url, { method: 'GET' })).rejects.toThrow(AddressRefused);
    const fetched = await http.fetch(url).catch((error: unknown) => error);
    expect(fetched).toBeInstanceOf(TypeError);
    expect((fetched as Error).cause).toBeInstanceOf(AddressRefused);
  });

  it.each(['https://93.184.215.14/', 'http://[2606:2800:21f:cb07:6820:80da:af6b:8b2c]:8443/x', 'http://0x5db8d70e/'])(
    'the public address %s is accepted',
    async (url) => {
      await expect(http.check(url)).resolves.toBeUndefined();
    },
  );

  it('an unknown name passes the check and fails the request', async () => {
    await expect(http.check('https://soon.example/')).resolves.toBeUndefined();
    await expect(http.request('https://soon.example/', { method: 'GET' })).rejects.toThrow(/^soon\.example cannot be found\.$/);
  });

  it('a name server that does not answer delays neither a check nor a request beyond its limit', async () => {
    const slow = new GuardedHttp({ resolve: () => new Promise(() => undefined), checkMs: 20, connectMs: 20 });
    await expect(slow.check('https://slow.example/')).resolves.toBeUndefined();
    await expect(slow.request('https://slow.example/', { method: 'GET' })).rejects.toThrow(
      /^slow\.example cannot be reached in time\.$/,
    );
    await slow.close();
  });
});

describe('an address that becomes private after its check', () => {
  let server: LocalServer;
  beforeAll(async () => void (server = await LocalServer.started()));
  afterAll(() => server.close());

  it('a name that is public when checked and private when requested is refused', async () => {
    const answers = ['93.184.215.14', '127.0.0.1'];
    const http = new GuardedHttp({ resolve: async () => [{ address: answers.shift()!, family: 4 }] });
    const url = `http://rebinding.example:${server.port}/`;
    await expect(http.check(url)).resolves.toBeUndefined();
    await expect(http.request(url, { method: 'GET' })).rejects.toThrow(AddressRefused);
    expect(server.requests).toEqual([]);
    await http.close();
  });

  it('a name is resolved once per connection, and the checked address is the one connected to', async () => {
    let asked = 0;
    const http = new GuardedHttp({
      privateHosts: [`inside.example:${server.port}`],
      resolve: async () => [{ address: asked++ === 0 ? '127.0.0.1' : '169.254.169.254', family: 4 }],
    });
    const { body } = await http.request(`http://inside.example:${server.port}/`, { method: 'GET' });
    expect(Buffer.from(body).toString()).toBe('hello');
    expect(asked).toBe(1);
    expect(server.requests.at(-1)!.headers.host).toBe(`inside.example:${server.port}`);
    await http.close();
  });

  it.each(
    REFUSED.filter(
      (url) => /^(https?:\/\/(?!user|example)|file|data|gopher)/.test(url) && url !== 'http://' && url.length < 1000,
    ),
  )('a redirect to %j is not followed', async (location) => {
    const http = new GuardedHttp({ privateHosts: [server.host], resolve });
    server.answer = (_request, response) => redirect(response, encodeURI(decodeURI(location)));
    const before = server.requests.length;
    await expect(http.request(`${server.url}/`, { method: 'GET' })).rejects.toThrow(AddressRefused);
    const fetched = await http.fetch(`${server.url}/`).catch((error: unknown) => error);
    expect((fetched as Error).cause).toBeInstanceOf(AddressRefused);
    expect(server.requests.length).toBe(before + 2);
    await http.close();
  });
});

describe('private hosts that the operator allows', () => {
  const allowing = (...privateHosts: string[]) => new GuardedHttp({ privateHosts, resolve });

  it.each([
    ['127.0.0.1', 'http://127.0.0.1:1234/'],
    ['127.0.0.1:8080', 'http://127.0.0.1:8080/'],
    ['127.0.0.1:80', 'http://127.0.0.1/'],
    ['127.0.0.1:443', 'https://127.0.0.1/'],
    ['10.0.0.0/8', 'http://lan.attacker.example/'],
    ['[::1]:8080', 'http://[::1]:8080/'],
    ['::1', 'http://[::1]/'],
    ['fd00::/8', 'http://[fd12::1]/'],
    ['LOCALHOST', 'http://localhost:3000/'],
    ['lan.attacker.example:99', 'http://lan.attacker.example.:99/'.replace('.:', ':')],
    ['169.254.169.254', 'http://169.254.169.254/'],
  ])('%s allows %s', async (entry, url) => {
    await expect(allowing(entry).check(url)).resolves.toBeUndefined();
  });

  it.each([
    ['127.0.0.1:8080', 'http://127.0.0.1:8081/'],
    ['127.0.0.1', 'http://127.0.0.2/'],
    ['10.0.0.0/8', 'http://192.168.0.1/'],
    ['lan.attacker.example', 'http://loop.attacker.example/'],
    // The owner of an allowed name must not get the machine's credentials.
    ['metadata.attacker.example', 'http://metadata.attacker.example/'],
    ['metadata6.attacker.example', 'http://metadata6.attacker.example/'],
    ['metadata-alibaba.attacker.example', 'http://metadata-alibaba.attacker.example/'],
    ['metadata-azure.attacker.example', 'http://metadata-azure.attacker.example/'],
    ['10.0.0.0/8', 'file:///etc/passwd'],
  ])('%s does not allow %s', async (entry, url) => {
    await expect(allowing(entry).check(url)).rejects.toThrow(AddressRefused);
  });

  it.each(['a b', '10.0.0.0/99', 'host:99999', 'host:0', '[host]:1', 'http://host', '1.2.3.4:x', '-x'])(
    'the entry %j is rejected',
    (entry) => {
      expect(() => allowing(entry)).toThrow(`holds "${entry}"`);
    },
  );
});
