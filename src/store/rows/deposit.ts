import type { Deposit } from '../../chain/eth/types.js'

// Flags.
const SYSTEM = 1
const VERSIONED = 2 // version 1, the only one

/** Encodes the parts of a deposit for a row: the source hash (32 bytes), a byte of flags, and the mint in as few bytes
 *  as it needs. */
export function packDeposit({ sourceHash, mint, isSystemTransaction, receiptVersion }: Deposit): Uint8Array {
  const digits = mint === undefined ? '' : mint.toString(16)
  const mintBytes = Buffer.from(digits.length % 2 === 0 ? digits : `0${digits}`, 'hex')
  const flags = (isSystemTransaction ? SYSTEM : 0) | (receiptVersion === undefined ? 0 : VERSIONED)
  return new Uint8Array(Buffer.concat([sourceHash, Uint8Array.of(flags), mintBytes]))
}

/** Decodes what `packDeposit` returns. */
export function unpackDeposit(bytes: Uint8Array): Deposit {
  const flags = bytes[32]
  return {
    sourceHash: bytes.subarray(0, 32),
    mint: bytes.length === 33 ? undefined : BigInt(`0x${Buffer.from(bytes.subarray(33)).toString('hex')}`),
    isSystemTransaction: (flags & SYSTEM) !== 0,
    receiptVersion: flags & VERSIONED ? 1 : undefined,
  }
}
