import type { SipMessage } from '../message/message.ts';
import { parseText } from '../message/parse.ts';
import { refusalOf } from './applicationMessage.ts';
import type { Core } from './core.ts';
import type { Application } from './protocol/applications.ts';
import type { Command, CommandHandlers } from './protocol/connection.ts';
import { formatNok } from './protocol/messages.ts';
import { proxy } from './proxy/proxyCommand.ts';
import type { ProxiedDialogs } from './proxy/recordRoute.ts';
import { ACK_GENERATED_BY_SERVER, sendCancel, sendInDialog, sendNew } from './uac/send.ts';
import { respond } from './uas/respond.ts';

/** Dispatches the `sip` and `proxy` commands of applications. */
export function createCommands(core: Core, proxied: ProxiedDialogs): CommandHandlers {
  return {
    proxy: (_owner, command) => proxy(core, proxied, command),
    sip(application, command) {
      try {
        run(core, application, command, parseText(command.sip));
      } catch (error) {
        // A failing command must not affect other calls.
        core.counters.count('commands.failed');
        command.reply(formatNok(core.ids.uuid(), command.id, refusalOf(error)));
      }
    },
  };
}

function run(core: Core, application: Application, command: Command, message: SipMessage): void {
  const [, , transactionId = '', dialogId = '', route = ''] = command.fields;
  if (message.kind === 'response') {
    if (transactionId === '') command.close('transaction id missing');
    else respond(core, command, transactionId, message);
    return;
  }
  if (message.method === 'CANCEL' && transactionId !== '') {
    sendCancel(core, command, message, transactionId);
    return;
  }
  if (dialogId === '') {
    sendNew(core, application, command, message, route);
    return;
  }
  const dialog = core.dialogs.byId(dialogId);
  if (dialog) sendInDialog(core, application, command, message, dialog);
  else {
    const why = 'Server error: unable to find dialog for dialog id provided';
    command.reply(
      formatNok(core.ids.uuid(), command.id, message.method === 'ACK' ? ACK_GENERATED_BY_SERVER : why),
    );
  }
}
