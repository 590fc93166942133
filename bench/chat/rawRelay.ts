import { Agent, request as ask, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The lower bound: Node's own HTTP passes bytes on as they come. @returns Its base URL. */
export async function startRawRelay(upstreamUrl: string): Promise<string> {
  const agent = new Agent({ keepAlive: true });
  const server = createServer((request, response) => {
    const { 'content-type': type, 'content-length': length } = request.headers;
    const onward = ask(
      `${upstreamUrl}/chat/completions`,
      { method: 'POST', agent, headers: { 'content-type': type, 'content-length': length } },
      (answer) => {
        response.writeHead(answer.statusCode ?? 502, { 'content-type': answer.headers['content-type'] });
        answer.pipe(response);
      },
    );
    onward.on('error', () => response.destroy());
    request.pipe(onward);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
}
