import { Stop } from './stop.mjs';

/** @type {Record<string, { does: string, load: () => Promise<{ run: (args: string[]) => Promise<void> }> }>} */
const commands = {
  start: { does: 'the service', load: () => import('../commands/start.mjs') },
  demo: {
    does: 'run one phone call from a fresh clone to its recording; see --help',
    load: () => import('../commands/demo.mjs'),
  },
  test: {
    does: 'run all tests; arguments go to vitest',
    load: () => import('../commands/test.mjs'),
  },
  'test:unit': {
    does: 'run the tests that need no servers; arguments go to vitest',
    load: () => import('../commands/testUnit.mjs'),
  },
  check: {
    does: 'types, lint, format and import rules',
    load: () => import('../commands/check.mjs'),
  },
  build: { does: 'compile into dist/', load: () => import('../commands/build.mjs') },
  bench: {
    does: 'run the benchmark bench/NAME.ts',
    load: () => import('../commands/bench.mjs'),
  },
  audit: {
    does: 'check dependencies against the registry’s advisories; exit code 2 when they were not checked',
    load: () => import('../commands/audit.mjs'),
  },
  faults: {
    does: 'run all fault tests on real processes and print a table; arguments go to vitest',
    load: () => import('../commands/faults.mjs'),
  },
  vendors: {
    does: 'call a software phone through each scripted speech vendor; arguments go to vitest',
    load: () => import('../commands/vendors.mjs'),
  },
  mutate: {
    does: 'breaks a room in small ways and prints what its unit tests do not notice',
    load: () => import('../commands/mutate.mjs'),
  },
  licences: {
    does: 'writes docs/licences.md and NOTICE from package-lock.json',
    load: () => import('../commands/licences.mjs'),
  },
  settings: {
    does: "writes .env.example and docs/settings.md from the settings' schema",
    load: () => import('../commands/settings.mjs'),
  },
  'console:types': {
    does: "writes the types of the console's API client from the OpenAPI document",
    load: () => import('../commands/consoleTypes.mjs'),
  },
  install: {
    does: "the system packages that the tests need, with apt's help and as root",
    load: () => import('../commands/install.mjs'),
  },
};

/**
 * Runs a command and sets the exit code.
 *
 * @param {string[]} argv - The command's name and its arguments.
 */
export async function main(argv) {
  const [name = '', ...args] = argv;
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (!command) {
    console.error(usage(name));
    process.exitCode = 1;
    return;
  }
  try {
    await (await command.load()).run(args);
  } catch (error) {
    console.error(error instanceof Stop ? error.message : error);
    process.exitCode = 1;
  }
}

/** @param {string} name */
function usage(name) {
  const lines = Object.entries(commands).map(([key, { does }]) => `  ${key.padEnd(9)} ${does}`);
  const problem = name ? `Unknown command "${name}". ` : '';
  return [`${problem}Usage: node scripts/run.mjs COMMAND, with one of:`, ...lines].join('\n');
}
