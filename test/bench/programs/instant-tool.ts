import { createServer } from 'node:http';
import { announce } from '../program.js';

/** A tool on the other side of HTTP that takes no time at all. */
const server = createServer({ noDelay: true, keepAliveTimeout: 60_000 }, (request, response) => {
  request.resume();
  request.on('end', () => response.writeHead(200, { 'content-type': 'application/json' }).end('{"done":true}'));
});
announce(server);
