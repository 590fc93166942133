declare module '@echogarden/rnnoise-wasm' {
  /** RNNoise's functions by their C names; pointers are offsets into the module's memory, in bytes. */
  export interface RnnoiseModule {
    /** @param model - 0 for the one that is built in. */
    _rnnoise_create(model: number): number;
    _rnnoise_destroy(state: number): void;
    /** Takes 10 ms at 48000 Hz, in the range of 16-bit samples. @returns How likely it is speech, 0 to 1. */
    _rnnoise_process_frame(state: number, out: number, input: number): number;
    _malloc(lengthBytes: number): number;
    _free(pointer: number): void;
    /** A new view whenever the memory has grown. */
    readonly HEAPF32: Float32Array;
  }
  const load: () => Promise<RnnoiseModule>;

  // biome-ignore lint/style/noDefaultExport: it is how the package exports it
  export { load as default };
}
