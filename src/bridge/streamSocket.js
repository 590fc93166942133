export const OPEN = 1;
/** Meanings of close codes that we send. @see RFC 6455 section 7.4.1 */
export const CLOSE_NORMAL = 1000;
export const CLOSE_GOING_AWAY = 1001;
export const CLOSE_PROTOCOL_ERROR = 1002;
export const CLOSE_POLICY = 1008;
export const CLOSE_TOO_SLOW = 1013;
/** What the other end of a connection that broke has heard: nothing. */
export const CLOSE_ABNORMAL = 1006;
