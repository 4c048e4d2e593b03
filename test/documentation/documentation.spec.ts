import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { EXAMPLE_LANGUAGES, EXAMPLES } from '../support/example.js';
import { lostLinks, lostMetrics, lostNames, lostPaths, lostScripts, lostSettings, page, pages } from './documents.js';

const ROOT = join(import.meta.dirname, '..', '..');
const README_LINES_MAX = 150;

describe('the documentation', () => {
  it.each(pages().map(({ path }) => path))('names in %s only what exists', (path) => {
    const each = page(path);
    const lost = {
      links: lostLinks(each),
      paths: lostPaths(each),
      scripts: lostScripts(each),
      settings: lostSettings(each),
      metrics: lostMetrics(each),
      names: lostNames(each),
    };
    expect(lost).toEqual({ links: [], paths: [], scripts: [], settings: [], metrics: [], names: [] });
  });

  it('detects what a page names that does not exist, and accepts what does', () => {
    const text = `
# What there is

[a page](../README.md), [a heading](#what-there-is), [the web](https://example.org), [lost](nowhere.md), [no heading](../README.md#nowhere)
\`src/app/main.ts\`, \`src/app/{main,lost}.ts\`, \`package.json\`, \`lost.config.js\`, \`src/nowhere/\`
\`npm run check\`, \`npm run nothing\`, \`DATA_DIR\`, \`LOST_SETTING\`, \`VERBATIM_URL\`
\`verbatim_dependency_up\`, \`verbatim_http_request_seconds_count\`, \`verbatim_lost_total\`, \`TurnAsked\`, \`TurnUnasked\`
`;
    const planted = { path: 'docs/planted.md', text };
    expect(lostLinks(planted)).toEqual(['nowhere.md', '../README.md#nowhere']);
    expect(lostPaths(planted)).toEqual(['src/app/lost.ts', 'lost.config.js', 'src/nowhere/']);
    expect(lostScripts(planted)).toEqual(['nothing']);
    expect(lostSettings(planted)).toEqual(['LOST_SETTING']);
    expect(lostMetrics(planted)).toEqual(['verbatim_lost_total']);
    expect(lostNames(planted)).toEqual(['TurnUnasked']);
  });

  it(`has a README of at most ${README_LINES_MAX} lines`, () => {
    expect(page('README.md').text.trimEnd().split('\n').length).toBeLessThanOrEqual(README_LINES_MAX);
  });

  it.each(['#two-commands', 'docs/configuration.md', 'docs/clients.md', 'docs/operations.md', 'CONTRIBUTING.md'])(
    'has a link in the README to %s',
    (target) => expect(page('README.md').text).toContain(`](${target})`),
  );

  it('has every example in every language, and a link to each', () => {
    const clients = page('docs/clients.md').text;
    for (const [language, { extension }] of Object.entries(EXAMPLE_LANGUAGES)) {
      const files = EXAMPLES.map((name) => `${name}.${extension}`);
      expect(readdirSync(join(ROOT, 'docs/examples', language)).sort()).toEqual([...files].sort());
      for (const file of files) expect(clients).toContain(`](examples/${language}/${file})`);
    }
  });
});
