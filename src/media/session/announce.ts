import type { MediaEvents } from '../mediaSession.ts';

/** Tells the call's owner; typed by the event's name. */
export type Announce = <Name extends keyof MediaEvents>(name: Name, value: MediaEvents[Name]) => void;
