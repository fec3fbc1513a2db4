import { inflateSync } from 'node:zlib'
import { readL2Recording } from '../chain/starknet/recording/recording.js'
import type { L2Block } from '../chain/starknet/types.js'
import { parseJsonExact } from '../lib/json.js'

/** Returns the parts of a block in a recording, by name. A commitment or count also counts as present when the data it
 *  covers is. */
function partsOf(block: L2Block): Set<string> {
  const { receipts, stateDiff, transactions, commitments, counts, prices } = block
  const every = (has: (receipt: NonNullable<L2Block['receipts']>[0]) => boolean) => receipts?.every(has) ?? false
  const events = every((receipt) => receipt.events !== undefined)
  const fees = every((receipt) => receipt.actualFee !== undefined)
  const gas = every((receipt) => receipt.gasConsumed !== undefined)
  const parts: Record<string, boolean> = {
    transactions: transactions !== undefined,
    receipts: receipts !== undefined,
    events,
    fees,
    gas,
    stateDiff: stateDiff !== undefined,
    sequencer: block.sequencer !== undefined,
    version: block.version !== undefined,
    daMode: block.daMode !== undefined,
    transactionCommitment: commitments.transactionCommitment !== undefined || transactions !== undefined,
    eventCommitment: commitments.eventCommitment !== undefined || events,
    receiptCommitment: commitments.receiptCommitment !== undefined || (events && fees && gas),
    stateDiffCommitment: commitments.stateDiffCommitment !== undefined || stateDiff !== undefined,
    eventCount: counts.eventCount !== undefined || events,
    stateDiffLength: counts.stateDiffLength !== undefined || stateDiff !== undefined,
  }
  for (const [name, price] of Object.entries(prices)) parts[name] = price !== undefined
  return new Set(Object.keys(parts).filter((name) => parts[name]))
}

/** True when a recording contains everything that the stored one contains, and more; replacing it loses nothing. When
 *  each has parts that the other lacks, the stored one stays. `heldRaw` is deflated; undefined when none was stored. */
export function isFuller(block: L2Block, raw: Uint8Array, heldRaw: Uint8Array | undefined): boolean {
  if (heldRaw === undefined) return true
  if (Buffer.compare(raw, heldRaw) === 0) return false
  const held = partsOf(readL2Recording(parseJsonExact(inflateSync(heldRaw).toString())))
  const reported = partsOf(block)
  return reported.size > held.size && [...held].every((part) => reported.has(part))
}
