import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';

/** A response that stays the same: compressed once, and not sent again to a client that has it. */
export class CompressedBody {
  readonly #body: Buffer;
  readonly #compressed: Buffer;
  readonly #etag: string;

  constructor(body: Buffer) {
    this.#body = body;
    this.#compressed = gzipSync(body);
    this.#etag = `"${createHash('sha256').update(body).digest('base64url')}"`;
  }

  async send(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    reply.headers({ etag: this.#etag, vary: 'Accept-Encoding' });
    if (request.headers['if-none-match'] === this.#etag) return await reply.code(304).send(null);
    if (!/\bgzip\b/.test(String(request.headers['accept-encoding']))) return await reply.send(this.#body);
    return await reply.header('content-encoding', 'gzip').send(this.#compressed);
  }
}
