import type { StreamClient, StreamHandler, StreamRequest } from '../agentStream/streamClient.ts';

export const SUPERVISION_MODES = ['listen', 'whisper', 'takeover'] as const;

/**
 * The modes of supervision. All supervisors hear the caller on the left channel, and on the right what the caller
 * hears.
 *
 * `listen` sends nothing; `whisper` speaks to the people in the call, or to one of them, unheard by caller and agent;
 * `takeover` speaks to the caller in place of the agent.
 */
export type SupervisionMode = (typeof SUPERVISION_MODES)[number];

/** The channels of the audio that a supervisor gets; a supervisor sends one. */
export const SUPERVISOR_CHANNELS = 2;

/** A supervisor who wants to join a call. */
export interface SupervisorRequest {
  readonly supervisorId: string;
  readonly callId: string;
  readonly mode: SupervisionMode;
}

/** Lets supervisors' WebSockets into a media thread; implemented by `streams/`. */
export interface SupervisorGate {
  /**
   * Lets one connection in, within half a minute.
   *
   * @param request - Aborting its signal withdraws the admission.
   * @param handler - Receives the connection's events. Events other than audio and the end must be ignored.
   */
  admit(request: StreamRequest, handler: StreamHandler): Promise<AdmittedSupervisor>;
  /** Terminates the connections that are left. Idempotent. */
  close(): Promise<void>;
}

/** The address of a supervisor's connection on this machine. */
export interface SupervisorAddress {
  readonly port: number;
  /** The path, which contains the ticket. */
  readonly path: string;
}

interface AdmittedSupervisor extends SupervisorAddress {
  /**
   * Resolves to the connection, whose `audio` takes interleaved samples; undefined when no connection came in time.
   * Never rejects.
   */
  readonly connected: Promise<StreamClient | undefined>;
}

/** A supervisor has connected, or will not be heard of again. */
export interface SupervisorChange {
  readonly supervisorId: string;
  readonly mode: SupervisionMode;
  readonly status: 'joined' | 'left';
}
