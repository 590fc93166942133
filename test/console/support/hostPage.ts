import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A website with the widget, under a policy that allows the service alone. */
export interface HostPage {
  readonly origin: string;
  /** @param widget - Its markup. */
  show(serviceUrl: string, widget: string): void;
  close(): Promise<void>;
}

export async function serveHostPage(): Promise<HostPage> {
  const page = { html: '', policy: '' };
  const server = createServer((request, response) => {
    const isPage = request.url === '/';
    const headers = { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': page.policy };
    response.writeHead(isPage ? 200 : 204, headers).end(isPage ? page.html : undefined);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    show(serviceUrl, widget) {
      const sockets = serviceUrl.replace(/^http/, 'ws');
      page.policy = `default-src 'none'; script-src ${serviceUrl}; connect-src ${serviceUrl} ${sockets}; require-trusted-types-for 'script'`;
      page.html = `<!doctype html><html lang="en"><title>Luna</title><main><h1>Luna</h1>
<p>A small restaurant by the sea. Open from Tuesday to Sunday.</p></main>
<script src="${serviceUrl}/widget.js" async></script>${widget}</html>`;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
