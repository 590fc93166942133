import { type Codec, timestampTicksPerFrame } from '../codecs/codec.ts';
import { DtmfSender } from '../dtmf/sender.ts';
import { RTP_FIXED_HEADER_BYTES } from '../rtp/packet.ts';
import { Packetizer, type PacketizerStart } from '../rtp/packetizer.ts';
import type { SrtpStream } from '../srtp/srtp.ts';

/** The longest trailer that SRTP may add: key identifier and tag. */
const MAX_TRAILER_BYTES = 16;

export interface RtpSenderOptions {
  readonly codec: Codec;
  readonly start: PacketizerStart;
  /** @param packet - Valid during the call. */
  readonly send: (packet: Uint8Array) => void;
}

/** One codec's stream to the peer: a packet for each frame, or a key's in its place. */
export class RtpSender {
  readonly packetizer: Packetizer;
  readonly dtmf: DtmfSender;
  payloadType = 0;
  /** Undefined where the peer takes no RFC 4733 events: no key may be sent then. */
  dtmfPayloadType: number | undefined;
  srtp: SrtpStream | undefined;
  readonly #codec: Codec;
  readonly #send: (packet: Uint8Array) => void;
  readonly #frameTicks: number;
  readonly #packet: Uint8Array;
  readonly #payload: Uint8Array;
  /** The stream begins, or goes on after a pause. */
  #isBeginning = true;

  constructor({ codec, start, send }: RtpSenderOptions) {
    this.#codec = codec;
    this.#send = send;
    this.#frameTicks = timestampTicksPerFrame(codec.format);
    this.packetizer = new Packetizer(start);
    this.dtmf = new DtmfSender({
      rtpClockRateHz: codec.format.rtpClockRateHz,
      frameTicks: this.#frameTicks,
    });
    const endOfPayload = RTP_FIXED_HEADER_BYTES + codec.format.maxBytesPer20Ms;
    this.#packet = new Uint8Array(endOfPayload + MAX_TRAILER_BYTES);
    this.#payload = this.#packet.subarray(RTP_FIXED_HEADER_BYTES, endOfPayload);
  }

  /** Sends this frame's part of a key. @returns False when none sounds, and audio may go. */
  sendKey(): boolean {
    if (this.dtmfPayloadType === undefined) return false;
    const event = this.dtmf.next(this.packetizer.timestamp, this.#payload);
    if (event === undefined) return false;
    this.#sendPacket(this.dtmfPayloadType, event.lengthBytes, event.marker, event.timestamp);
    this.#isBeginning = true;
    return true;
  }

  /** Sends a key that was pressed elsewhere, as far as the peer takes keys and is not behind with them already. */
  passKey(digit: string): void {
    if (this.dtmfPayloadType !== undefined && this.dtmf.hasRoom) this.dtmf.send(digit);
  }

  /** @param frame - 20 ms at the codec's rate; silence is sent as well, so that carriers see that we are there. */
  sendAudio(frame: Int16Array): void {
    const lengthBytes = this.#codec.encode(frame, this.#payload);
    this.#sendPacket(this.payloadType, lengthBytes, this.#isBeginning, this.packetizer.timestamp);
    this.#isBeginning = false;
  }

  /** Lets ticks pass in which nothing is sent: the media clock goes on. */
  skip(ticks: number): void {
    this.packetizer.advance(ticks * this.#frameTicks);
    this.#isBeginning = true;
  }

  #sendPacket(payloadType: number, payloadBytes: number, marker: boolean, timestamp: number): void {
    const plainBytes = this.packetizer.write(this.#packet, payloadType, payloadBytes, marker, timestamp);
    this.packetizer.advance(this.#frameTicks);
    const lengthBytes = this.srtp?.protect(this.#packet, plainBytes) ?? plainBytes;
    this.#send(this.#packet.subarray(0, lengthBytes));
  }
}
