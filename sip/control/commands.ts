import type { SipMessage } from '../message/message.ts';
import type { Owner } from './apps.ts';
import { readSparse, reasonOf } from './complete.ts';
import type { Hub } from './hub.ts';
import { nokLine } from './lines.ts';
import { proxy } from './proxy.ts';
import type { ProxyBook } from './proxyDialogs.ts';
import { respond } from './respond.ts';
import { ACK_IS_OURS, sendCancel, sendInDialog, sendNew } from './send.ts';
import type { AppCommands, Command } from './session.ts';

/** Tells the four kinds of `sip` command apart, and carries each one out. */
export function createCommands(hub: Hub, book: ProxyBook): AppCommands {
  return {
    proxy: (_owner, command) => proxy(hub, book, command),
    sip(owner, command) {
      try {
        run(hub, owner, command, readSparse(command.sip));
      } catch (error) {
        // Whatever an application writes, the other calls go on.
        hub.counters.count('commands.failed');
        command.reply(nokLine(hub.ids.uuid(), command.id, reasonOf(error)));
      }
    },
  };
}

function run(hub: Hub, owner: Owner, command: Command, message: SipMessage): void {
  const [, , transactionId = '', dialogId = '', route = ''] = command.fields;
  if (message.kind === 'response') {
    if (transactionId === '') command.hangUp('transaction id missing');
    else respond(hub, command, transactionId, message);
    return;
  }
  if (message.method === 'CANCEL' && transactionId !== '') {
    sendCancel(hub, command, message, transactionId);
    return;
  }
  if (dialogId === '') {
    sendNew(hub, owner, command, message, route);
    return;
  }
  const leg = hub.legs.byId(dialogId);
  if (leg) sendInDialog(hub, owner, command, message, leg);
  else {
    const why = 'Server error: unable to find dialog for dialog id provided';
    command.reply(nokLine(hub.ids.uuid(), command.id, message.method === 'ACK' ? ACK_IS_OURS : why));
  }
}
