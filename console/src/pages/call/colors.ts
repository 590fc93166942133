import type { LatencyPart } from './model/turns.ts';

/** Of the two sides, in both color schemes. */
export const SIDES = { caller: '#0b7285', agent: '#6741d9' } as const;

/** White text on them has a contrast of at least 4.5:1. @see WCAG 2.2, 1.4.3 */
export const STATES = { good: '#237032', warning: '#a8380a', bad: '#c92a2a' } as const;

/** Neighbours differ in lightness too, for readers who do not see the hues. */
export const PARTS: Readonly<Record<LatencyPart, string>> = {
  network: '#868e96',
  endpointing: '#4dabf7',
  transcription: '#1864ab',
  prepare: '#ced4da',
  retrieval: '#2f9e44',
  tool: '#0ca678',
  model: '#f08c00',
  sentence: '#ffd43b',
  synthesis: '#ae3ec9',
  playout: '#495057',
};

/** Of the path's nodes, one after the other. */
export const NODES = ['#d0ebff', '#d3f9d8', '#fff3bf', '#ffe3e3', '#e5dbff', '#c5f6fa'] as const;
