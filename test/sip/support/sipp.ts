import { spawn } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { MEDIA_PORT, T1, USER } from '../../scenarios/steps.ts';

export interface SippRun {
  readonly scenario: string;
  /** The called user. */
  readonly user?: string;
  /** `host:port` of the server; omitted by a callee. */
  readonly remote?: string;
  readonly localPort: number;
  /** Receives SIPp's audio; by default a closed port. */
  readonly mediaPort?: number;
  readonly calls: number;
  readonly callsPerSecond?: number;
  readonly transport?: 'u1' | 't1' | 'tn';
  /** Percentage of messages lost in each direction. */
  readonly lossPercent?: number;
  /** The default length of a pause. */
  readonly durationMs?: number;
  /** Timer T1; by default the 500 ms of RFC 3261. */
  readonly t1Ms?: number;
  readonly t2Ms?: number;
  readonly timeoutSeconds?: number;
  /** Logs the time of each message: SIPp's own statistics have a resolution of 4 ms. */
  readonly timed?: boolean;
  readonly extra?: readonly string[];
}

const CLOSED_PORT = 40_000;
const MAX_RETRANSMISSIONS = 30;

export interface SippOutcome {
  /** 0 when all calls followed the scenario. */
  readonly exitCode: number;
  /** SIPp's error log. */
  readonly output: string;
  /** From INVITE to 200, for each call; only with `timed`. */
  readonly responseTimesMs: readonly number[];
}

/** Runs SIPp. @throws {Error} When it is not installed */
export async function runSipp(run: SippRun): Promise<SippOutcome> {
  const folder = await mkdtemp(join(tmpdir(), 'sipp-'));
  try {
    const scenario = join(folder, 'scenario.xml');
    const text = run.scenario
      .replaceAll(T1, String(run.t1Ms ?? 500))
      .replaceAll(USER, run.user ?? 'app')
      .replaceAll(MEDIA_PORT, String(run.mediaPort ?? CLOSED_PORT));
    await writeFile(scenario, text);
    const { exitCode, output } = await execute('sipp', argumentsOf(run, scenario), folder);
    const files = await readdir(folder);
    const read = async (ending: string) => {
      const name = files.find((file) => file.endsWith(ending));
      return name === undefined ? '' : readFile(join(folder, name), 'utf8');
    };
    return {
      exitCode,
      output: `${(await read('_errors.log')).slice(0, 4000)}\n${output.slice(-1500)}`,
      responseTimesMs: responseTimes(await read('_shortmessages.log')),
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function argumentsOf(run: SippRun, scenario: string): string[] {
  const values: [name: string, value: string | number][] = [
    ['-sf', scenario],
    ['-i', '127.0.0.1'],
    ['-p', run.localPort],
    ['-m', run.calls],
    ['-r', run.callsPerSecond ?? 50],
    ['-t', run.transport ?? 'u1'],
    ['-d', run.durationMs ?? 0],
    ['-T2', run.t2Ms ?? 4000],
    ['-timeout', `${run.timeoutSeconds ?? 40}s`],
    ...(run.lossPercent ? lossy(run.lossPercent) : []),
  ];
  const remote = run.remote === undefined ? [] : [run.remote];
  const flags = [
    '-nostdin',
    '-timeout_error',
    '-trace_err',
    '-max_socket',
    '1000',
    ...(run.timed ? ['-trace_shortmsg'] : []),
    ...(run.extra ?? []),
  ];
  return [...remote, ...values.flatMap(([name, value]) => [name, String(value)]), ...flags];
}

/** With SIPp's default of five retransmissions, message loss would fail a few calls in a thousand. */
function lossy(percent: number): [name: string, value: number][] {
  return [
    ['-lost', percent],
    ['-max_retrans', MAX_RETRANSMISSIONS],
    ['-max_invite_retrans', MAX_RETRANSMISSIONS],
    ['-max_non_invite_retrans', MAX_RETRANSMISSIONS],
  ];
}

/** Reads lines of date, time, seconds, `S` or `R`, Call-ID, CSeq and start line, separated by tabs. */
function responseTimes(log: string): number[] {
  const began = new Map<string, number>();
  const times: number[] = [];
  for (const line of log.split('\n')) {
    const [, , seconds, direction, callId = '', sequence, startLine = ''] = line.split('\t');
    if (sequence !== 'CSeq:1 INVITE') continue;
    const start = began.get(callId);
    if (direction === 'S' && startLine.startsWith('INVITE')) began.set(callId, start ?? Number(seconds));
    else if (start !== undefined && startLine.startsWith('SIP/2.0 200')) {
      times.push((Number(seconds) - start) * 1000);
      // Retransmissions do not count.
      began.delete(callId);
    }
  }
  return times;
}

/** Waits until a process has bound the port. Reads the kernel's tables, because a bind or connect would interfere. */
export async function waitUntilBound(port: number, withinMs = 10_000): Promise<void> {
  const hex = port.toString(16).toUpperCase().padStart(4, '0');
  // State 0A is a listening TCP socket, 07 a bound UDP one.
  const bound = new RegExp(`:${hex} 00000000:0000 (?:0A|07) `);
  const until = performance.now() + withinMs;
  while (performance.now() < until) {
    const tables = await Promise.all(['udp', 'tcp'].map((name) => readFile(`/proc/net/${name}`, 'utf8')));
    if (tables.some((table) => bound.test(table))) return;
    await sleep(20);
  }
  throw new Error(`no process has bound port ${port}`);
}

function execute(
  command: string,
  args: readonly string[],
  cwd: string,
): Promise<{ exitCode: number; output: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd, env: { ...process.env, TERM: 'xterm' } });
    let output = '';
    const keep = (bytes: Buffer) => {
      output = (output + bytes.toString()).slice(-8000);
    };
    child.stdout.on('data', keep);
    child.stderr.on('data', keep);
    child.on('error', (error) =>
      reject(new Error('SIPp (Debian: sip-tester) is not installed', { cause: error })),
    );
    child.on('close', (code) => resolve({ exitCode: code ?? -1, output }));
  });
}
