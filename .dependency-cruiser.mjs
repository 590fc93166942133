/**
 * Which room may import which. Inner rooms own the interfaces, outer rooms implement them,
 * and only the composition roots (`gateway.ts`, and the command line's `cli/`) see them all. `demo/` is a user of the
 * product: it starts the gateway and a simulated carrier, and does the rest by the HTTP API.
 */
const mayImport = {
  base: [],
  config: ['base'],
  media: ['base'],
  egress: ['base'],
  objectStore: ['base'],
  accounts: ['base'],
  pathway: ['base'],
  agents: ['base', 'egress', 'pathway'],
  suites: ['base'],
  models: ['base', 'media', 'pathway'],
  conversation: ['base', 'egress', 'pathway', 'agents', 'models'],
  knowledge: ['base', 'models'],
  voice: ['base', 'media', 'models', 'pathway', 'agents', 'conversation', 'knowledge'],
  calls: ['base', 'accounts', 'media', 'models', 'pathway', 'agents', 'conversation', 'knowledge', 'voice'],
};
const inner = Object.keys(mayImport);
const adapters = ['tracing', 'telephony', 'bridge', 'recording', 'webhooks', 'queue', 'storage', 'files'];
for (const adapter of adapters) mayImport[adapter] = inner;
mayImport.metrics = inner;
mayImport.simulator = [...inner, 'config'];
mayImport.http = [...inner, ...adapters, 'config'].filter(
  (room) => !['storage', 'queue', 'files'].includes(room),
);

const roomRules = Object.entries(mayImport).map(([room, allowed]) => ({
  name: `room-${room}`,
  comment: `src/${room} may import only: ${[room, ...allowed].join(', ')}`,
  severity: 'error',
  from: { path: `^src/${room}/` },
  to: { path: '^(src|sip)/', pathNot: `^src/(${[room, ...allowed].join('|')})/` },
}));

const onlyIn = (name, modules, room) => ({
  name: `${name}-only-in-${room.replaceAll('/', '-')}`,
  severity: 'error',
  from: { path: '^src/', pathNot: `^src/${room}/` },
  to: { path: `node_modules/(${modules})/` },
});

export default {
  forbidden: [
    { name: 'no-circular', severity: 'error', from: {}, to: { circular: true } },
    { name: 'no-unresolvable', severity: 'error', from: {}, to: { couldNotResolve: true } },
    {
      name: 'no-dev-dependency',
      severity: 'error',
      from: { path: '^(src|sip)/' },
      to: { dependencyTypes: ['npm-dev'] },
    },
    {
      name: 'product-imports-no-test',
      severity: 'error',
      from: { path: '^(src|sip)/' },
      to: { path: '^(test|bench)/' },
    },
    { name: 'sip-stands-alone', severity: 'error', from: { path: '^sip/' }, to: { path: '^src/' } },
    {
      name: 'roots-are-not-imported',
      severity: 'error',
      from: { path: '^src/[^/]+/', pathNot: '^src/(cli|demo)/' },
      to: { path: '^src/(gateway|main)\\.ts$' },
    },
    ...roomRules,
    onlyIn('drachtio', 'drachtio-srf', 'telephony'),
    onlyIn('metrics', 'prom-client', '(metrics|http|gateway)'),
    onlyIn('traces', '@opentelemetry', 'tracing'),
    onlyIn('redis', 'ioredis|bullmq', 'queue'),
    onlyIn('sql', 'pg|@electric-sql', 'storage'),
    onlyIn('openai', 'openai', 'models/openai'),
    onlyIn('local-encoder', '@energetic-ai', 'models/local'),
    onlyIn(
      'parsers',
      'pdf-parse|mammoth|htmlparser2|csv-parse|yauzl|chardet|read-excel-file',
      'knowledge/parse',
    ),
    onlyIn('fastify', 'fastify|@fastify', 'http'),
    onlyIn('aws', '@aws-sdk', 'objectStore'),
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    parser: 'swc',
    enhancedResolveOptions: {
      extensions: ['.ts', '.js', '.mjs', '.json'],
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default'],
    },
  },
};
