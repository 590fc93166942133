import type { DialectServer, GatewayMessageHandler } from '../dialects/dialect.ts';

const NO_TRANSFER = 'a web page has no line that could be transferred';

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
