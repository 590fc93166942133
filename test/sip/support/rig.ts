import type { SipServerOptions } from '../../../sip/options.ts';
import { type SipServer, type SipServerHooks, startSipServer } from '../../../sip/server.ts';
import { Phone } from './phone.ts';
import { newApp, type SrfApp } from './srf.ts';

/** A server, a drachtio-srf application connected to it, and a phone. */
export interface Rig {
  readonly server: SipServer;
  readonly srf: SrfApp;
  readonly phone: Phone;
  readonly port: number;
  /** Disconnects the application; idempotent, unlike drachtio-srf's disconnect. */
  disconnect(): void;
  close(): Promise<void>;
}

export const SECRET = 'cymru';

export function serverOptions(changes: Partial<SipServerOptions> = {}): SipServerOptions {
  return {
    port: 0,
    control: { port: 0, secret: SECRET },
    sipTimes: { t1Ms: 40, t2Ms: 160, t4Ms: 100 },
    trusted: ['127.0.0.1'],
    ...changes,
  };
}

export async function connectApp(server: SipServer, at = server.controlPort): Promise<SrfApp> {
  const srf = newApp();
  await new Promise<void>((resolve, reject) => {
    srf.on('error', () => undefined);
    srf.connect({ host: '127.0.0.1', port: at, secret: SECRET });
    srf.on('connect', (error: Error | null) => (error ? reject(error) : resolve()));
  });
  return srf;
}

export async function startRig(
  changes: Partial<SipServerOptions> = {},
  hooks: SipServerHooks = {},
): Promise<Rig> {
  const server = await startSipServer(serverOptions(changes), hooks);
  const srf = await connectApp(server);
  const phone = await Phone.open();
  let connected = true;
  const disconnect = () => {
    if (connected) srf.disconnect();
    connected = false;
  };
  const port = server.sipPorts.find(({ transport }) => transport === 'udp')?.port ?? 0;
  return {
    server,
    srf,
    phone,
    port,
    disconnect,
    async close() {
      disconnect();
      await phone.close();
      await server.close();
    },
  };
}

/** Waits until no transaction or dialog remains. @returns The remaining counts. */
export async function waitUntilDrained(server: SipServer, withinMs = 6000): Promise<Record<string, number>> {
  const names = [
    'clientTransactions',
    'serverTransactions',
    'dialogs',
    'pendingRequests',
    'sentRequests',
    'proxiedDialogs',
  ];
  const left = () => Object.fromEntries(names.map((name) => [name, server.stats()[`now.${name}`] ?? -1]));
  const until = Date.now() + withinMs;
  while (Date.now() < until && Object.values(left()).some((count) => count !== 0)) {
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return left();
}

export const NO_STATE = {
  clientTransactions: 0,
  serverTransactions: 0,
  dialogs: 0,
  pendingRequests: 0,
  sentRequests: 0,
  proxiedDialogs: 0,
};
