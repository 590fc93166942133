import { runSipServer } from './cli.ts';

process.exitCode = await runSipServer(process.argv.slice(2), {
  environment: process.env,
  write: (text) => process.stdout.write(text),
  writeError: (text) => process.stderr.write(text),
});
