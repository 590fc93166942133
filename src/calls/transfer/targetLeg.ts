import type { TransferOutcome } from '../../agents/transferOptions.ts';
import { CallwayError } from '../../base/errors.ts';
import type { CallCommand } from '../../media/agentStream/streamClient.ts';
import type { MediaSession } from '../../media/mediaSession.ts';
import { mayTryNextTrunk } from '../runner/callResult.ts';
import type { CallLeg, LegEnd, LegOutcome } from '../telephony.ts';
import { TRANSFER_REASONS } from './transferReport.ts';

/** The events of a target. */
export interface TargetListener {
  /** @param earlyMedia - The target's side plays its own ringing. */
  ringing(earlyMedia: MediaSession | undefined): void;
  answered(): void;
  digit(digit: string): void;
  /** Receives a command of the agent's stream to the target. */
  command(command: CallCommand): void;
  streamClosed(): void;
  held(isHeld: boolean): void;
  /** The target sends no audio. */
  mediaTimeout(): void;
  /** The last one. @param hungUp - By itself, after the answer. */
  left(hungUp: boolean, outcome: TransferOutcome, reason: string): void;
}

const OUTCOMES: Partial<Record<LegOutcome, TransferOutcome>> = {
  busy: 'busy',
  no_answer: 'no_answer',
  declined: 'refused',
};

/** A target of a transfer, which is dialed over one trunk after the other. */
export class TargetLeg {
  readonly #listener: TargetListener;
  readonly #onError: (error: unknown, what: string) => void;
  #leg: CallLeg | undefined;
  #isAnswered = false;
  #isHungUp = false;

  constructor(listener: TargetListener, onError: (error: unknown, what: string) => void) {
    this.#listener = listener;
    this.#onError = onError;
  }

  /** The target's current leg; undefined while there is none. */
  get current(): CallLeg | undefined {
    return this.#leg;
  }

  /** The media session; undefined while no leg has one. */
  get media(): MediaSession | undefined {
    return this.#leg?.media;
  }

  /** Resolves when no leg is left; never rejects. @param legs - One per trunk. */
  async dial(legs: AsyncIterable<CallLeg>): Promise<void> {
    let end: LegEnd | undefined;
    try {
      for await (const leg of legs) {
        end = await this.#follow(leg);
        if (this.#isHungUp || this.#isAnswered || !mayTryNextTrunk(end)) break;
      }
      this.#leave(end);
    } catch (error) {
      const isRefused = error instanceof CallwayError && error.category !== 'internal';
      if (!isRefused) this.#onError(error, 'transfer target not dialed');
      this.#listener.left(false, 'failed', isRefused ? error.message : 'it could not be called');
    }
  }

  /** CANCEL before the answer, BYE after it. Idempotent. */
  hangUp(): void {
    this.#isHungUp = true;
    this.#leg?.hangup().catch((error: unknown) => this.#onError(error, 'transfer target not hung up'));
  }

  #follow(leg: CallLeg): Promise<LegEnd> {
    this.#leg = leg;
    const { events } = leg;
    return new Promise((resolve) => {
      events.on('ringing', ({ hasEarlyMedia }) =>
        this.#listener.ringing(hasEarlyMedia ? leg.media : undefined),
      );
      events.on('answered', () => this.#onAnswered(leg));
      events.on('held', ({ isHeld }) => this.#listener.held(isHeld));
      events.on('dtmf', (digit) => {
        leg.media
          ?.receiveDtmf(digit)
          .catch((error: unknown) => this.#onError(error, 'DTMF digit not passed on'));
      });
      events.on('ended', (end) => {
        this.#leg = undefined;
        resolve(end);
      });
      if (this.#isHungUp) this.hangUp();
    });
  }

  #onAnswered({ media }: CallLeg): void {
    if (this.#isHungUp) return;
    if (!media) {
      this.hangUp();
      return;
    }
    this.#isAnswered = true;
    media.events.on('dtmf', ({ digit }) => this.#listener.digit(digit));
    media.events.on('command', (command) => this.#listener.command(command));
    media.events.on('streamClosed', () => this.#listener.streamClosed());
    media.events.on('mediaTimeout', () => this.#listener.mediaTimeout());
    media.events.on('lost', () => this.hangUp());
    this.#listener.answered();
  }

  /** @param end - The leg's end; undefined when no trunk had a free channel. */
  #leave(end: LegEnd | undefined): void {
    if (!end) {
      this.#listener.left(false, 'failed', TRANSFER_REASONS.noChannel);
      return;
    }
    const { outcome, sip } = end;
    const hungUp = this.#isAnswered && outcome === 'remote_hangup';
    const reason = hungUp
      ? TRANSFER_REASONS.targetHungUp
      : sip
        ? `${outcome}: ${sip.code} ${sip.reason}`
        : outcome;
    this.#listener.left(hungUp, OUTCOMES[outcome] ?? 'failed', reason);
  }
}
