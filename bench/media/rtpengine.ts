import { type ChildProcess, spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** rtpengine in user space, driven by its control protocol. */
export interface Rtpengine {
  /** Relays a call in both directions. @returns Where the caller and the callee send their audio. */
  relay(call: string, callerPort: number, calleePort: number): Promise<readonly [number, number]>;
  /** CPU time of the process since it started, µs. */
  cpuUs(): number;
  close(): Promise<void>;
}

const CONTROL_PORT = 12_223;
const ANSWER_TIMEOUT_MS = 5000;
const PORTS = ['--port-min=44000', '--port-max=47999'];
const TICKS_PER_SECOND = 100;

/** @returns Undefined when the program is not installed. */
export async function startRtpengine(): Promise<Rtpengine | undefined> {
  const args = [
    '--foreground',
    '--table=-1',
    '--interface=127.0.0.1',
    '--log-level=3',
    '--log-stderr',
    ...PORTS,
  ];
  const child = spawn('rtpengine', [...args, `--listen-ng=127.0.0.1:${CONTROL_PORT}`], {
    stdio: ['ignore', 'ignore', 'ignore'],
  });
  const failed = once(child, 'error').then(() => true);
  if (await Promise.race([failed, sleep(1000, false)])) return undefined;
  const control = createSocket('udp4');
  let number = 0;
  const ask = async (command: Readonly<Record<string, unknown>>): Promise<string> => {
    number++;
    const answered = once(control, 'message', { signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS) });
    control.send(`${number} ${bencode(command)}`, CONTROL_PORT, '127.0.0.1');
    const [answer] = (await answered) as [Buffer];
    return answer.toString('latin1');
  };
  return {
    async relay(call, callerPort, calleePort) {
      const base = { 'call-id': call, 'from-tag': 'a', 'transport-protocol': 'RTP/AVP', ICE: 'remove' };
      const offered = await ask({ ...base, command: 'offer', sdp: sdp(callerPort) });
      const answered = await ask({ ...base, command: 'answer', 'to-tag': 'b', sdp: sdp(calleePort) });
      return [portIn(answered), portIn(offered)];
    },
    cpuUs: () => cpuUsOf(child),
    async close() {
      control.close();
      const exited = once(child, 'exit');
      child.kill('SIGTERM');
      await exited;
    },
  };
}

function sdp(port: number): string {
  const lines = ['v=0', 'o=- 1 1 IN IP4 127.0.0.1', 's=-', 'c=IN IP4 127.0.0.1', 't=0 0'];
  return `${[...lines, `m=audio ${port} RTP/AVP 0`, 'a=rtpmap:0 PCMU/8000', 'a=sendrecv'].join('\r\n')}\r\n`;
}

function portIn(answer: string): number {
  const port = Number(/m=audio (\d+)/.exec(answer)?.[1]);
  if (!(port > 0)) throw new Error(`rtpengine answered ${answer}`);
  return port;
}

function bencode(value: unknown): string {
  if (typeof value === 'string') return `${Buffer.byteLength(value)}:${value}`;
  const entries = Object.entries(value as object).sort(([a], [b]) => (a < b ? -1 : 1));
  return `d${entries.map(([key, item]) => bencode(key) + bencode(item)).join('')}e`;
}

/** User and system time from the kernel. @see proc(5), /proc/[pid]/stat */
function cpuUsOf({ pid }: ChildProcess): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return ((Number(fields[11]) + Number(fields[12])) * 1e6) / TICKS_PER_SECOND;
}
