declare module '@echogarden/fvad-wasm' {
  /** libfvad's functions by their C names; pointers are offsets into the module's memory, in bytes. */
  export interface FvadModule {
    _fvad_new(): number;
    _fvad_free(handle: number): void;
    /** 0 to 3: how readily sound is taken for noise. @returns 0, or -1 for a wrong mode. */
    _fvad_set_mode(handle: number, mode: number): number;
    /** @returns 0, or -1 for a rate other than 8000, 16000, 32000 and 48000. */
    _fvad_set_sample_rate(handle: number, sampleRateHz: number): number;
    /** @returns 1 for speech, 0 for none, -1 for a wrong length. */
    _fvad_process(handle: number, frame: number, length: number): number;
    _malloc(lengthBytes: number): number;
    _free(pointer: number): void;
    /** A new view whenever the memory has grown. */
    readonly HEAP16: Int16Array;
  }
  const load: () => Promise<FvadModule>;

  // biome-ignore lint/style/noDefaultExport: it is how the package exports it
  export { load as default };
}
