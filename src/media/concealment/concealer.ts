/** Fills the holes that lost packets leave; knows the stream only by what passes through it. */
export interface Concealer {
  /** Speech that arrived, in order; changed in place where it must join what was made up before it. */
  received(frame: Int16Array): void;
  /** Fills the frame with what might have been said. */
  conceal(out: Int16Array): void;
}
