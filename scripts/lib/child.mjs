import { spawn, spawnSync } from 'node:child_process';
import { root } from './paths.mjs';
import { Stop } from './stop.mjs';

/** Signals that end a service; each is handed on to the child. */
const ENDING_SIGNALS = /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP']);

/** npm hands a signal on to us that the sender may have sent to us too: the second within this time is the same one. */
const SAME_SIGNAL_MS = 500;

/**
 * How a child ended: with an exit code, or by a signal.
 *
 * @typedef {{ code: number | null, signal: NodeJS.Signals | null }} Ending
 */

/**
 * Runs a program on our own terminal and hands our signals on to it.
 *
 * @param {string} program
 * @param {string[]} args
 * @param {{ cwd?: string, env?: NodeJS.ProcessEnv }} [options]
 * @returns {Promise<Ending>}
 */
export function runAttached(program, args, { cwd = root, env = process.env } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd, env, stdio: 'inherit' });
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
 * Ends this process as the child ended, so that whoever waits for us sees the child's own end.
 *
 * @param {Ending} ending
 */
export function endAs({ code, signal }) {
  if (signal) process.kill(process.pid, signal);
  else process.exitCode = code ?? 1;
}

/**
 * Runs a program to its end and returns all it wrote.
 *
 * @param {string} program
 * @param {string[]} args
 * @param {{ cwd?: string, env?: NodeJS.ProcessEnv }} [options]
 * @returns {Promise<{ ok: boolean, output: string }>} `output` is both streams in the order of their arrival.
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
 * Asks a program something; an absent program or a failure is an empty answer.
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
 * @returns {() => void} Takes the handlers off again.
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
 * A terminal sends Ctrl-C, and its own end, to the child as well as to us.
 *
 * @param {NodeJS.Signals} signal
 */
function cameFromTerminal(signal) {
  return signal !== 'SIGTERM' && process.stdin.isTTY === true;
}
