import { Stop } from './stop.mjs';

/** @type {Record<string, { does: string, load: () => Promise<{ run: (args: string[]) => Promise<void> }> }>} */
const commands = {
  start: { does: 'the service', load: () => import('../commands/start.mjs') },
  demo: {
    does: 'one phone call, from an empty clone to its recording; --help tells more',
    load: () => import('../commands/demo.mjs'),
  },
  test: {
    does: 'every test; arguments go to vitest',
    load: () => import('../commands/test.mjs'),
  },
  'test:unit': {
    does: 'the tests that need no server; arguments go to vitest',
    load: () => import('../commands/testUnit.mjs'),
  },
  check: {
    does: 'types, lint, format and import rules',
    load: () => import('../commands/check.mjs'),
  },
  build: { does: 'JavaScript into dist/', load: () => import('../commands/build.mjs') },
  bench: {
    does: 'the measurement bench/NAME.ts',
    load: () => import('../commands/bench.mjs'),
  },
  audit: {
    does: 'what the registry knows against the packages; --strict fails where it cannot be asked',
    load: () => import('../commands/audit.mjs'),
  },
  faults: {
    does: 'every fault on real processes, and a table of what was seen; arguments go to vitest',
    load: () => import('../commands/faults.mjs'),
  },
  settings: {
    does: "writes .env.example and docs/settings.md from the settings' schema",
    load: () => import('../commands/settings.mjs'),
  },
  install: {
    does: "the system packages that the tests need, with apt's help and as root",
    load: () => import('../commands/install.mjs'),
  },
};

/**
 * Runs one command and leaves its outcome in the process's exit code.
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
  const wrong = name ? `There is no command "${name}".` : 'Which command?';
  return [`${wrong} node scripts/run.mjs COMMAND, with one of:`, ...lines].join('\n');
}
