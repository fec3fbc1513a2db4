declare module 'snappyjs' {
  /** A raw snappy block. */
  export function compress(bytes: Uint8Array): Uint8Array
  /** The bytes of a raw snappy block. */
  export function uncompress(bytes: Uint8Array, maxLength?: number): Uint8Array
}
