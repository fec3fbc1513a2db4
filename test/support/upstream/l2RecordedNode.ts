import { readFileSync } from 'node:fs'
import { formatFelt } from '../../../src/chain/starknet/felt.js'
import { readL2Recording } from '../../../src/chain/starknet/recording/recording.js'
import { parseJsonExact } from '../../../src/lib/json.js'
import { sharedPath } from '../shared.js'
import { type L2NodeBlock, nodeBlock } from './l2Node.js'

type Json = Record<string, unknown>

/** The JSON of a recording below `../shared/l2`, without the JSON-RPC envelope. */
export function readRecorded(name: string): Json {
  const json = parseJsonExact(readFileSync(sharedPath('l2', name)!, 'utf8')) as Json
  return (json.result as Json | undefined) ?? json
}

/** A node block that answers with recordings of one block: what the feeder gateway was asked comes as it was recorded,
 *  and so does `starknet_getBlockWithReceipts` where it was; other RPC results are made from the feeder's. */
export function recordedBlock(...names: readonly string[]): L2NodeBlock {
  const recordings = names.map(readRecorded)
  const update = recordings.find((json) => 'state_update' in json)
  const feeder = update ? (update.block as Json) : recordings.find((json) => 'parent_block_hash' in json)
  const receipts = recordings.find((json) => 'parent_hash' in json)
  const block = readL2Recording(update ?? feeder ?? receipts)
  const made = nodeBlock(block)
  return {
    number: block.number!,
    hash: formatFelt(block.hash!),
    answer: (method, minor) => {
      if (method === 'get_block' && feeder) return feeder
      if (method === 'get_state_update' && update) return update
      if (method === 'starknet_getBlockWithReceipts' && receipts) return receipts
      return made.answer(method, minor)
    },
  }
}

/** The block with another status. */
export function withStatus(block: L2NodeBlock, status: string): L2NodeBlock {
  return { ...block, answer: (method, minor) => ({ ...block.answer(method, minor), status }) }
}
