/** What a caller of the chat API may set that Callway has no opinion about, by the name it has on the wire. */
export const PASSED_THROUGH = [
  'user',
  'seed',
  'stop',
  'top_p',
  'presence_penalty',
  'frequency_penalty',
  'logit_bias',
  'metadata',
  'reasoning_effort',
  'service_tier',
];
