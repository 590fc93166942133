import { createServer } from 'node:http';

import type { HttpMetrics } from '../../api/ports.ts';
import { namingPortSettings } from './portErrors.ts';

/**
 * Serves `/metrics` on a port of its own, which a firewall can keep from clients and carriers.
 *
 * @throws {Error} When the port cannot be bound.
 */
export async function startMetricsServer(
  { HOST, METRICS_PORT }: { readonly HOST: string; readonly METRICS_PORT: number },
  metrics: HttpMetrics,
): Promise<{ close(): Promise<void> }> {
  const server = createServer((request, response) => {
    if (request.url !== '/metrics') {
      response.writeHead(404).end();
      return;
    }
    metrics.render().then(
      (text) => response.writeHead(200, { 'content-type': metrics.contentType }).end(text),
      () => response.writeHead(500).end(),
    );
  });
  const listening = new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port: METRICS_PORT, host: HOST }, resolve);
  });
  await namingPortSettings({ host: 'HOST', ports: { METRICS_PORT } }, listening);
  return {
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
