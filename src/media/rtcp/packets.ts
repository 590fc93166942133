/** RTCP packet types. @see RFC 3550 section 12.1 */
export const RTCP_TYPE = {
  senderReport: 200,
  receiverReport: 201,
  sourceDescription: 202,
  bye: 203,
} as const;

/** Type of a source description item: the canonical name. @see RFC 3550 section 6.5.1 */
export const SDES_CNAME = 1;

/** A receiver's report on one source. @see RFC 3550 section 6.4.1 */
export interface ReportBlock {
  readonly ssrc: number;
  /** Share lost since the last report, in 1/256. */
  readonly fractionLost: number;
  /** The number of lost packets, signed, 24 bits. */
  readonly cumulativeLost: number;
  readonly extendedHighestSequence: number;
  readonly jitterTicks: number;
  /** Middle 32 bits of the NTP time in the last sender report from that source; 0 without one. */
  readonly lastSenderReport: number;
  /** The time since that report's arrival, in 1/65536 s; 0 without one. */
  readonly delaySinceLastSenderReport: number;
}

/** A sender's report on itself. @see RFC 3550 section 6.4.1 */
export interface SenderInfo {
  /** Wall clock as 64-bit NTP time in two halves. */
  readonly ntpSeconds: number;
  readonly ntpFraction: number;
  /** The same instant on the media clock. */
  readonly rtpTimestamp: number;
  readonly packetCount: number;
  readonly octetCount: number;
}

export interface SdesItem {
  readonly type: number;
  readonly text: string;
}

export type RtcpPacket =
  | {
      readonly kind: 'sender_report';
      readonly ssrc: number;
      readonly sender: SenderInfo;
      readonly blocks: readonly ReportBlock[];
    }
  | { readonly kind: 'receiver_report'; readonly ssrc: number; readonly blocks: readonly ReportBlock[] }
  | {
      readonly kind: 'source_description';
      readonly chunks: readonly { readonly ssrc: number; readonly items: readonly SdesItem[] }[];
    }
  | { readonly kind: 'bye'; readonly ssrcs: readonly number[]; readonly reason: string | undefined }
  /** Application, feedback and extended reports, which are not used. */
  | { readonly kind: 'other'; readonly type: number };

export const RTCP_HEADER_BYTES = 4;
export const SENDER_INFO_BYTES = 20;
export const REPORT_BLOCK_BYTES = 24;
