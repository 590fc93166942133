import { OPEN, type StreamSocket } from './streamSocket.ts';

/** Half a second: one ping is on its way at a time, and a peer that reads in time gets two a second. */
const ASK_AT_FRAMES = 25;

/**
 * How much audio a peer has not read yet: a ping tells the frames that were sent before it, and its answer that they were
 * read. What the network has taken says little: the buffers of a Unix domain socket hold seconds of audio, those of TCP
 * more. A sender that stops for a peer with more than half a second to read is told when it has read it.
 *
 * @see RFC 6455 section 5.5.3: a pong repeats the data of its ping.
 */
export class UnreadAudio {
  readonly #socket: StreamSocket;
  #sentFrames = 0;
  #readFrames: number | undefined;
  #askedFrames = 0;

  constructor(socket: StreamSocket) {
    this.#socket = socket;
    socket.on('pong', (data) => this.#answered(data.toString('latin1')));
  }

  /** Undefined as long as the peer has answered no ping: some never do. */
  get frames(): number | undefined {
    return this.#readFrames === undefined ? undefined : this.#sentFrames - this.#readFrames;
  }

  /** One more frame was sent. */
  sent(): void {
    this.#sentFrames++;
    if (this.#isDue) this.#ask();
  }

  get #isAwaited(): boolean {
    return this.#askedFrames > (this.#readFrames ?? 0);
  }

  get #isDue(): boolean {
    return !this.#isAwaited && (this.frames ?? ASK_AT_FRAMES) >= ASK_AT_FRAMES;
  }

  #ask(): void {
    if (this.#socket.readyState !== OPEN) return;
    this.#askedFrames = this.#sentFrames;
    this.#socket.ping(String(this.#askedFrames));
  }

  #answered(data: string): void {
    const frames = data === '' ? 0 : Number(data);
    const isOurs = frames > (this.#readFrames ?? 0) && frames <= this.#askedFrames;
    if (isOurs) this.#readFrames = frames;
    // A peer may answer the latest of several pings alone, which was the heartbeat's.
    const isSkipped = !isOurs && this.#readFrames !== undefined && this.#isAwaited;
    if (isSkipped || this.#isDue) this.#ask();
  }
}
