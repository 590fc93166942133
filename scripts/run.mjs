#!/usr/bin/env node
/**
 * `node scripts/run.mjs COMMAND` implements `npm start`, `npm test` and the others, also in a fresh clone.
 *
 * This file and its static import use only syntax that old versions of Node know, so that an old Node reaches the
 * message that it is too old. Everything else is imported after that check.
 */
import { tooOldMessage } from './lib/nodeVersion.mjs';

const message = tooOldMessage(process.versions.node);
if (message) {
  console.error(message);
  process.exit(1);
}
import('./lib/main.mjs').then((module) => module.main(process.argv.slice(2)));
