#!/usr/bin/env node
/**
 * `node scripts/run.mjs COMMAND`: what `npm start`, `npm test` and the others run, from the first minute of a clone.
 *
 * This file and the one it imports keep to syntax and modules that every Node with ES modules knows, so that an old
 * one reaches the line that says it is too old. All else is imported after that check.
 */
import { tooOldMessage } from './lib/nodeVersion.mjs';

const message = tooOldMessage(process.versions.node);
if (message) {
  console.error(message);
  process.exit(1);
}
import('./lib/main.mjs').then((module) => module.main(process.argv.slice(2)));
