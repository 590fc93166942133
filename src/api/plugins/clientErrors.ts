import type { Socket } from 'node:net';

import type { MakeId } from '../../base/values/ids.ts';
import { isOpenAiPath, toOpenAiError } from '../openAiErrors.ts';

const RESPONSES: Readonly<Record<string, readonly [statusLine: string, code: string]>> = {
  HPE_HEADER_OVERFLOW: ['431 Request Header Fields Too Large', 'headers_too_large'],
  ERR_HTTP_REQUEST_TIMEOUT: ['408 Request Timeout', 'request_timeout'],
};
const NOT_HTTP = ['400 Bad Request', 'invalid_http'] as const;

/**
 * Answers what never became a request: bytes that are not HTTP, headers that do not end, a client that is too slow.
 * Then destroys the connection, whether or not the client closes its half.
 */
export function answerClientErrors(makeId: MakeId) {
  return (error: NodeJS.ErrnoException, socket: Socket): void => {
    if (!socket.writable) {
      socket.destroy();
      return;
    }
    const [statusLine, code] = RESPONSES[error.code ?? ''] ?? NOT_HTTP;
    const plain = { error: 'The request cannot be read', code };
    const status = Number.parseInt(statusLine, 10);
    const body = JSON.stringify(
      isOpenAiPath(error.path ?? '')
        ? toOpenAiError(error, { status, headers: {}, body: plain }).body
        : plain,
    );
    const head = [
      `HTTP/1.1 ${statusLine}`,
      'Content-Type: application/json; charset=utf-8',
      `Content-Length: ${body.length}`,
      `X-Request-Id: ${makeId()}`,
      'Connection: close',
    ];
    socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy());
  };
}
