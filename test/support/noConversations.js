const refuse = () => {
  throw new Error('nothing talks here');
};
/** For an API under test where nothing talks. */
export const noConversations = {
  prepare: refuse,
  create: refuse,
  find: refuse,
  converse: refuse,
  end: refuse,
  endIdle: refuse,
};
export const noKnowledge = {
  encoderOf: refuse,
  documents: { receive: refuse, discard: refuse, begin: refuse, forget: refuse, removeFiles: refuse },
  retrieval: { search: refuse, prefetch: refuse },
};
export const noWebhooks = { deliveries: refuse, secret: refuse, rotate: refuse };
export const noCalls = {
  accept: refuse,
  hangUp: refuse,
  transfer: refuse,
  trunkHealth: refuse,
  trunksChanged: refuse,
  recordings: { url: refuse },
};
