#!/usr/bin/env node
/**
 * `callway`: the command line. Like scripts/run.mjs it keeps to what every Node with ES modules understands, so that an
 * old one reaches the line that says it is too old.
 */
import { tooOldMessage } from '../scripts/lib/nodeVersion.mjs';

const message = tooOldMessage(process.versions.node);
if (message) {
  console.error(message);
  process.exit(1);
}
import('../scripts/lib/commandLine.mjs').then(({ runProgram }) => runProgram('src/cli/main'));
