import { TRANSFER_TOPIC } from '../../chain/eth/transferTopics.js'
import type { Log } from '../../chain/eth/types.js'
import { parseHex } from '../../lib/hex.js'
import type { Machine } from './machine.js'
import type { Account } from './state.js'
import { LIMBS, setBigInt, wordToBytes } from './words/words.js'

/** The address of transfer logs, 20 bytes (EIP-7708). */
const LOG_ADDRESS = parseHex('0xfffffffffffffffffffffffffffffffffffffffe')

/** Logs a transfer of ether between two accounts (EIP-7708). Does not log a transfer to the same account. */
export function logTransfer({ state, keepsLogs, hooks }: Machine, from: Account, to: Account, value: bigint): void {
  if (!keepsLogs || from === to) return
  const log = transferLog(LOG_ADDRESS, [from, to], value)
  state.addLog(log)
  if (hooks !== undefined) hooks.log?.(log)
}

/** A log of a transfer, by that address. */
export function transferLog(address: Uint8Array, [from, to]: readonly [Account, Account], value: bigint): Log {
  const data = new Int32Array(LIMBS)
  setBigInt(data, 0, value)
  const topics = [TRANSFER_TOPIC, wordToBytes(from.word, 0), wordToBytes(to.word, 0)]
  return { address, topics, data: wordToBytes(data, 0) }
}
