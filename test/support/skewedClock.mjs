/**
 * Preloaded into a node under test: its system clock is ahead by the milliseconds in the file that CLOCK_OFFSET_FILE
 * names, which may change while it runs. Timers and the monotonic clock are not affected, as on a real machine.
 */
import { readFileSync } from 'node:fs';

const READ_EVERY_MS = 250;
const file = process.env.CLOCK_OFFSET_FILE ?? '';
const now = Date.now;
let offsetMs = 0;
const read = () => {
  offsetMs = Number(readFileSync(file, 'utf8')) || 0;
};
read();
setInterval(read, READ_EVERY_MS).unref();

Date.now = () => now() + offsetMs;
globalThis.Date = new Proxy(Date, {
  construct: (target, parts, newTarget) =>
    Reflect.construct(target, parts.length === 0 ? [Date.now()] : parts, newTarget),
});
