import { fork } from 'node:child_process';
import { once } from 'node:events';
import { nextMessage } from '../support/childMessage.ts';
import type { FromGateway, GatewayFigures, ToGateway } from './messages.ts';

/** The measured process, from outside. */
export interface GatewayProcess {
  /** @param participants - Of each call. @returns Where each phone sends its audio. */
  open(phonePorts: readonly number[], participants?: number): Promise<readonly number[]>;
  beBusy(share: number): void;
  figures(): Promise<GatewayFigures>;
  close(): Promise<void>;
}

/** @param program - `gatewayProcess.ts`, compiled. */
export async function startGatewayProcess(program: string): Promise<GatewayProcess> {
  const child = fork(program, [], { execArgv: [] });
  const tell = (message: ToGateway) => void child.send(message);
  const next = async <Kind extends FromGateway['kind']>(kind: Kind) => {
    const message = await nextMessage<FromGateway>(child);
    if (message.kind !== kind) throw new Error(`the gateway said ${message.kind} instead of ${kind}`);
    return message as Extract<FromGateway, { kind: Kind }>;
  };
  await next('ready');
  return {
    async open(phonePorts, participants = 0) {
      tell({ kind: 'open', phonePorts, participants });
      return (await next('opened')).ports;
    },
    beBusy: (share) => tell({ kind: 'busy', share }),
    async figures() {
      tell({ kind: 'figures' });
      return (await next('figures')).figures;
    },
    async close() {
      tell({ kind: 'close' });
      await next('closed');
      const exited = once(child, 'exit');
      child.disconnect();
      await exited;
    },
  };
}
