/** @see https://www.twilio.com/docs/voice/media-streams/websocket-messages */
export function createEngineMessages(streamSid, dialect) {
  const message = (event, fields = {}) => JSON.stringify({ event, streamSid, ...fields });
  return {
    media(muLaw) {
      const bytes = Buffer.from(muLaw.buffer, muLaw.byteOffset, muLaw.byteLength);
      return message('media', { media: { payload: bytes.toString('base64') } });
    },
    mark: (name) => message('mark', { mark: { name } }),
    clear: () => message('clear'),
    command(command) {
      if (dialect === 'twilio') return undefined;
      switch (command.kind) {
        case 'hangup':
          return message('hangup');
        case 'transfer':
          return message('transfer', { transfer: { to: command.to } });
        case 'send_dtmf':
          return message('dtmf', { dtmf: { digits: command.digits } });
      }
    },
  };
}
