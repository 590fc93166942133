import { readEnvironment } from '../app/settings/config.ts';
import { runCli } from './program.ts';

process.exitCode = await runCli(process.argv.slice(2), {
  environment: readEnvironment(),
  fetch,
  write: (text) => process.stdout.write(text),
  writeError: (text) => process.stderr.write(text),
  isTerminal: process.stderr.isTTY === true,
  onInterrupt: (listener) => process.once('SIGINT', listener),
});
