import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer as createTlsServer } from 'node:tls';

import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';

import { StoreUnavailable } from '../../../kernel/event-sourcing/event-store.js';
import { newEvents, newStream } from '../../../../test/contracts/event-store.subject.js';
import { onDouble } from '../../../../test/support/eventstoredb-double/on-double.js';
import { freePort } from '../../../../test/support/free-port.js';
import { EventStoreDbEventStore } from './eventstoredb-event-store.js';

const on = onDouble();

let folder: string;
const closing: (() => unknown)[] = [];
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'reachability-'));
  for (const [name, subject] of [
    ['here', 'IP:127.0.0.1'],
    ['elsewhere', 'DNS:elsewhere.example'],
  ] as const) {
    const files = ['-keyout', join(folder, `${name}.key`), '-out', join(folder, `${name}.crt`)];
    const options = ['-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=test', '-addext', `subjectAltName=${subject}`];
    execFileSync('openssl', ['req', '-x509', ...options, ...files], { stdio: 'ignore' });
  }
});
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});
afterAll(() => rmSync(folder, { recursive: true }));

/** The reason with which a ping and an append fail. Both must give the same sentence. */
async function sentenceOf(connectionString: string): Promise<string> {
  const store = new EventStoreDbEventStore({ connectionString, appendDeadlineMs: 2_000, answerDeadlineMs: 2_000 });
  closing.push(() => store.close());
  const failure = (work: Promise<unknown>) =>
    work.then(
      () => undefined,
      (error: unknown) => error as Error,
    );
  const failures = [await failure(store.ping()), await failure(store.append(newStream(), 'none', newEvents(1)))];
  for (const each of failures) expect(each).toBeInstanceOf(StoreUnavailable);
  const messages = new Set(failures.map((each) => each!.message));
  expect([...messages]).toHaveLength(1);
  return [...messages][0]!.replace('EventStoreDB is not available: ', '');
}

/** Listens on a free port and returns the port. */
async function listening(server: Server): Promise<number> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => sockets.add(socket.on('error', () => undefined)));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

const withTls = (name: string) =>
  listening(
    createTlsServer({
      key: readFileSync(join(folder, `${name}.key`)),
      cert: readFileSync(join(folder, `${name}.crt`)),
      ALPNProtocols: ['h2'],
    }).on('tlsClientError', () => undefined),
  );
const trusting = (name: string) => `tlsCAFile=${encodeURIComponent(join(folder, `${name}.crt`))}`;

it('reports that nothing listens on any of several addresses', async () => {
  const ports = [await freePort(), await freePort(), await freePort()];
  const [one, two, three] = ports.map((port) => `127.0.0.1:${port}`) as [string, string, string];
  expect(await sentenceOf(`esdb+discover://${one},${two},${three}?tls=false`)).toBe(
    `nothing listens on ${one}, ${two} and ${three}.`,
  );
  expect(await sentenceOf(`esdb://user:hunter2@${one}?tls=false`)).toBe(`nothing listens on ${one}.`);
});

it('reports an unknown host', async () => {
  expect(await sentenceOf('esdb://nowhere.invalid?tls=false')).toMatch(
    /^the (host of nowhere\.invalid:2113 is not known|address of nowhere\.invalid:2113 is not found in time)\.$/,
  );
});

it('reports that the authority of a certificate is not trusted', async () => {
  const port = await withTls('here');
  const sentence = `the certificate of 127.0.0.1:${port} is by an authority that is not trusted here: name its file with tlsCAFile.`;
  expect(await sentenceOf(`esdb://127.0.0.1:${port}`)).toBe(sentence);
  expect(await sentenceOf(`esdb+discover://127.0.0.1:${port}`)).toBe(sentence);
});

it('reports an unavailable server also when the CA file was deleted after start', async () => {
  const [port, file] = [await freePort(), join(folder, 'gone.crt')];
  copyFileSync(join(folder, 'here.crt'), file);
  const store = new EventStoreDbEventStore({
    connectionString: `esdb://127.0.0.1:${port}?tlsCAFile=${encodeURIComponent(file)}`,
  });
  closing.push(() => store.close());
  rmSync(file);
  await expect(store.ping()).rejects.toBeInstanceOf(StoreUnavailable);
});

it('reports that a certificate is for other names', async () => {
  const port = await withTls('elsewhere');
  expect(await sentenceOf(`esdb://127.0.0.1:${port}?${trusting('elsewhere')}`)).toBe(
    `the certificate of 127.0.0.1:${port} is for other names than that.`,
  );
});

it('reports TLS towards a server without TLS and the reverse', async () => {
  expect(await sentenceOf(`esdb://127.0.0.1:${on.double.port}`)).toMatch(
    /^no (TLS is spoken at|connection comes about with) 127\.0\.0\.1:/,
  );
  const port = await withTls('here');
  expect(await sentenceOf(`esdb+discover://127.0.0.1:${port}?tls=false`)).toBe(
    `TLS is spoken at 127.0.0.1:${port}, and tls=false turns it off here.`,
  );
});

it('reports that a cluster has no leader and which of its seeds does not listen', async () => {
  on.double.faults.unavailable = true;
  const dead = `127.0.0.1:${await freePort()}`;
  expect(await sentenceOf(`esdb+discover://${dead},127.0.0.1:${on.double.port}?tls=false`)).toBe(
    `nothing listens on ${dead}; no node knows of a leader.`,
  );
});

it('reports a node that is not the leader, as while the nodes elect another', async () => {
  on.double.faults.leader = { host: '127.0.0.1', port: on.double.port };
  expect(await sentenceOf(on.double.connectionString)).toBe('the node that was asked is not the leader.');
});

it('reports the failure itself where the server is reachable', async () => {
  const stream = newStream();
  await on.store.append(stream, 'none', newEvents(1));
  on.double.faults.onRead = () => ({ after: 0, then: 'nothing' });
  await expect(on.impatient.lastRevision(stream)).rejects.toThrow('EventStoreDB said nothing for 400 ms.');
});

it('reports a server that accepts connections and does not reply', async () => {
  const port = await listening(createTcpServer());
  const store = new EventStoreDbEventStore({ connectionString: `esdb://127.0.0.1:${port}?tls=false`, answerDeadlineMs: 2_000 });
  closing.push(() => store.close());
  await expect(store.ping()).rejects.toThrow(`connections are taken and not answered at 127.0.0.1:${port}.`);
});
