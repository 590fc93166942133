/** Inputs of the reporting interval. @see RFC 3550 section 6.3.1 */
export interface ReportingLoad {
  /** The bandwidth of both directions, in bytes per second. RTCP gets a twentieth of it. */
  readonly sessionBandwidthBytesPerSecond: number;
  /** The number of known participants, including ourselves. */
  readonly members: number;
  /** Participants that have sent since the last report but one. */
  readonly senders: number;
  readonly weSent: boolean;
  readonly averagePacketBytes: number;
  /** True before the first report. */
  readonly isFirst: boolean;
}

const RTCP_BANDWIDTH_SHARE = 0.05;
const SENDER_BANDWIDTH_SHARE = 0.25;
const MIN_INTERVAL_SECONDS = 5;
/** e - 1.5: timer reconsideration lengthens the mean interval by this factor. */
const RECONSIDERATION_COMPENSATION = Math.E - 1.5;
/** UDP and IPv4 headers count as bandwidth. */
const LOWER_LAYER_BYTES = 28;
/** Weight of the newest packet in the mean packet size. */
const SIZE_SMOOTHING = 1 / 16;

/**
 * Time between reports, randomised so that participants do not synchronise.
 *
 * @param random - A random number, 0..1.
 * @see RFC 3550 sections 6.3.1 and appendix A.7
 */
export function reportIntervalMs(load: ReportingLoad, random: number): number {
  const rtcpBandwidth = load.sessionBandwidthBytesPerSecond * RTCP_BANDWIDTH_SHARE;
  const sendersAreFew = load.senders > 0 && load.senders <= load.members * SENDER_BANDWIDTH_SHARE;
  let sharers = load.members;
  let bandwidth = rtcpBandwidth;
  if (sendersAreFew) {
    sharers = load.weSent ? load.senders : load.members - load.senders;
    bandwidth *= load.weSent ? SENDER_BANDWIDTH_SHARE : 1 - SENDER_BANDWIDTH_SHARE;
  }
  const minimum = load.isFirst ? MIN_INTERVAL_SECONDS / 2 : MIN_INTERVAL_SECONDS;
  const deterministic = Math.max(minimum, (load.averagePacketBytes * sharers) / bandwidth);
  return (1000 * deterministic * (random + 0.5)) / RECONSIDERATION_COMPENSATION;
}

/** The options for the two participants of a phone call. */
export interface ReportScheduleOptions {
  readonly startMs: number;
  readonly sessionBandwidthBytesPerSecond: number;
  /** Returns a random number, 0..1. */
  readonly random: () => number;
}

/** Our first report: header, sender info, one block, a canonical name. */
const FIRST_SIZE_GUESS_BYTES = 80 + LOWER_LAYER_BYTES;

/**
 * Schedules a call's RTCP reports. Time is an argument.
 *
 * @see RFC 3550 section 6.3
 */
export class ReportSchedule {
  readonly #bandwidth: number;
  readonly #random: () => number;
  #averagePacketBytes = FIRST_SIZE_GUESS_BYTES;
  #dueMs: number;

  constructor(options: ReportScheduleOptions) {
    this.#bandwidth = options.sessionBandwidthBytesPerSecond;
    this.#random = options.random;
    this.#dueMs = options.startMs + this.#intervalMs(true, true);
  }

  get dueMs(): number {
    return this.#dueMs;
  }

  isDue(nowMs: number): boolean {
    return nowMs >= this.#dueMs;
  }

  /** Schedules the next report. */
  sent(nowMs: number, lengthBytes: number, weSent: boolean): void {
    this.observe(lengthBytes);
    this.#dueMs = nowMs + this.#intervalMs(false, weSent);
  }

  /** Counts the size of a received RTCP packet. */
  observe(lengthBytes: number): void {
    this.#averagePacketBytes += (lengthBytes + LOWER_LAYER_BYTES - this.#averagePacketBytes) * SIZE_SMOOTHING;
  }

  #intervalMs(isFirst: boolean, weSent: boolean): number {
    const load = {
      sessionBandwidthBytesPerSecond: this.#bandwidth,
      members: 2,
      senders: weSent ? 2 : 1,
      weSent,
      averagePacketBytes: this.#averagePacketBytes,
      isFirst,
    };
    return reportIntervalMs(load, this.#random());
  }
}
