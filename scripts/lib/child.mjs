import { spawn, spawnSync } from 'node:child_process';
import { constants, getPriority, setPriority } from 'node:os';
import { root } from './paths.mjs';
import { Stop } from './stop.mjs';

/** Signals that end a service; they are forwarded to the child. */
const ENDING_SIGNALS = /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP']);

/** npm forwards a signal that the sender may have sent to us as well: a second one within this time is the same. */
const SAME_SIGNAL_MS = 500;

/**
 * How a child exited: with a code or by a signal.
 *
 * @typedef {{ code: number | null, signal: NodeJS.Signals | null }} Ending
 */

/**
 * Runs a program, by default on this terminal, and forwards signals to it.
 *
 * @param {string} program
 * @param {string[]} args
 * @param {{ cwd?: string, env?: NodeJS.ProcessEnv, stdio?: import('node:child_process').StdioOptions, niceness?: number }} [options]
 *   `niceness`: beyond that of this process, also of what it starts; below 0 only where {@link mayRaisePriority}.
 * @returns {Promise<Ending>}
 */
export function runAttached(program, args, options = {}) {
  const { cwd = root, env = process.env, stdio = 'inherit', niceness = 0 } = options;
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd, env, stdio });
    if (niceness !== 0 && child.pid !== undefined) setPriority(child.pid, added(niceness));
    const stopForwarding = forwardSignals(child);
    child.once('error', (error) => {
      stopForwarding();
      reject(new Stop(`${program} could not be started: ${error.message}`));
    });
    child.once('exit', (code, signal) => {
      stopForwarding();
      resolve({ code, signal });
    });
  });
}

/**
 * @param {number} niceness
 * @returns {number} Beyond that of this process, as far as there is more or less.
 */
function added(niceness) {
  const { PRIORITY_HIGHEST, PRIORITY_LOW } = constants.priority;
  return Math.max(PRIORITY_HIGHEST, Math.min(PRIORITY_LOW, getPriority() + niceness));
}

/** Whether this user may start programs of a higher priority: root, or with CAP_SYS_NICE. */
export function mayRaisePriority() {
  const own = getPriority();
  try {
    setPriority(own - 1);
    setPriority(own);
    return true;
  } catch {
    return false;
  }
}

/**
 * Exits as the child did, with the same code or signal.
 *
 * @param {Ending} ending
 */
export function endAs({ code, signal }) {
  if (signal) process.kill(process.pid, signal);
  else process.exitCode = code ?? 1;
}

/**
 * Runs a program and returns its output.
 *
 * @param {string} program
 * @param {string[]} args
 * @param {{ cwd?: string, env?: NodeJS.ProcessEnv }} [options]
 * @returns {Promise<{ ok: boolean, output: string }>} `output` is both streams in order of arrival.
 */
export function runCaptured(program, args, { cwd = root, env = process.env } = {}) {
  return new Promise((resolve) => {
    const child = spawn(program, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8');
      stream.on('data', (text) => {
        output += text;
      });
    }
    child.once('error', (error) => resolve({ ok: false, output: `${program}: ${error.message}\n` }));
    child.once('close', (code) => resolve({ ok: code === 0, output }));
  });
}

/**
 * Runs a program and returns its output; empty when the program is missing or fails.
 *
 * @param {string} program
 * @param {string[]} args
 */
export function ask(program, args) {
  const { status, stdout } = spawnSync(program, args, {
    encoding: 'utf8',
    env: { ...process.env, LC_ALL: 'C' },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  return status === 0 ? stdout.trim() : '';
}

/**
 * @param {import('node:child_process').ChildProcess} child
 * @returns {() => void} Removes the handlers.
 */
function forwardSignals(child) {
  /** @type {Map<NodeJS.Signals, number>} */
  const lastAtMs = new Map();
  /** @param {NodeJS.Signals} signal */
  const forward = (signal) => {
    const nowMs = performance.now();
    const isRepeat = nowMs - (lastAtMs.get(signal) ?? -Infinity) < SAME_SIGNAL_MS;
    lastAtMs.set(signal, nowMs);
    if (!isRepeat && !cameFromTerminal(signal)) child.kill(signal);
  };
  for (const signal of ENDING_SIGNALS) process.on(signal, forward);
  return () => {
    for (const signal of ENDING_SIGNALS) process.off(signal, forward);
  };
}

/**
 * A terminal sends Ctrl-C and its hangup to the child as well.
 *
 * @param {NodeJS.Signals} signal
 */
function cameFromTerminal(signal) {
  return signal !== 'SIGTERM' && process.stdin.isTTY === true;
}
