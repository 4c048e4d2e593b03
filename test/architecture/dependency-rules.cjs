/**
 * Who may import whom, and why. The spec beside this file tests each rule with a file that breaks it, and checks the real code.
 * `$1` in a target is the first group of the source's path, usually the feature or the read model itself.
 */
const TEST = '(\\.spec\\.ts$|^test/)';
/** The layers, lowest first. A file may import from its own layer and from those below. */
const FLOORS = ['kernel', 'platform', 'work', 'resources', 'dialogue', 'background', 'triggers', 'dialects', 'views', 'app'];
/** A feature on its layer, captured as `$1`. The demo is not one: like the app, it uses features through their commands. */
const FEATURE = '^src/((?:work|resources|dialogue|background|triggers|dialects|views)/(?!demo/)[^/]+)/';
const CORE = '\\.(events|decider|policy|codec|port)\\.ts$';
/** Data that belongs to events. The publishers of `views/notifications` and `work/retention` receive it as lists. */
const DATA = '\\.(notifications|purges)\\.ts$';
const SHARED_BY_FEATURES = '\\.(events|policy|port|codec|commands)\\.ts$';
/** Every feature uses the caller, and every controller reads it from requests. */
const CALLER = '^src/resources/identity/(caller|identity|reaching)\\.ts$';
const CALLER_OF_REQUEST = '^src/resources/identity/(caller|identity|reaching|identity\\.http)\\.ts$';
/** Adapters beside the port that they implement. Only modules choose one. */
const ADAPTER =
  '^src/(resources/(documents/parsing|models/(offline|openai)|prompts/templates|tools/databases|workflows/expressions)|triggers/monitors/patterns)/';
/** The parts of the platform that every feature may import. */
const SHARED_BY_PLATFORM = '^src/platform/.*\\.(port|policy)\\.ts$|^src/platform/http/(sse|reader-stream|rejections)\\.ts$';
const PROJECTION = '^projections/([^/]+)/';
const DRIVERS = 'node_modules/(postgres|@nats-io|@eventstore|@grpc|openai|undici)/';
const INPUT_AND_OUTPUT =
  '^(node:)?(fs|net|http|https|http2|tls|dns|dgram|child_process|cluster|worker_threads|readline|process|timers)(/|$)';

const rule = (name, comment, from, to) => ({ name, comment, severity: 'error', from, to });

module.exports = {
  forbidden: [
    ...FLOORS.slice(0, -1).map((floor, at) =>
      rule(
        `${floor}-knows-no-floor-above`,
        'A lower layer is built, read and tested without the layers above it.',
        { path: `^src/${floor}/`, pathNot: TEST },
        { path: `^src/(${FLOORS.slice(at + 1).join('|')})/` },
      ),
    ),
    rule(
      'stands-on-a-floor',
      'Every file belongs to a layer, so that it can be found.',
      { path: '^(src|projections)/', pathNot: TEST },
      { path: '^src/', pathNot: `^src/(${FLOORS.join('|')})/` },
    ),
    rule(
      'no-circular',
      'In ES modules a cycle of decorated classes fails at start-up, because one is read before it is defined.',
      { path: '^(src|projections)/' },
      { circular: true },
    ),
    rule(
      'nothing-unresolved',
      'An import that cannot be resolved compiles, but fails at start-up.',
      { path: '^(src|projections)/' },
      { couldNotResolve: true },
    ),
    rule(
      'runs-on-its-dependencies',
      'Development dependencies are not installed in production.',
      { path: '^(src|projections)/', pathNot: TEST },
      { dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown'], pathNot: 'node_modules/@types/' },
    ),
    rule(
      'knows-no-test',
      'The service does not contain its tests.',
      { path: '^(src|projections)/', pathNot: TEST },
      { path: TEST },
    ),
    rule(
      'kernel-imports-nothing',
      'The kernel is plain TypeScript without Nest, drivers or other code of ours. Its only package is lru-cache, which all caches use.',
      { path: '^src/kernel/', pathNot: TEST },
      { pathNot: ['^src/kernel/', 'node_modules/lru-cache/'], dependencyTypesNot: ['core'] },
    ),
    rule(
      'kernel-does-no-io',
      'The kernel does all I/O through its ports.',
      { path: '^src/kernel/', pathNot: TEST },
      { path: INPUT_AND_OUTPUT },
    ),
    rule(
      'core-is-pure',
      'Events, deciders, policies, codecs, ports and data beside events import only the kernel, each other, and libraries that only compute.',
      { path: [CORE, DATA], pathNot: TEST },
      {
        pathNot: [
          '^src/kernel/',
          CORE,
          CALLER,
          '^(node:)?(crypto|stream|zlib)$',
          '^src/resources/documents/token-count\\.ts$',
          'node_modules/ajv(-formats)?/',
          'node_modules/(croner|htmlparser2|lru-cache|temporal-polyfill)/',
        ],
      },
    ),
    rule(
      'deciders-only-decide',
      'A decider maps arguments and state to events, without ports, clocks, ids or hashes.',
      { path: '\\.decider\\.ts$', pathNot: TEST },
      {
        path: [
          '^src/kernel/(event-sourcing/)?(event-store|streams|blobs|clock|freshness|ids)\\.ts$',
          '^src/kernel/messaging/',
          '\\.port\\.ts$',
          '^(node:)?crypto$',
        ],
        dependencyTypesNot: ['type-only'],
      },
    ),
    rule(
      'features-meet-in-the-core',
      'A feature imports from another one only its events, policies, ports, codecs and commands, and the caller.',
      { path: FEATURE, pathNot: [TEST, '\\.(http|dto|module)\\.ts$', '^src/dialogue/(answering|journal)/'] },
      { path: FEATURE, pathNot: ['^src/$1/', SHARED_BY_FEATURES, CALLER] },
    ),
    rule(
      'answers-decide-on-conversations',
      'A turn is part of its conversation, so the code that runs and shows turns imports that decider, and the code that runs them writes their journals.',
      { path: '^src/dialogue/(answering|journal)/', pathNot: [TEST, '\\.(http|dto|module)\\.ts$'] },
      {
        path: FEATURE,
        pathNot: [
          '^src/dialogue/$1/',
          SHARED_BY_FEATURES,
          CALLER,
          '^src/dialogue/conversation/(.*\\.decider|conversation-guard)\\.ts$',
          '^src/dialogue/journal/',
        ],
      },
    ),
    rule(
      'publishers-know-no-room',
      'Notifications and purges of an event are declared beside it. Their publishers receive those of all features as lists.',
      { path: '^src/(views/notifications|work/retention)/', pathNot: TEST },
      { path: FEATURE, pathNot: ['^src/$1/', CALLER_OF_REQUEST] },
    ),
    rule(
      'controllers-meet-in-the-core',
      'Controllers may import what their features may, and the caller of a request.',
      { path: `${FEATURE}.*\\.(http|dto)\\.ts$`, pathNot: [TEST, '^src/dialogue/answering/'] },
      { path: FEATURE, pathNot: ['^src/$1/', SHARED_BY_FEATURES, CALLER_OF_REQUEST] },
    ),
    rule(
      'controllers-of-answers-read-journals',
      'Like other controllers. Those for answers also read the journal of an answer and the access to it.',
      { path: '^src/dialogue/answering/.*\\.(http|dto)\\.ts$', pathNot: TEST },
      {
        path: FEATURE,
        pathNot: ['^src/dialogue/(answering|journal)/', SHARED_BY_FEATURES, CALLER_OF_REQUEST],
      },
    ),
    rule(
      'modules-import-modules',
      'A module assembles its own feature and imports from others their modules, ports and core.',
      { path: `${FEATURE}.*\\.module\\.ts$`, pathNot: TEST },
      { path: FEATURE, pathNot: ['^src/$1/', SHARED_BY_FEATURES, '\\.module\\.ts$', CALLER] },
    ),
    rule(
      'features-know-no-adapter',
      'A feature imports ports. Controllers and code that writes to open streams import the HTTP platform. Only modules choose adapters.',
      { path: FEATURE, pathNot: [TEST, ADAPTER, '\\.(module|http|dto)\\.ts$'] },
      { path: '^src/platform/', pathNot: SHARED_BY_PLATFORM },
    ),
    rule(
      'controllers-know-http-only',
      'A controller imports from the platform only what reads requests and writes responses.',
      { path: `${FEATURE}.*\\.(http|dto)\\.ts$`, pathNot: TEST },
      { path: '^src/platform/', pathNot: ['^src/platform/http/', SHARED_BY_PLATFORM] },
    ),
    rule(
      'drivers-stay-in-adapters',
      'Only the adapter of a driver imports it.',
      { path: '^src/', pathNot: [TEST, ADAPTER, '^src/platform/', '\\.module\\.ts$', '^src/app/'] },
      { path: DRIVERS, dependencyTypesNot: ['type-only'] },
    ),
    rule(
      'platform-serves-ports',
      'An adapter implements a port and does not import features.',
      { path: '^src/platform/', pathNot: TEST },
      { path: FEATURE, pathNot: [SHARED_BY_FEATURES, CALLER] },
    ),
    rule(
      'commands-meet-in-events',
      'Work across streams belongs to a reaction: a command does not send or import another.',
      { path: '\\.commands\\.ts$', pathNot: TEST },
      { path: '\\.(commands|reaction|ticker|http|module)\\.ts$', dependencyTypesNot: ['type-only'] },
    ),
    rule(
      'a-projection-is-events-and-sql',
      'A read model is built only from events, without deciders, commands, Nest or other sources.',
      { path: `${PROJECTION}.*\\.projection\\.ts$`, pathNot: TEST },
      {
        pathNot: [
          '^projections/[^/]+\\.ts$',
          '^projections/$1/',
          '^src/kernel/',
          '\\.(events|codec)\\.ts$',
          'node_modules/postgres/',
        ],
      },
    ),
    rule(
      'projections-send-no-command',
      'Read models do not trigger actions.',
      { path: '^projections/', pathNot: TEST },
      { path: ['^src/platform/', '\\.(commands|decider|reaction|ticker|http|module)\\.ts$'] },
    ),
    rule(
      'projections-stand-apart',
      'A read model does not read another one, so that each can be rebuilt alone.',
      { path: PROJECTION, pathNot: TEST },
      { path: PROJECTION, pathNot: '^projections/$1/' },
    ),
    rule(
      'queries-read-no-stream',
      'A query reads its read model. Only commands fold the log.',
      { path: '\\.queries\\.ts$', pathNot: TEST },
      { path: ['^src/kernel/event-sourcing/(event-store|streams|decider)\\.ts$', '\\.(projection|decider|commands)\\.ts$'] },
    ),
    rule(
      'nobody-writes-read-models',
      'Only the projector writes read models. Other code uses their queries.',
      {
        path: '^src/',
        pathNot: [TEST, '^src/platform/projections/', '^src/views/operations/', '^src/app/'],
      },
      { path: ['\\.projection\\.ts$', '^projections/catalogue\\.ts$'] },
    ),
    rule(
      'parsers-stay-in-their-process',
      'Documents are parsed in a separate process, because parsers and the tokenizer would cost every start half a second and 50 MB.',
      { path: '^src/app/service\\.ts$' },
      { path: 'node_modules/(csv-parse|gpt-tokenizer|mammoth|marked|read-excel-file|unpdf)/', reachable: true },
    ),
  ],
  options: {
    tsPreCompilationDeps: true,
    // The imports of test helpers are subject to no rule.
    doNotFollow: { path: ['node_modules', '^test/'] },
    enhancedResolveOptions: {
      // An import names its file. Without this list, eleven extensions are tried for each import.
      extensions: ['.js', '.ts', '.d.ts', '.json'],
      cachedInputFileSystem: { cacheDuration: 600_000 },
      exportsFields: ['exports'],
      conditionNames: ['import', 'require', 'node', 'types', 'default'],
    },
  },
};
