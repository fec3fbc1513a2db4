import { parseHex } from '../../lib/hex.js'
import type { Machine } from './machine.js'
import type { Account } from './state.js'
import { LIMBS, setBigInt, wordToBytes } from './words/words.js'

/** The address of transfer logs, 20 bytes (EIP-7708). */
const LOG_ADDRESS = parseHex('0xfffffffffffffffffffffffffffffffffffffffe')
/** Keccak-256 of `Transfer(address,address,uint256)`. */
const TRANSFER_TOPIC = parseHex('0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef')

/** Logs a transfer of ether between two accounts (EIP-7708); none for one to the same account. */
export function logTransfer({ state, keepsLogs }: Machine, from: Account, to: Account, value: bigint): void {
  if (!keepsLogs || from === to) return
  const data = new Int32Array(LIMBS)
  setBigInt(data, 0, value)
  state.addLog({
    address: LOG_ADDRESS,
    topics: [TRANSFER_TOPIC, wordToBytes(from.word, 0), wordToBytes(to.word, 0)],
    data: wordToBytes(data, 0),
  })
}
