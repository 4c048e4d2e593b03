import { createServer } from 'node:http';
import { announce } from '../program.js';

/** // A tool over HTTP that responds at once. */
const server = createServer({ noDelay: true, keepAliveTimeout: 60_000 }, (request, response) => {
  request.resume();
  request.on('end', () => response.writeHead(200, { 'content-type': 'application/json' }).end('{"done":true}'));
});
announce(server);
