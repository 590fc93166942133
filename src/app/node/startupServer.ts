import { createServer } from 'node:http';

import type { Config } from '../settings/config.ts';
import { namingPortSettings } from './portErrors.ts';

const RETRY_AFTER_SECONDS = 5;

export type StartupPhase = 'starting' | 'migrating';

/** The HTTP server until the API listens. */
export interface StartupServer {
  /** The one of the settings, or the free one that was found. */
  readonly port: number;
  setPhase(phase: StartupPhase): void;
  /** Frees the port for the API. Idempotent. */
  close(): Promise<void>;
}

/**
 * Answers probes from the first moment on: a migration may take an hour, and an orchestrator restarts a process that does
 * not answer. `/healthz` is 200, everything else 503; `/readyz` tells what the process does.
 *
 * @throws {Error} When the port cannot be bound.
 */
export async function startStartupServer(config: Config): Promise<StartupServer> {
  let phase: StartupPhase = 'starting';
  const server = createServer((request, response) => {
    const isHealthCheck = request.url === '/healthz';
    const readiness = { status: phase, dependencies: {}, providers: {} };
    const refusal = { error: `This node is ${phase}; try again shortly`, code: `node_${phase}` };
    const body = isHealthCheck ? { status: 'ok' } : request.url === '/readyz' ? readiness : refusal;
    response.statusCode = isHealthCheck ? 200 : 503;
    response.setHeader('content-type', 'application/json; charset=utf-8');
    response.setHeader('connection', 'close');
    if (!isHealthCheck) response.setHeader('retry-after', RETRY_AFTER_SECONDS);
    response.end(JSON.stringify(body));
  });
  const listening = new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port: config.PORT, host: config.HOST }, resolve);
  });
  await namingPortSettings({ host: 'HOST', ports: { PORT: config.PORT } }, listening);
  const address = server.address();
  let closing: Promise<void> | undefined;
  return {
    port: typeof address === 'object' && address !== null ? address.port : config.PORT,
    setPhase(current) {
      phase = current;
    },
    close() {
      closing ??= new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
      return closing;
    },
  };
}
