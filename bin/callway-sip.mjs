#!/usr/bin/env node
/** `callway-sip`: the SIP server alone. An old Node reaches the line that says it is too old, as in `callway.mjs`. */
import { tooOldMessage } from '../scripts/lib/nodeVersion.mjs';

const message = tooOldMessage(process.versions.node);
if (message) {
  console.error(message);
  process.exit(1);
}
import('../scripts/lib/commandLine.mjs').then(({ runProgram }) => runProgram('sip/main'));
