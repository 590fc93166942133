import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';

import type { EmbeddedSipServer } from '../../sip/embed.ts';
import type { SipServerOptions } from '../../sip/options.ts';
import { SupervisedSipServer } from '../../sip/supervised.ts';
import type { KnownPeer } from '../../sip/transport/guard.ts';

const OPTIONS: SipServerOptions = { port: 0, control: { port: 0, secret: 's' }, trusted: ['192.0.2.1'] };

/** Starts servers that a test can crash, and records how they were started. */
function crashable(start: (options: SipServerOptions) => Promise<EmbeddedSipServer>) {
  const starts: SipServerOptions[] = [];
  let crash: () => Promise<void> = async () => undefined;
  return {
    starts,
    crash: () => crash(),
    async start(options: SipServerOptions): Promise<EmbeddedSipServer> {
      starts.push(options);
      const server = await start(options);
      const lost = new Promise<Error>((resolve) => {
        crash = async () => {
          await server.close();
          resolve(new Error('out of memory'));
        };
      });
      return { ...server, lost };
    },
  };
}

function recordedEvents() {
  const events: string[] = [];
  return {
    events,
    onCrash: (error: Error) => void events.push(`crash: ${error.message}`),
    onRestartFailed: (error: unknown) => void events.push(`failed: ${(error as Error).message}`),
  };
}

describe('A restart', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  /** A server that starts only while the port is free. */
  async function supervise() {
    const port = { isTaken: false };
    const known: (readonly KnownPeer[])[] = [];
    const servers = crashable(async () => {
      if (port.isTaken) throw new Error('port in use');
      return {
        sipPorts: [{ transport: 'udp', address: '127.0.0.1', port: 5060 }],
        controlPort: 9022,
        stats: () => Promise.reject(new Error('the SIP thread is gone')),
        setKnownPeers: (peers) => void known.push(peers),
        trace: () => () => undefined,
        lost: new Promise<Error>(() => undefined),
        close: async () => undefined,
      };
    });
    const recorded = recordedEvents();
    const supervised = await SupervisedSipServer.start(OPTIONS, recorded, servers.start);
    return { supervised, servers, port, known, events: recorded.events };
  }

  test('is tried again after 200 ms, doubling to 10 s, until it succeeds', async () => {
    const { supervised, servers, port, events } = await supervise();
    port.isTaken = true;
    await servers.crash();
    const attemptsAfter = async (ms: number) => {
      await vi.advanceTimersByTimeAsync(ms);
      return servers.starts.length - 1;
    };
    expect([await attemptsAfter(199), await attemptsAfter(1), await attemptsAfter(400)]).toEqual([0, 1, 2]);
    // 800, 1600, 3200, 6400, 10,000 and 10,000 ms.
    expect(await attemptsAfter(32_000)).toBe(8);
    port.isTaken = false;
    expect([await attemptsAfter(9_999), supervised.controlPort]).toEqual([8, undefined]);
    expect([await attemptsAfter(1), supervised.controlPort]).toEqual([9, 9022]);
    expect(events).toEqual(['crash: out of memory', ...Array(8).fill('failed: port in use')]);
    await supervised.close();
  });

  test('has the known peers of the moment', async () => {
    const { supervised, servers, known } = await supervise();
    const peers = (source: string) => [{ name: 'trunk', sources: [source] }];
    supervised.setKnownPeers(peers('198.51.100.7'));
    await servers.crash();
    await vi.advanceTimersByTimeAsync(100);
    supervised.setKnownPeers(peers('198.51.100.8'));
    await vi.advanceTimersByTimeAsync(200);
    expect(known).toEqual([peers('198.51.100.7'), peers('198.51.100.8')]);
    await supervised.close();
  });

  test('does not happen after close, which does not wait for it', async () => {
    const { supervised, servers } = await supervise();
    await servers.crash();
    await vi.advanceTimersByTimeAsync(100);
    await supervised.close();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(servers.starts).toHaveLength(1);
  });
});
