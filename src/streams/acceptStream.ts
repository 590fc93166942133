import type { DialectServer, GatewayMessageHandler } from '../dialects/dialect.ts';
import { findAudioDialect, findTextDialect } from '../dialects/index.ts';
import { type AwaitStartDeps, awaitStart } from './awaitStart.ts';
import { atVoiceRate } from './halfRate.ts';
import type { JambonzApplications } from './jambonzApplications.ts';
import { ServerStream, toConnection } from './serverStream.ts';
import { ServerTextStream } from './serverTextStream.ts';
import type { StreamGrant } from './streamTickets.ts';
import type { StreamSocket } from './transport/streamSocket.ts';

const NO_TRANSFER = 'a web page has no line that could be transferred';

export interface AcceptStreamDeps extends AwaitStartDeps {
  /** Absent where no jambonz applications are served. */
  readonly applications?: JambonzApplications | undefined;
}

/** @returns The stream, or undefined, as {@link awaitStart}. */
export function acceptStream(
  socket: StreamSocket,
  grant: StreamGrant,
  deps: AcceptStreamDeps,
): Promise<ServerStream | undefined> {
  const { openServer, hasNoMarks } = findAudioDialect(grant.dialect);
  const opened = openServer(toConnection(socket));
  const steered = deps.applications?.steered(grant, opened) ?? opened;
  const dialect = grant.visitor ? forVisitor(opened) : steered;
  return awaitStart(socket, deps, grant.callId === undefined ? 'carrier' : 'ourOwn', (message) => {
    const start = dialect.readStart(message);
    if (start === undefined || typeof start === 'string') return start;
    const { sampleRateHz, ...server } = atVoiceRate(dialect, start.sampleRateHz);
    const info = {
      ...grant,
      sampleRateHz,
      customParameters: start.customParameters,
      ...(hasNoMarks && { isHeardEstimated: true }),
    };
    return new ServerStream({ ...deps, ...server, socket, info });
  });
}

/** The same for text turns. */
export function acceptTextStream(
  socket: StreamSocket,
  grant: StreamGrant,
  deps: AcceptStreamDeps,
): Promise<ServerTextStream | undefined> {
  const { openTextServer, provider } = findTextDialect(grant.dialect);
  const dialect = openTextServer(toConnection(socket));
  return awaitStart(socket, deps, 'carrier', (message) => {
    const start = dialect.readStart(message);
    if (start === undefined || typeof start === 'string') return start;
    const info = { ...grant, provider, customParameters: start.customParameters };
    return new ServerTextStream({ ...deps, socket, dialect, info });
  });
}

/**
 * The dialect as it is spoken with a visitor of a web page: what only gateways may report is not read from them, and they
 * are not told whom the agent wanted to transfer them to, nor which digits it would send.
 */
export function forVisitor(dialect: DialectServer): DialectServer {
  let reported: GatewayMessageHandler | undefined;
  return {
    ...dialect,
    read(message, gateway) {
      reported = gateway;
      const refuse = () => gateway.malformed();
      dialect.read(message, { ...gateway, control: refuse, transferStatus: refuse, hold: refuse });
    },
    command(command) {
      if (command.kind === 'hangup') dialect.command(command);
      if (command.kind !== 'transfer') return;
      const { to } = command;
      const failed = { status: 'failed', to, reason: NO_TRANSFER, outcome: 'failed' } as const;
      // The voice session first notes that it has asked for the transfer.
      queueMicrotask(() => reported?.transferStatus(failed));
    },
  };
}
