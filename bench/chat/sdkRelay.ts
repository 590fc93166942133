import Fastify from 'fastify';
import OpenAI from 'openai';

/**
 * The peer: a fastify route that requests by the official client and forwards each chunk as it arrives, as many gateways
 * do. @returns Its base URL.
 */
export async function startSdkRelay(upstreamUrl: string): Promise<string> {
  const client = new OpenAI({ apiKey: 'none', baseURL: upstreamUrl, maxRetries: 0 });
  const app = Fastify();
  app.post<{ Body: OpenAI.ChatCompletionCreateParamsStreaming }>(
    '/v1/chat/completions',
    async ({ body }, reply) => {
      const stream = await client.chat.completions.create({ ...body, model: 'any', stream: true });
      reply.hijack();
      reply.raw.writeHead(200, { 'content-type': 'text/event-stream' });
      for await (const chunk of stream) reply.raw.write(`data: ${JSON.stringify(chunk)}\n\n`);
      reply.raw.end('data: [DONE]\n\n');
    },
  );
  return `${await app.listen({ port: 0, host: '127.0.0.1' })}/v1`;
}
