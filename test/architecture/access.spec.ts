import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Controller, Get, Post } from '@nestjs/common';
import { describe, expect, it } from '@jest/globals';
import ts from 'typescript';
import { Access } from '../../src/platform/http/access.js';
import { ACCESS_TABLE_FILE, scopesFor } from '../support/access-table.js';
import { formattedAccessPage } from '../support/dump-access.js';
import { type Route, routes, routesIn } from '../support/routes.js';

const nameOf = ({ method, path }: Route): string => `${method} ${path}`;
const undeclared = (all: readonly Route[]): readonly string[] => all.filter(({ access }) => !access).map(nameOf);

@Controller('planted')
class Planted {
  @Access({ for: 'user', action: 'read', of: 'things' })
  @Get('declared')
  declared() {}

  @Post(['undeclared', 'undeclared/:id'])
  undeclared() {}
}

describe('every route', () => {
  it('declares its access, and an undeclared one is detected', () => {
    expect(routes.length).toBeGreaterThan(90);
    expect(undeclared(routes)).toEqual([]);
    expect(undeclared(routesIn(Planted))).toEqual(['POST /planted/undeclared', 'POST /planted/undeclared/:id']);
  });

  it('of activity, user events and tokens, and the one that stops an answer, is closed to tokens', () => {
    const closed = routes.filter((route) => scopesFor(route) === '—').map(nameOf);
    expect(closed).toEqual(
      expect.arrayContaining([
        'GET /api/activity/history',
        'GET /api/activity/now',
        'GET /api/activity/planned',
        'GET /api/monitors',
        'GET /api/events',
        'POST /api/messages/:messageId/cancel',
        ...routes.map(nameOf).filter((name) => name.includes('/api/user/tokens')),
      ]),
    );
  });

  it('is listed in docs/access.md with its access: `npm run access:dump` writes it', async () => {
    expect(readFileSync(ACCESS_TABLE_FILE, 'utf8')).toBe(await formattedAccessPage());
  });
});

/** Names of fields that state who owns a resource, or what a caller may do. */
const TELLING = new Set(['ownerId', 'userId', 'agentKeyId', 'roles', 'credential', 'scopes', 'resources']);
/** Functions that decide about access besides the access function. */
const DECIDING = new Set(['isAdmin', 'belongsTo', 'isPartyTo', 'mayResume', 'signedInUserOf']);
const COMPARING = new Set([
  ts.SyntaxKind.EqualsEqualsToken,
  ts.SyntaxKind.EqualsEqualsEqualsToken,
  ts.SyntaxKind.ExclamationEqualsToken,
  ts.SyntaxKind.ExclamationEqualsEqualsToken,
]);

/** The token of a user. A plain variable `token` may be that of a webhook. */
const isTokenOf = (node: ts.Expression): boolean => ts.isPropertyAccessExpression(node) && node.name.text === 'token';
const tells = (node: ts.Expression): boolean => isTokenOf(node) || TELLING.has(lastName(node) ?? '');

const lastName = (node: ts.Expression): string | undefined => {
  if (ts.isIdentifier(node)) return node.text;
  if (ts.isPropertyAccessExpression(node)) return node.name.text;
  if (ts.isNonNullExpression(node) || ts.isParenthesizedExpression(node)) return lastName(node.expression);
  return undefined;
};

/** The places where a controller itself decides what a caller may do. */
function judgements(file: string, text: string): readonly string[] {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const found: string[] = [];
  const look = (node: ts.Node): void => {
    const compares = ts.isBinaryExpression(node) && COMPARING.has(node.operatorToken.kind);
    if (compares && [node.left, node.right].some(tells)) found.push(node.getText());
    if (ts.isIdentifier(node) && DECIDING.has(node.text) && !ts.isImportSpecifier(node.parent)) found.push(node.parent.getText());
    if (ts.isCallExpression(node) && ts.isPropertyAccessExpression(node.expression) && node.expression.name.text === 'includes') {
      if (tells(node.expression.expression)) found.push(node.getText());
    }
    ts.forEachChild(node, look);
  };
  look(source);
  return found.map((judgement) => `${file}: ${judgement}`);
}

/** Compares owners without granting access. */
const EXCEPTIONS: readonly string[] = ['src/resources/tools/notebooks/artifacts.http.ts: ownerId === null'];

describe('a controller', () => {
  const controllers = readdirSync('src', { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.http.ts'))
    .map((file) => join('src', file));

  it('asks the access function instead of deciding about access', () => {
    expect(controllers.length).toBeGreaterThan(40);
    const found = controllers.flatMap((file) => judgements(file, readFileSync(file, 'utf8')));
    expect(found.filter((judgement) => !EXCEPTIONS.includes(judgement))).toEqual([]);
  });

  it.each([
    ['if (agent?.ownerId !== user.userId) throw agentNotFound();', 'agent?.ownerId !== user.userId'],
    ['return state.ownerId === userId ? state : undefined;', 'state.ownerId === userId'],
    ["if (user.credential == 'access-token') throw refused();", "user.credential == 'access-token'"],
    ['if (!isAdmin(user)) throw notFound();', 'isAdmin(user)'],
    ['return belongsTo(began, caller);', 'belongsTo(began, caller)'],
    ["return user.roles.includes('admin');", "user.roles.includes('admin')"],
    ["return user.token!.scopes.includes('chat:run');", "user.token!.scopes.includes('chat:run')"],
    ['if (user.token === undefined) return all;', 'user.token === undefined'],
  ])('is detected when it decides itself: %s', (text, judgement) => {
    expect(judgements('probe.http.ts', `function probe() { ${text} }`)).toContain(`probe.http.ts: ${judgement}`);
  });

  it.each([
    "import { isAdmin } from './caller.js';",
    'const { userId, cause } = user; return this.things.ownedBy(userId);',
    "if (action !== 'pause' && id === undefined) throw invalid();",
    "return reached(user, await this.things.byId(id), notFound, 'agents');",
  ])('is accepted when it asks: %s', (text) => {
    expect(judgements('probe.http.ts', text)).toEqual([]);
  });
});
