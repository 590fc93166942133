import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { WebSocketServer } from 'ws';
import { createLocalTextToSpeech } from '../../vendors/local/textToSpeech.ts';
import { ANSWERS, LATENCIES } from './scriptedCall.ts';
import { recognize, speechOf, synthesize, wholeText } from './scriptedSpeech.ts';

const TOKEN_EVERY_MS = 20;

export interface ScriptedVendors {
  readonly url: string;
  close(): Promise<void>;
}

/**
 * A model, `stt.callway.v1` and `tts.callway.v1` at one address, which know the call's words beforehand: what remains of its
 * latency is that of the vendors and our own.
 */
export async function startScriptedVendors(): Promise<ScriptedVendors> {
  const voice = createLocalTextToSpeech();
  const spoken = new Map<string, Buffer>();
  for (const text of ANSWERS) spoken.set(text, await speechOf(voice, text));
  const server = createServer((request, response) => {
    readBody(request).then(
      (body) => setTimeout(() => writeAnswer(response, answerTo(body)), LATENCIES.firstTokenMs),
      () => response.destroy(),
    );
  });
  const sockets = new WebSocketServer({ server, handleProtocols: ([first]) => first ?? false });
  sockets.on('connection', (socket) => {
    if (socket.protocol.startsWith('stt')) recognize(socket);
    else synthesize(socket, async (text) => spoken.get(wholeText(text)) ?? (await speechOf(voice, text)));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      for (const client of sockets.clients) client.terminate();
      server.closeAllConnections();
      server.close();
      await voice.close();
    },
  };
}

async function readBody(request: AsyncIterable<Uint8Array>): Promise<string> {
  const parts: Uint8Array[] = [];
  for await (const part of request) parts.push(part);
  return Buffer.concat(parts).toString();
}

/** Returns the answer by the number of the person's messages. */
function answerTo(body: string): number {
  const { messages } = JSON.parse(body) as { messages: readonly { role: string }[] };
  return Math.min(messages.filter(({ role }) => role === 'user').length, ANSWERS.length - 1);
}

/** A word every 20 ms; the last answer ends the call. */
function writeAnswer(response: ServerResponse, index: number): void {
  response.setHeader('content-type', 'text/event-stream');
  const write = (delta: object, finish_reason: string | null = null) => {
    const base = { id: 'demo', object: 'chat.completion.chunk', created: 0, model: 'scripted' };
    const chunk = { ...base, choices: [{ index: 0, delta, finish_reason }] };
    response.write(`data: ${JSON.stringify(chunk)}\n\n`);
  };
  const words = (ANSWERS[index] ?? '').split(/(?<=\s)/);
  const writeNext = () => {
    const word = words.shift();
    if (word !== undefined) {
      write({ content: word });
      setTimeout(writeNext, TOKEN_EVERY_MS);
      return;
    }
    const isLast = index === ANSWERS.length - 1;
    const call = { index: 0, id: 'end', type: 'function', function: { name: 'end_call', arguments: '{}' } };
    if (isLast) write({ tool_calls: [call] });
    write({}, isLast ? 'tool_calls' : 'stop');
    response.end('data: [DONE]\n\n');
  };
  writeNext();
}
