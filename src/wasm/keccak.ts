import { createRequire } from 'node:module'
import { instantiate } from './assembler.js'
import { assembleKeccak, BLOCK_BYTES, INPUT_AT, INPUT_BYTES, OUTPUT_AT } from './keccakModule.js'

/** Keccak-256 of the bytes: a new array of 32 bytes. */
export type Keccak256 = (bytes: Uint8Array) => Uint8Array

/** Writes Keccak-256 of the bytes, 32 bytes, to `out` at `at`: for hashes that are hashed again. */
export type Keccak256Into = (bytes: Uint8Array, out: Uint8Array, at: number) => void

/** The memory for hash input: what is written there need not be copied first. Every hash overwrites it. */
export interface KeccakInput {
  readonly bytes: Uint8Array
  /** Writes Keccak-256 of the first `length` bytes to `out` at `at`. */
  hashInto(length: number, out: Uint8Array, at: number): void
}

/** All forms of an implementation. */
export interface Keccak {
  readonly keccak256: Keccak256
  readonly keccak256Into: Keccak256Into
  readonly input: KeccakInput
}

/** Implementations, fastest first: our WebAssembly is 15 times as fast as JavaScript for 32 bytes. */
export const KECCAK_KINDS = ['wasm', 'javascript'] as const
export type KeccakKind = (typeof KECCAK_KINDS)[number]

/** An implementation of that kind. @throws Error without WebAssembly, or without enough memory. */
export function createKeccak(kind: KeccakKind): Keccak {
  if (kind === 'wasm') return createWasmKeccak()
  const require = createRequire(import.meta.url)
  const { keccak256 } = require('ethereum-cryptography/keccak.js') as { keccak256: Keccak256 }
  const keccak256Into: Keccak256Into = (bytes, out, at) => out.set(keccak256(bytes), at)
  const bytes = new Uint8Array(INPUT_BYTES)
  const hashInto = (length: number, out: Uint8Array, at: number) => keccak256Into(bytes.subarray(0, length), out, at)
  return { keccak256, keccak256Into, input: { bytes, hashInto } }
}

interface KeccakFunctions {
  hash(length: number, continued: number, last: number): void
}

function createWasmKeccak(): Keccak {
  const { hash, memory: own } = instantiate<KeccakFunctions>(assembleKeccak())
  const memory = new Uint8Array(own.buffer)
  const output = memory.subarray(OUTPUT_AT, OUTPUT_AT + 32)
  // The last call, which pads, must have less than a block.
  const mostAtOnce = INPUT_BYTES + BLOCK_BYTES - 1
  const takeLong = (bytes: Uint8Array): void => {
    let at = 0
    for (; bytes.length - at > mostAtOnce; at += INPUT_BYTES) {
      memory.set(bytes.subarray(at, at + INPUT_BYTES), INPUT_AT)
      hash(INPUT_BYTES, at, 0)
    }
    memory.set(bytes.subarray(at), INPUT_AT)
    hash(bytes.length - at, at, 1)
  }
  const take = (bytes: Uint8Array): void => {
    if (bytes.length > mostAtOnce) takeLong(bytes)
    else {
      memory.set(bytes, INPUT_AT)
      hash(bytes.length, 0, 1)
    }
  }
  return {
    keccak256: (bytes) => {
      take(bytes)
      return output.slice()
    },
    keccak256Into: (bytes, out, at) => {
      take(bytes)
      out.set(output, at)
    },
    input: {
      bytes: memory.subarray(INPUT_AT, INPUT_AT + INPUT_BYTES),
      hashInto: (length, out, at) => {
        hash(length, 0, 1)
        // Twice as fast as `set`.
        for (let i = 0; i < 32; i++) out[at + i] = output[i]
      },
    },
  }
}
