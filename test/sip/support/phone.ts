import { createSocket, type Socket } from 'node:dgram';

/** A scripted SIP phone that shares no code with the server under test. */
export class Phone {
  readonly #socket: Socket;
  readonly #inbox: string[] = [];
  #waiting: { match: RegExp; take(text: string): void }[] = [];
  #branch = 0;
  readonly received: string[] = [];
  /** Called for each message. */
  onMessage: (text: string) => void = () => undefined;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('message', (bytes) => this.#take(bytes.toString('utf8')));
  }

  static async open(): Promise<Phone> {
    const socket = createSocket('udp4');
    await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
    return new Phone(socket);
  }

  get port(): number {
    return this.#socket.address().port;
  }

  get uri(): string {
    return `sip:phone@127.0.0.1:${this.port}`;
  }

  send(text: string, port: number): void {
    this.#socket.send(text.replace(/\r?\n/g, '\r\n'), port, '127.0.0.1');
  }

  sendBytes(bytes: Buffer, port: number): void {
    this.#socket.send(bytes, port, '127.0.0.1');
  }

  /** The next message whose text matches, received already or later; others are kept. */
  next(match: RegExp, timeoutMs = 15_000): Promise<string> {
    const at = this.#inbox.findIndex((text) => match.test(text));
    const found = at < 0 ? undefined : this.#inbox.splice(at, 1)[0];
    if (found !== undefined) return Promise.resolve(found);
    return new Promise((resolve, reject) => {
      const timer = setTimeout(
        () =>
          reject(
            new Error(`no ${match} came, but ${this.#inbox.map((text) => text.split('\r\n')[0]).join('; ')}`),
          ),
        timeoutMs,
      );
      this.#waiting.push({
        match,
        take: (text) => {
          clearTimeout(timer);
          resolve(text);
        },
      });
    });
  }

  /** Whether no such message arrives within the time. */
  async receivesNone(match: RegExp, forMs: number): Promise<boolean> {
    await new Promise((resolve) => setTimeout(resolve, forMs));
    return !this.#inbox.some((text) => match.test(text));
  }

  /** Builds a request; `extra` lines go before the body. */
  request(
    method: string,
    serverPort: number,
    parts: {
      callId: string;
      cseq?: number;
      to?: string;
      fromTag?: string;
      branch?: string;
      extra?: string[];
      body?: string;
      uri?: string;
    },
  ): string {
    const body = parts.body ?? '';
    this.#branch += 1;
    return [
      `${method} ${parts.uri ?? `sip:app@127.0.0.1:${serverPort}`} SIP/2.0`,
      `Via: SIP/2.0/UDP 127.0.0.1:${this.port};branch=${parts.branch ?? `z9hG4bK-${parts.callId}-${this.#branch}`}`,
      'Max-Forwards: 70',
      `From: <sip:phone@127.0.0.1>;tag=${parts.fromTag ?? 'phone1'}`,
      `To: ${parts.to ?? `<sip:app@127.0.0.1:${serverPort}>`}`,
      `Call-ID: ${parts.callId}`,
      `CSeq: ${parts.cseq ?? 1} ${method}`,
      `Contact: <${this.uri}>`,
      ...(parts.extra ?? []),
      ...(body === '' || parts.extra?.some((line) => /^content-type/i.test(line))
        ? []
        : ['Content-Type: application/sdp']),
      `Content-Length: ${Buffer.byteLength(body.replace(/\r?\n/g, '\r\n'))}`,
      '',
      body,
    ].join('\r\n');
  }

  /** Builds a response to a request. */
  answer(
    request: string,
    status: string,
    parts: { tag?: string; extra?: string[]; body?: string } = {},
  ): string {
    const keep = request.split('\r\n').filter((line) => /^(via|from|call-id|cseq|record-route):/i.test(line));
    const to = header(request, 'To');
    const body = parts.body ?? '';
    return [
      `SIP/2.0 ${status}`,
      ...keep,
      `To: ${to}${/;tag=/.test(to) ? '' : `;tag=${parts.tag ?? 'phone2'}`}`,
      `Contact: <${this.uri}>`,
      ...(parts.extra ?? []),
      ...(body === '' ? [] : ['Content-Type: application/sdp']),
      `Content-Length: ${Buffer.byteLength(body.replace(/\r?\n/g, '\r\n'))}`,
      '',
      body,
    ].join('\r\n');
  }

  close(): Promise<void> {
    return new Promise((resolve) => this.#socket.close(() => resolve()));
  }

  #take(text: string): void {
    this.received.push(text);
    this.onMessage(text);
    const waiting = this.#waiting.find(({ match }) => match.test(text));
    if (!waiting) {
      this.#inbox.push(text);
      return;
    }
    this.#waiting = this.#waiting.filter((one) => one !== waiting);
    waiting.take(text);
  }
}

/** A header's value; `''` when there is none. */
export function header(text: string, name: string): string {
  return new RegExp(`^${name}:[ \\t]*(.*)$`, 'im').exec(text)?.[1]?.trim() ?? '';
}

export const SDP =
  'v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\nm=audio 40000 RTP/AVP 0\r\na=sendrecv\r\n';
export const OTHER_SDP = SDP.replace('o=- 1 1', 'o=- 2 2').replace('40000', '40002');

/** An in-dialog request of the callee. */
export interface CalleeRequest {
  readonly method: string;
  /** The INVITE and our 200. */
  readonly invite: string;
  readonly accepted: string;
  /** The CSeq, also part of the branch. */
  readonly sequence: number;
  /** Header lines. */
  readonly extra?: readonly string[];
  readonly body?: string;
}

export function calleeRequest(phone: Phone, request: CalleeRequest): string {
  const { method, invite, accepted, sequence, extra = [], body = '' } = request;
  return [
    `${method} ${header(invite, 'Contact').replace(/[<>]/g, '')} SIP/2.0`,
    `Via: SIP/2.0/UDP 127.0.0.1:${phone.port};branch=z9hG4bK-callee-${sequence}`,
    'Max-Forwards: 70',
    `From: ${header(accepted, 'To')}`,
    `To: ${header(invite, 'From')}`,
    `Call-ID: ${header(invite, 'Call-ID')}`,
    `CSeq: ${sequence} ${method}`,
    `Contact: <${phone.uri}>`,
    ...extra,
    `Content-Length: ${Buffer.byteLength(body)}`,
    '',
    body,
  ].join('\r\n');
}
