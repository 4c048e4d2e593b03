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
const SHARED_BY_PLATFORM = '^src/platform/.*\\.(port|policy)\\.ts$|^src/platform/http/(sse|rejections)\\.ts$';
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
        'What stands below is built, read and tested without what stands on it.',
        { path: `^src/${floor}/`, pathNot: TEST },
        { path: `^src/(${FLOORS.slice(at + 1).join('|')})/` },
      ),
    ),
    rule(
      'stands-on-a-floor',
      'A file in no room is found by nobody.',
      { path: '^(src|projections)/', pathNot: TEST },
      { path: '^src/', pathNot: `^src/(${FLOORS.join('|')})/` },
    ),
    rule(
      'no-circular',
      'In ES modules a cycle of decorated classes dies at boot: one is read before it exists.',
      { path: '^(src|projections)/' },
      { circular: true },
    ),
    rule(
      'nothing-unresolved',
      'An import that leads nowhere compiles to a crash at boot.',
      { path: '^(src|projections)/' },
      { couldNotResolve: true },
    ),
    rule(
      'runs-on-its-dependencies',
      'What only development installs is not there in production.',
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
      'Plain TypeScript: no Nest, no driver, none of ours. A bounded map is no more than one: all caches are of one make.',
      { path: '^src/kernel/', pathNot: TEST },
      { pathNot: ['^src/kernel/', 'node_modules/lru-cache/'], dependencyTypesNot: ['core'] },
    ),
    rule(
      'kernel-does-no-io',
      'What the kernel does to the world it does through its ports.',
      { path: '^src/kernel/', pathNot: TEST },
      { path: INPUT_AND_OUTPUT },
    ),
    rule(
      'core-is-pure',
      'Events, deciders, policies, codecs and ports know the kernel and each other, and libraries that only compute; so does data beside events.',
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
      'A decision is arguments and state in, events out: no port to ask, no clock, no id, no hash.',
      { path: '\\.decider\\.ts$', pathNot: TEST },
      {
        path: [
          '^src/kernel/(event-sourcing/)?(event-store|streams|signals|key-value|lease|work-queue|blobs|clock|freshness|ids)\\.ts$',
          '\\.port\\.ts$',
          '^(node:)?crypto$',
        ],
        dependencyTypesNot: ['type-only'],
      },
    ),
    rule(
      'features-meet-in-the-core',
      'From another feature: its events, policies, ports and codecs, and who calls.',
      { path: FEATURE, pathNot: [TEST, '\\.(http|dto|module)\\.ts$', '^src/dialogue/(answering|journal)/'] },
      { path: FEATURE, pathNot: ['^src/$1/', SHARED_BY_FEATURES, CALLER] },
    ),
    rule(
      'answers-decide-on-conversations',
      'A turn is a part of its conversation, so those who run and show turns know that decider, and those who run them write their journals.',
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
      'What of an event is notified, and what a purge takes with it, stands beside the event: its publisher takes all rooms as lists.',
      { path: '^src/(views/notifications|work/retention)/', pathNot: TEST },
      { path: FEATURE, pathNot: ['^src/$1/', CALLER_OF_REQUEST] },
    ),
    rule(
      'controllers-meet-in-the-core',
      'As their features do; a controller also asks who calls.',
      { path: `${FEATURE}.*\\.(http|dto)\\.ts$`, pathNot: [TEST, '^src/dialogue/answering/'] },
      { path: FEATURE, pathNot: ['^src/$1/', SHARED_BY_FEATURES, CALLER_OF_REQUEST] },
    ),
    rule(
      'controllers-of-answers-read-journals',
      'As other controllers do; those that answer also read what is in the journal of an answer, and who may.',
      { path: '^src/dialogue/answering/.*\\.(http|dto)\\.ts$', pathNot: TEST },
      {
        path: FEATURE,
        pathNot: ['^src/dialogue/(answering|journal)/', SHARED_BY_FEATURES, CALLER_OF_REQUEST],
      },
    ),
    rule(
      'modules-import-modules',
      'A module puts its own feature together and names what it needs of another: its module, its ports, its core.',
      { path: `${FEATURE}.*\\.module\\.ts$`, pathNot: TEST },
      { path: FEATURE, pathNot: ['^src/$1/', SHARED_BY_FEATURES, '\\.module\\.ts$', CALLER] },
    ),
    rule(
      'features-know-no-adapter',
      'A feature names a port. Controllers know the HTTP platform, as does whoever writes to an open stream; only modules pick adapters.',
      { path: FEATURE, pathNot: [TEST, ADAPTER, '\\.(module|http|dto)\\.ts$'] },
      { path: '^src/platform/', pathNot: SHARED_BY_PLATFORM },
    ),
    rule(
      'controllers-know-http-only',
      'Of the platform a controller knows how to read requests and write answers.',
      { path: `${FEATURE}.*\\.(http|dto)\\.ts$`, pathNot: TEST },
      { path: '^src/platform/', pathNot: ['^src/platform/http/', SHARED_BY_PLATFORM] },
    ),
    rule(
      'drivers-stay-in-adapters',
      'A driver is known to the adapter that contains its traps, and to nobody else.',
      { path: '^src/', pathNot: [TEST, ADAPTER, '^src/platform/', '\\.module\\.ts$', '^src/app/'] },
      { path: DRIVERS, dependencyTypesNot: ['type-only'] },
    ),
    rule(
      'platform-serves-ports',
      'An adapter implements a port; it does not know what the features do with it.',
      { path: '^src/platform/', pathNot: TEST },
      { path: FEATURE, pathNot: [SHARED_BY_FEATURES, CALLER] },
    ),
    rule(
      'commands-meet-in-events',
      'Whatever spans streams is a reaction: no command sends or knows another.',
      { path: '\\.commands\\.ts$', pathNot: TEST },
      { path: '\\.(commands|reaction|ticker|http|module)\\.ts$', dependencyTypesNot: ['type-only'] },
    ),
    rule(
      'a-projection-is-events-and-sql',
      'A read model is made of recorded facts: no decider, no command, no Nest, no other source.',
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
      'Nothing flows backwards: what is shown does not act.',
      { path: '^projections/', pathNot: TEST },
      { path: ['^src/platform/', '\\.(commands|decider|reaction|ticker|http|module)\\.ts$'] },
    ),
    rule(
      'projections-stand-apart',
      'A read model reads no other: each can be rebuilt alone.',
      { path: PROJECTION, pathNot: TEST },
      { path: PROJECTION, pathNot: '^projections/$1/' },
    ),
    rule(
      'queries-read-no-stream',
      'A query reads its read model; whoever wants the log folds it in a command.',
      { path: '\\.queries\\.ts$', pathNot: TEST },
      { path: ['^src/kernel/event-sourcing/(event-store|streams|decider)\\.ts$', '\\.(projection|decider|commands)\\.ts$'] },
    ),
    rule(
      'nobody-writes-read-models',
      'The projector alone fills them; everyone else asks their queries.',
      {
        path: '^src/',
        pathNot: [TEST, '^src/platform/projections/', '^src/views/operations/', '^src/app/'],
      },
      { path: ['\\.projection\\.ts$', '^projections/catalogue\\.ts$'] },
    ),
    rule(
      'parsers-stay-in-their-process',
      'The service asks the process that reads documents: parsers and the tokenizer cost each start half a second and 50 MB.',
      { path: '^src/app/service\\.ts$' },
      { path: 'node_modules/(csv-parse|gpt-tokenizer|mammoth|marked|read-excel-file|unpdf)/', reachable: true },
    ),
  ],
  options: {
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'require', 'node', 'types', 'default'],
    },
  },
};
